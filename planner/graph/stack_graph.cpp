#include "planner/graph/stack_graph.h"

#include <algorithm>
#include <string>
#include <utility>

#include "planner/base/check.h"
#include "planner/graph/tower_projector.h"

namespace tidemark {
namespace {

bool has_extra(const StackSpec& stack, std::string_view name) {
  return find_extra(stack, name) != nullptr;
}

int64_t elements(const ExtraWeight& extra) {
  return checked_mul(checked_mul(extra.columns, extra.rows), extra.count);
}

// Values of one patch: what a kernel of E outputs reads for one of them. 0 when it is no kernel.
int64_t values_of_patch(const StackSpec& stack) {
  const ExtraWeight* kernel = find_extra(stack, "patch_embd.weight");
  if (kernel == nullptr || stack.n_embd <= 0 || elements(*kernel) % stack.n_embd != 0) return 0;
  const int64_t values = elements(*kernel) / stack.n_embd;
  const int64_t pixels = checked_mul(stack.image.patch_size, stack.image.patch_size);
  return pixels > 0 && values % pixels == 0 ? values : 0;
}

int64_t n_deep_of(const StackSpec& stack) {
  int64_t n_deep = 0;
  while (has_extra(stack, "deepstack." + std::to_string(n_deep) + ".0.weight")) ++n_deep;
  return n_deep;
}

std::optional<StackInput> image_input(const StackSpec& stack) {
  const ImageSpec& image = stack.image;
  if (image.patch_size <= 0 || values_of_patch(stack) == 0) return std::nullopt;
  const int64_t pixels = image.image_size > 0 ? image.image_size : kImagePixels;
  const int64_t side = pixels / image.patch_size;
  const int64_t n_out = tokens_of_image(image, pixels).count();
  if (side < 1 || n_out < 1) return std::nullopt;
  return StackInput{.pixels = pixels,
                    .n_row = checked_mul(side, side),
                    .n_out = n_out,
                    .n_deep = n_deep_of(stack)};
}

// Two convolutions of frames, the second one over every other frame.
bool hears(const StackSpec& stack) {
  const auto is_kernel = [&](std::string_view name) {
    const ExtraWeight* kernel = find_extra(stack, name);
    return kernel != nullptr && kernel->count == stack.n_embd;
  };
  return stack.n_embd > 0 && stack.n_tokens > Tokens(0) && is_kernel("conv1.weight") &&
         is_kernel("conv2.weight") && find_extra(stack, "conv2.weight")->rows == stack.n_embd;
}

const StackSpec& stack_at(const ModelSpec& model, size_t stack) {
  const TransformerSpec* spec = model.transformer();
  check(spec != nullptr && stack < spec->stacks.size(), "the model has this stack");
  return spec->stacks[stack];
}

// The stack as main layers without a cache.
TransformerSpec as_layers(const StackSpec& stack) {
  const ExtraWeight* positions = find_extra(stack, "position_embd.weight");
  return {.n_embd = stack.n_embd,
          .is_causal = false,
          .n_position = positions == nullptr ? 0 : positions->rows,
          .layers = stack.layers};
}

GraphOptions options_for(const StackSpec& stack, const StackInput& input, GraphOptions options) {
  options.n_tokens = checked_add(input.n_row, has_extra(stack, "class_embd") ? 1 : 0);
  options.n_outputs = options.n_tokens;
  options.n_cells = options.n_tokens;
  options.n_seq = 1;
  options.n_ubatch = options.n_tokens;
  options.n_source = 0;
  options.n_tower_rows = options.n_deep_rows = 0;
  return options;
}

class StackGraph {
 public:
  StackGraph(const ModelSpec& model, size_t stack, const WeightsInventory& weights,
             const GraphOptions& options)
      : spec_(*model.transformer()),
        stack_(spec_.stacks[stack]),
        index_(static_cast<int64_t>(stack)),
        input_(*stack_input(model, stack)),
        n_seq_(options.n_seq),
        options_(options_for(stack_, input_, options)),
        layers_(as_layers(stack_)),
        writer_(weights, options_) {
    context_.caches.resize(layers_.layers.size());
    for (const WeightTensor& tensor : weights.tensors) {  // "v." of "v.blk.0.attn_q.weight"
      if (tensor.stack != index_) continue;
      prefix_ = tensor.name.substr(0, tensor.name.find('.') + 1);
      break;
    }
  }

  Graph build() && {
    writer_.enter_stack(index_, prefix_);
    Value x = placed(rows_read());
    std::vector<Value> deep;
    const TowerProjector projector(context_, stack_, input_, spec_.n_embd);
    for (size_t i = 0; i < stack_.layers.size(); ++i) {
      writer_.enter_layer(i);
      x = extras_graph(context_, layer_graph(context_, stack_.layers[i], x));
      writer_.leave_layers();
      if (has_merger_behind(i)) deep.push_back(projector.project_deep(std::ssize(deep), x));
    }
    x = writer_.norm_if("post_norm", WeightRole::kOutputNorm, stack_.final_norm, x);
    if (stack_.role == StackRole::kEncoder) {
      hand_to_caches(x);
    } else {
      hand_on(projector.project(without_class(x)), deep);
    }
    return std::move(writer_).build();
  }

 private:
  Value rows_read() {
    if (input_.pixels > 0) return patches();
    if (hears(stack_)) return frames();
    const Value ids = writer_.input("source_ids");
    writer_.enter_main_stack();
    const WeightId table = writer_.weight(WeightRole::kTokenEmbedding);
    writer_.enter_stack(index_, prefix_);
    return writer_.embed("embed", table, stack_.n_embd, ids);
  }

  // The windows of `n_out` rows side by side, and their product with the kernel.
  Value convolution(const std::string& stem, const Value& x, int64_t n_out) {
    const WeightId id = writer_.named(stem + ".weight");
    const WeightTensor& kernel = writer_.tensor(id);
    const int64_t window = kernel.elements() / stack_.n_embd;
    const Value unfolded = writer_.emit(stem + "_unfold", {window, n_out, 1, 1},
                                        {.kind = OpKind::kUnfold, .inputs = {x.id}});
    const Value made =
        writer_.emit(stem, {stack_.n_embd, n_out, 1, 1},
                     {.kind = OpKind::kMatMul,
                      .inputs = {unfolded.id},
                      .weights = {id},
                      .weights_read = kernel.bytes,
                      .scratch = matmul_scratch(kernel.dtype, options_.type_act, window, n_out),
                      .operations = checked_mul(checked_mul(2, kernel.elements()), n_out)});
    const std::optional<WeightId> bias = writer_.find_named(stem + ".bias");
    return bias ? writer_.add_bias(stem + "_bias", *bias, made) : made;
  }

  Value patches() {
    const int64_t area = checked_mul(stack_.image.patch_size, stack_.image.patch_size);
    const int64_t planes = values_of_patch(stack_) / area;
    const Value image = writer_.input("image", Shape{input_.pixels, input_.pixels, planes, 1});
    return convolution("patch_embd", image, input_.n_row);
  }

  Value frames() {
    const int64_t n_mel = find_extra(stack_, "conv1.weight")->rows;
    const int64_t n_frame = checked_mul(2, input_.n_row);
    const Value mel = writer_.input("mel", Shape{n_frame, n_mel, 1, 1});
    Value x = convolution("conv1", mel, n_frame);
    x = writer_.unary("conv1_act", OpKind::kActivation, x);
    x = convolution("conv2", x, input_.n_row);
    return writer_.unary("conv2_act", OpKind::kActivation, x);
  }

  // Class token, positions, and the norm before the layers.
  Value placed(Value x) {
    if (const auto token = writer_.find_named("class_embd")) {
      x = writer_.emit("class_embd", {stack_.n_embd, options_.n_tokens, 1, 1},
                       {.kind = OpKind::kPrepend,
                        .inputs = {x.id},
                        .weights = {*token},
                        .weights_read = writer_.tensor(*token).bytes});
    }
    const auto table = writer_.find_named("position_embd.weight");
    const bool looks_up = table && !is_added_whole(writer_.tensor(*table));
    if (looks_up || layers_read_positions(layers_)) {
      context_.positions = writer_.input("positions");
    }
    if (looks_up) {
      const Value rows = writer_.embed("position_embd", *table, stack_.n_embd, *context_.positions);
      x = writer_.elementwise("position_add", OpKind::kAdd, x, rows.id);
    } else if (table) {
      x = writer_.add_bias("position_add", *table, x);
    }
    for (const char* stem : {"pre_ln", "token_embd_norm"}) {
      if (has_extra(stack_, std::string(stem) + ".weight")) x = writer_.norm_named(stem, x);
    }
    return x;
  }

  // A table with a row for each of ours is added as it stands.
  bool is_added_whole(const WeightTensor& table) const {
    return table.rows == options_.n_tokens && table.count == 1;
  }

  // Mergers of DeepStack, evenly between the layers: behind 6, 12 and 18 of 24.
  bool has_merger_behind(size_t layer) const {
    const auto done = static_cast<int64_t>(layer) + 1;
    const int64_t n_layer = std::ssize(stack_.layers);
    for (int64_t i = 1; i <= input_.n_deep; ++i) {
      if (done == std::max<int64_t>(i * n_layer / (input_.n_deep + 1), 1)) return true;
    }
    return false;
  }

  Value without_class(const Value& x) {
    if (!has_extra(stack_, "class_embd") || stack_.image.extra_tokens > 0) return x;
    return writer_.emit("patches", {stack_.n_embd, input_.n_row, 1, 1},
                        {.kind = OpKind::kSelectRows, .inputs = {x.id}});
  }

  // All parts of a row side by side.
  void hand_on(const Value& rows, const std::vector<Value>& deep) {
    if (deep.empty()) return;
    int64_t width = rows.shape[0];
    Op op{.kind = OpKind::kConcat, .inputs = {rows.id}};
    for (const Value& part : deep) {
      width = checked_add(width, part.shape[0]);
      op.inputs.push_back(part.id);
    }
    writer_.emit("rows", {width, rows.shape[1], 1, 1}, std::move(op));
  }

  void hand_to_caches(const Value& states) {
    writer_.enter_main_stack();
    for (size_t i = 0; i < spec_.layers.size(); ++i) {
      const CrossAttentionSpec& cross = spec_.layers[i].cross;
      if (cross.attention.n_head == 0) continue;
      writer_.enter_layer(i);
      cross_cache_graph(writer_, cross, n_seq_, states);
    }
  }

  const TransformerSpec& spec_;
  const StackSpec& stack_;
  int64_t index_ = 0;
  StackInput input_{};
  int64_t n_seq_ = 1;
  GraphOptions options_{};
  TransformerSpec layers_{};
  std::string prefix_{};
  GraphWriter writer_;
  LayerContext context_{.writer = writer_, .spec = layers_};
};

}  // namespace

std::optional<StackInput> stack_input(const ModelSpec& model, size_t index) {
  const StackSpec& stack = stack_at(model, index);
  if (!stack.is_counted || stack.layers.empty()) return std::nullopt;
  switch (stack.role) {
    case StackRole::kVision:
      return image_input(stack);
    case StackRole::kEncoder:
      if (!hears(stack)) {
        const int64_t n_source = source_tokens(model);
        if (n_source == 0 || stack.n_embd != model.transformer()->n_embd) return std::nullopt;
        return StackInput{.n_row = n_source};
      }
      return StackInput{.n_row = stack.n_tokens.count()};
    case StackRole::kAudio:
      if (!hears(stack)) return std::nullopt;
      return StackInput{.n_row = stack.n_tokens.count(), .n_out = stack.n_tokens.count()};
    case StackRole::kDraft:
      break;
  }
  return std::nullopt;
}

Graph build_stack_graph(const ModelSpec& model, size_t stack, const WeightsInventory& weights,
                        const GraphOptions& options) {
  check(stack_input(model, stack).has_value(), "the stack has a graph");
  return StackGraph(model, stack, weights, options).build();
}

int64_t most_stack_ops(const ModelSpec& model, size_t stack) {
  constexpr int64_t kOfAnyLayer = 90;
  constexpr int64_t kOfCrossCache = 5;
  constexpr int64_t kOutsideLayers = 40;
  const StackSpec& spec = stack_at(model, stack);
  // A merger of DeepStack has two products with biases, a norm, a function and the merge itself.
  constexpr int64_t kOfMerger = 8;
  const int64_t extras = std::ssize(spec.extras);
  return kOutsideLayers + 2 * extras + kOfAnyLayer * std::ssize(spec.layers) +
         kOfMerger * n_deep_of(spec) + kOfCrossCache * std::ssize(model.transformer()->layers);
}

}  // namespace tidemark

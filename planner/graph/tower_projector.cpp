#include "planner/graph/tower_projector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark {

const ExtraWeight* find_extra(const StackSpec& stack, std::string_view name) {
  const auto found = std::ranges::find(stack.extras, name, &ExtraWeight::name);
  return found == stack.extras.end() ? nullptr : &*found;
}

namespace {

// "mm.0" of "mm.0.weight" and "mm.0.bias", each once, in file order; those that begin with one of
// `prefixes`.
std::vector<std::string> stems_of(const StackSpec& stack,
                                  std::initializer_list<std::string_view> prefixes) {
  std::vector<std::string> stems;
  for (const ExtraWeight& extra : stack.extras) {
    const auto begins = [&](std::string_view prefix) { return extra.name.starts_with(prefix); };
    if (!extra.name.ends_with(".weight") || std::ranges::none_of(prefixes, begins)) continue;
    stems.push_back(extra.name.substr(0, extra.name.size() - std::string_view(".weight").size()));
  }
  return stems;
}

int64_t merged_width(const StackSpec& stack, int64_t width) {
  return checked_mul(width, checked_mul(stack.image.merge, stack.image.merge));
}

// A share of a matrix's rows, and of its bias.
Op partial_product(const GraphWriter& writer, std::string_view stem, const Value& x, int64_t of,
                   int64_t taken) {
  Op op = writer.product_op(writer.named(fmt::format("{}.weight", stem)), x);
  op.weights_read = op.weights_read / of * taken;
  op.operations = op.operations / of * taken;
  return op;
}

}  // namespace

// m x m rows side by side become one.
Value TowerProjector::merged(std::string_view name, const Value& x) const {
  return context_.writer.emit(name, {merged_width(stack_, x.shape[0]), input_.n_out, 1, 1},
                              {.kind = OpKind::kUnfold, .inputs = {x.id}});
}

Value TowerProjector::pooled(const Value& x) const {
  return context_.writer.emit("pool", {x.shape[0], input_.n_out, 1, 1},
                              {.kind = OpKind::kSumRows, .inputs = {x.id}});
}

// One part of the chain; none of them where a matrix takes what nothing makes.
struct TowerProjector::Part {
  std::string stem{};
  bool is_norm = false;
  bool merges = false;
};

std::optional<std::vector<TowerProjector::Part>> TowerProjector::parts_of(
    const std::vector<std::string>& stems, Shape shape) const {
  std::vector<Part> parts;
  for (const std::string& stem : stems) {
    const GraphWriter& writer = context_.writer;
    const WeightTensor& weight = writer.tensor(writer.named(stem + ".weight"));
    const bool is_vector = weight.rows == 1 && weight.count == 1;
    if (is_vector && !stem.ends_with("norm")) continue;  // separators of rows and images
    const bool merges = shape[0] != weight.columns && shape[1] != input_.n_out &&
                        merged_width(stack_, shape[0]) == weight.columns;
    if (merges) shape = {weight.columns, input_.n_out, 1, 1};
    if (shape[0] != weight.columns || weight.count != 1) return std::nullopt;
    if (!is_vector) shape[0] = weight.rows;
    parts.push_back({.stem = stem, .is_norm = is_vector, .merges = merges});
  }
  return parts;
}

Value TowerProjector::chain(const std::vector<std::string>& stems, Value x) const {
  GraphWriter& writer = context_.writer;
  const std::optional<std::vector<Part>> parts = parts_of(stems, x.shape);
  if (!parts) return unknown(stems, x);
  for (const Part& part : *parts) {
    if (part.merges) x = merged(part.stem + "_merge", x);
    x = part.is_norm ? writer.norm_named(part.stem, x) : writer.linear_named(part.stem, x);
    if (part.stem.ends_with(".0") || part.stem.ends_with(".fc1")) {
      x = writer.unary(part.stem + "_act", OpKind::kActivation, x);
    }
  }
  return x;
}

// Its weights are read and its rows are made; what lies between is not known.
Value TowerProjector::unknown(const std::vector<std::string>& stems, const Value& x) const {
  GraphWriter& writer = context_.writer;
  std::vector<WeightId> weights;
  for (const std::string& stem : stems) weights.push_back(writer.named(stem + ".weight"));
  const Bytes bytes = writer.bytes_of(weights);
  return writer.emit("projector", {n_embd_, input_.n_out, 1, 1},
                     {.kind = OpKind::kExtra,
                      .inputs = {x.id},
                      .weights = std::move(weights),
                      .weights_read = bytes});
}

// Heads of 128, as MiniCPM-V has them (Resampler: embed_dim / 128 heads).
Value TowerProjector::resample(const Value& x) const {
  GraphWriter& writer = context_.writer;
  constexpr int64_t kHeadDim = 128;
  const ExtraWeight& query = *find_extra(stack_, "resampler.query");
  const int64_t width = query.columns;
  const bool has_kv = find_extra(stack_, "resampler.kv.weight") != nullptr;
  Value kv = has_kv ? writer.linear_named("resampler.kv", x) : x;
  kv = writer.norm_named("resampler.ln_kv", kv);
  kv = writer.emit("resampler.kv_heads", {checked_mul(2, width), x.shape[1], 1, 1},
                   partial_product(writer, "resampler.attn_qkv", kv, 3, 2));
  const WeightId table = writer.named("resampler.query");
  Value q = writer.emit(
      "resampler.q", {width, query.rows, 1, 1},
      {.kind = OpKind::kEmbed, .weights = {table}, .weights_read = writer.tensor(table).bytes});
  q = writer.norm_named("resampler.ln_q", q);
  q = writer.emit("resampler.q_heads", {width, query.rows, 1, 1},
                  partial_product(writer, "resampler.attn_qkv", q, 3, 1));
  const bool splits = width % kHeadDim == 0;
  const Heads heads{splits ? width / kHeadDim : 1, splits ? kHeadDim : width,
                    splits ? kHeadDim : width};
  const Cells cells{
      .keys = view(kv, width), .values = view(kv, width), .count = x.shape[1], .is_context = false};
  Value made = attend(writer, "resampler.", heads, q, cells);
  made = writer.linear_named("resampler.attn_output", made);
  made = writer.norm_named("resampler.ln_post", made);
  return writer.linear_named("resampler.proj", made);
}

namespace {

// Every part of the resampler, in the shapes it must have.
bool has_resampler(const StackSpec& stack) {
  const ExtraWeight* query = find_extra(stack, "resampler.query");
  if (query == nullptr || query->count != 1) return false;
  const int64_t width = query->columns;
  const auto is = [&](std::string_view name, int64_t columns, int64_t rows) {
    const ExtraWeight* extra = find_extra(stack, name);
    return extra != nullptr && extra->columns == columns && extra->rows == rows &&
           extra->count == 1;
  };
  const bool has_kv = find_extra(stack, "resampler.kv.weight") != nullptr;
  return (has_kv ? is("resampler.kv.weight", stack.n_embd, width) : stack.n_embd == width) &&
         is("resampler.ln_kv.weight", width, 1) && is("resampler.ln_q.weight", width, 1) &&
         is("resampler.ln_post.weight", width, 1) &&
         is("resampler.attn_qkv.weight", width, checked_mul(3, width)) &&
         is("resampler.attn_output.weight", width, width) &&
         is("resampler.proj.weight", width, width);
}

}  // namespace

Value TowerProjector::project(const Value& x) const {
  if (has_resampler(stack_)) return resample(x);
  const std::vector<std::string> stems = stems_of(stack_, {"mm.", "adapter.", "resampler."});
  const bool merges = std::ranges::any_of(stack_.extras, [&](const ExtraWeight& extra) {
    const bool is_joint = extra.name.starts_with("mm.") || extra.name.starts_with("adapter.");
    return is_joint && extra.rows > 1 && extra.columns == merged_width(stack_, stack_.n_embd);
  });
  const bool pools = stack_.image.merge > 1 && !merges && x.shape[1] != input_.n_out;
  const Value rows = pools ? pooled(x) : x;
  return chain(stems, rows);
}

Value TowerProjector::project_deep(int64_t index, const Value& x) const {
  const std::string prefix = fmt::format("deepstack.{}.", index);
  return chain(stems_of(stack_, {prefix}), x);
}

}  // namespace tidemark

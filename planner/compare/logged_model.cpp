#include "planner/compare/logged_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "planner/compare/log_text.h"

namespace tidemark {
namespace {

constexpr int64_t kMostLayers = 1024;
constexpr int64_t kWidest = int64_t{1} << 24;

int64_t largest(const LoggedFacts& facts, std::string_view key) {
  const auto found = facts.numbers.find(key);
  if (found == facts.numbers.end() || found->second.empty()) return 0;
  return *std::ranges::max_element(found->second);
}

// A model in the words of a log; 0 = it has none of that.
struct Shape {
  int64_t n_embd = 0;
  int64_t n_head = 0;
  int64_t n_head_kv = 0;
  int64_t head_k = 0;
  int64_t head_v = 0;
  int64_t n_ff = 0;
  int64_t n_expert = 0;
  int64_t n_expert_used = 0;
  int64_t d_inner = 0;
};

void widen(int64_t& value, int64_t other) { value = std::max(value, other); }

Shape shape_of(const TransformerSpec& spec) {
  Shape shape{.n_embd = spec.n_embd};
  for (const LayerSpec& layer : spec.layers) {
    if (const AttentionSpec* attention = layer.attention()) {
      widen(shape.n_head, attention->n_head);
      widen(shape.n_head_kv, attention->n_head_kv);
      widen(shape.head_k, attention->head_dim);
      widen(shape.head_v, attention->value_dim());
    } else if (const auto* mla = std::get_if<MlaSpec>(&layer.mixer)) {
      widen(shape.n_head, mla->n_head);
    } else if (const auto* mamba = std::get_if<MambaSpec>(&layer.mixer)) {
      widen(shape.d_inner, mamba->d_inner);
    } else if (const auto* mamba2 = std::get_if<Mamba2Spec>(&layer.mixer)) {
      widen(shape.d_inner, mamba2->d_inner);
    }
    widen(shape.n_ff, layer.feed_forward.n_ff);
    widen(shape.n_expert, layer.moe.n_expert);
    widen(shape.n_expert_used, layer.moe.n_expert_used);
  }
  return shape;
}

bool agrees(const LoggedFacts& facts, std::string_view key, int64_t ours) {
  const int64_t logged = largest(facts, key);
  return logged == 0 || ours == 0 || logged == ours;
}

bool same_dimensions(const LoggedFacts& facts, const ModelSpec& model) {
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr || facts.number("n_layer") != std::ssize(spec->layers)) return false;
  const Shape shape = shape_of(*spec);
  return agrees(facts, "n_embd", shape.n_embd) && agrees(facts, "n_head", shape.n_head) &&
         agrees(facts, "n_head_kv", shape.n_head_kv) &&
         agrees(facts, "n_embd_head_k", shape.head_k) &&
         agrees(facts, "n_embd_head_v", shape.head_v) && agrees(facts, "n_ff", shape.n_ff) &&
         agrees(facts, "n_expert", shape.n_expert) &&
         agrees(facts, "n_expert_used", shape.n_expert_used);
}

// "Meta Llama 3.1 70B Instruct" -> "meta-llama-3.1-70b-instruct"
std::string plain_name(std::string_view name) {
  std::string plain(name);
  for (char& c : plain) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (c == ' ' || c == '_' || c == '/') c = '-';
  }
  return plain;
}

// The known model whose name is the longest that stands in `name`.
const ModelSpec* named(std::string_view name, std::span<const ModelSpec> known) {
  const std::string plain = plain_name(name);
  const ModelSpec* best = nullptr;
  for (const ModelSpec& model : known) {
    if (model.transformer() == nullptr || model.name.empty()) continue;
    if (plain.find(model.name) == std::string::npos) continue;
    if (best == nullptr || model.name.size() > best->name.size()) best = &model;
  }
  return best;
}

bool same_architecture(std::string_view logged, const ModelSpec& model) {
  return logged.empty() || logged == model.architecture;
}

// Of models with the dimensions of the log: the one of its name, of its vocabulary, or the first.
const ModelSpec* match(const LoggedRun& run, std::span<const ModelSpec> known) {
  const ModelSpec* best = nullptr;
  int best_rank = -1;
  for (const ModelSpec& model : known) {
    if (!same_architecture(run.model.word("arch"), model)) continue;
    if (!same_dimensions(run.model, model)) continue;
    const bool by_name = plain_name(run.model.word("name")).find(model.name) != std::string::npos;
    const bool vocabulary = run.model.number("n_vocab") == model.transformer()->n_vocab;
    const int rank = (vocabulary ? 2 : 0) + (by_name ? 1 : 0);
    if (rank > best_rank) {
      best = &model;
      best_rank = rank;
    }
  }
  return best;
}

// One of the same architecture, with experts if the log has some.
const ModelSpec* template_of(const LoggedRun& run, std::span<const ModelSpec> known) {
  const std::string_view architecture = run.model.word("arch");
  if (architecture.empty()) return nullptr;
  const bool experts = largest(run.model, "n_expert") > 0;
  const ModelSpec* best = nullptr;
  for (const ModelSpec& model : known) {
    if (model.architecture != architecture || model.transformer() == nullptr) continue;
    if (model.transformer()->layers.empty()) continue;
    const bool same = (shape_of(*model.transformer()).n_expert > 0) == experts;
    if (best == nullptr || same) best = &model;
    if (same) break;
  }
  return best;
}

// Kinds of layers repeat: layer i of a longer or shorter model.
const LayerSpec& repeated(const std::vector<LayerSpec>& layers, size_t i) {
  if (i < layers.size()) return layers[i];
  for (size_t period = 1; period < layers.size(); ++period) {
    bool repeats = true;
    for (size_t k = period; k < layers.size() && repeats; ++k) {
      repeats = layers[k] == layers[k - period];
    }
    if (repeats) return layers[i % period];
  }
  return layers.back();
}

// The number for layer i: one for all, or one of a list.
int64_t of_layer(const LoggedFacts& facts, std::string_view key, size_t i, int64_t absent) {
  const auto found = facts.numbers.find(key);
  if (found == facts.numbers.end() || found->second.empty()) return absent;
  const std::vector<int64_t>& values = found->second;
  const int64_t value = values.size() == 1 ? values[0] : values[std::min(i, values.size() - 1)];
  return value > 0 && value <= kWidest ? value : absent;
}

void set_layer(const LoggedFacts& facts, size_t i, int64_t n_embd, LayerSpec& layer) {
  if (auto* attention = std::get_if<AttentionSpec>(&layer.mixer)) {
    attention->n_head = of_layer(facts, "n_head", i, attention->n_head);
    attention->n_head_kv = of_layer(facts, "n_head_kv", i, attention->n_head);
    const int64_t even = n_embd / std::max<int64_t>(attention->n_head, 1);
    attention->head_dim = of_layer(facts, "n_embd_head_k", i, even);
    attention->head_dim_v = of_layer(facts, "n_embd_head_v", i, attention->head_dim);
    const int64_t window = facts.number("n_swa").value_or(attention->window);
    if (attention->window > 0 && window > 0) attention->window = window;
  } else if (auto* mamba = std::get_if<MambaSpec>(&layer.mixer)) {
    mamba->d_conv = of_layer(facts, "ssm_d_conv", i, mamba->d_conv);
    mamba->d_inner = of_layer(facts, "ssm_d_inner", i, mamba->d_inner);
    mamba->d_state = of_layer(facts, "ssm_d_state", i, mamba->d_state);
    mamba->dt_rank = of_layer(facts, "ssm_dt_rank", i, mamba->dt_rank);
  }
  if (layer.feed_forward.n_ff > 0) {
    layer.feed_forward.n_ff = of_layer(facts, "n_ff", i, layer.feed_forward.n_ff);
  }
  if (layer.moe.n_expert > 0) {
    layer.moe.n_expert = of_layer(facts, "n_expert", i, layer.moe.n_expert);
    layer.moe.n_expert_used = of_layer(facts, "n_expert_used", i, layer.moe.n_expert_used);
    layer.moe.n_ff_exp = of_layer(facts, "n_ff_exp", i, layer.moe.n_ff_exp);
  }
}

// A dense decoder, for an architecture that no known model has.
ModelSpec plain_decoder() {
  LayerSpec layer{.mixer = AttentionSpec{.n_head = 1, .n_head_kv = 1, .head_dim = 1}};
  layer.feed_forward.n_ff = 1;
  return {.dims = TransformerSpec{.n_embd = 1, .n_vocab = 1, .layers = {layer}}};
}

Result<LoggedModel> build(const LoggedRun& run, std::span<const ModelSpec> known) {
  const LoggedFacts& facts = run.model;
  const int64_t n_layer = *facts.number("n_layer");
  const int64_t n_embd = largest(facts, "n_embd");
  if (n_layer < 1 || n_layer > kMostLayers || n_embd > kWidest) {
    return one_error("log", fmt::format("{} layers of {} are no model", n_layer, n_embd));
  }
  const ModelSpec* like = template_of(run, known);
  LoggedModel made{.spec = like != nullptr ? *like : plain_decoder()};
  auto& spec = std::get<TransformerSpec>(made.spec.dims);
  const std::vector<LayerSpec> layers = spec.layers;
  spec.n_embd = n_embd;
  spec.layers.clear();
  spec.stacks.clear();
  for (size_t i = 0; i < static_cast<size_t>(n_layer); ++i) {
    LayerSpec layer = repeated(layers, i);
    set_layer(facts, i, n_embd, layer);
    spec.layers.push_back(std::move(layer));
  }
  spec.n_ctx_train = Tokens(facts.number("n_ctx_train").value_or(0));
  made.spec.name = std::string(facts.word("name"));
  made.spec.architecture = std::string(facts.word("arch"));
  made.how =
      like != nullptr
          ? fmt::format("built from the log's dimensions, layers like those of {}", like->name)
          : "built from the log's dimensions as a plain decoder";
  if (like == nullptr) {
    made.notes.push_back(
        fmt::format("No model here has the architecture {}: norms and biases are guesses, --model "
                    "replaces them.",
                    in_quotes(facts.word("arch"))));
  }
  return made;
}

// "8.03 B", "494.03 M": how many, and half of the last place.
std::optional<LoggedFigure> printed_parameters(std::string_view text) {
  for (const auto& [letter, unit] : {std::pair('B', 1'000'000'000), std::pair('M', 1'000'000)}) {
    if (text.find(letter) != std::string_view::npos) return scaled_figure(text, unit);
  }
  return std::nullopt;
}

int64_t distance(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

// The output matrix is one more of the embedding's size; the printed number of parameters tells.
void settle_tie(const LoggedRun& run, ModelSpec& model, std::vector<std::string>& notes) {
  auto& spec = std::get<TransformerSpec>(model.dims);
  const auto printed = printed_parameters(run.model.word("params"));
  if (!printed || !spec.has_head) return;
  ModelSpec other = model;
  std::get<TransformerSpec>(other.dims).tied_embeddings = !spec.tied_embeddings;
  const int64_t here = distance(parameter_count(model), printed->value);
  const int64_t there = distance(parameter_count(other), printed->value);
  if (there >= here || there > 2 * printed->rounding) return;
  spec.tied_embeddings = !spec.tied_embeddings;
  notes.push_back(spec.tied_embeddings ? "Its number of parameters says that the head is tied."
                                       : "Its number of parameters says that the head is its own.");
}

}  // namespace

void adjust_to_log(const LoggedRun& run, ModelSpec& model, std::vector<std::string>& notes) {
  auto* spec = std::get_if<TransformerSpec>(&model.dims);
  if (spec == nullptr) return;
  const int64_t n_vocab = largest(run.model, "n_vocab");
  if (n_vocab > 0 && n_vocab <= kWidest && n_vocab != spec->n_vocab) {
    notes.push_back(
        fmt::format("Vocabulary of the log, {}, instead of {}.", n_vocab, spec->n_vocab));
    spec->n_vocab = n_vocab;
  }
  for (LayerSpec& layer : spec->layers) {
    auto* mla = std::get_if<MlaSpec>(&layer.mixer);
    // Files from before the split: as many heads of keys as of queries.
    if (mla != nullptr && largest(run.model, "n_head_kv") == mla->n_head && mla->n_head > 1) {
      mla->latent_cache = false;
      mla->split_kv_b = false;
    }
  }
  settle_tie(run, model, notes);
  if (!run.tensors.empty()) model.stored = run.tensors;
}

Result<LoggedModel> model_of_log(const LoggedRun& run, std::span<const ModelSpec> known) {
  if (run.model.number("n_layer") && largest(run.model, "n_embd") > 0) {
    if (const ModelSpec* found = match(run, known)) {
      LoggedModel made{.spec = *found,
                       .how = fmt::format("the log's dimensions are those of {}", found->name)};
      adjust_to_log(run, made.spec, made.notes);
      return made;
    }
    Result<LoggedModel> made = build(run, known);
    if (!made) return made;
    LoggedModel built = *made;
    adjust_to_log(run, built.spec, built.notes);
    return built;
  }
  if (const ModelSpec* found = named(run.model.word("name"), known)) {
    LoggedModel made{.spec = *found,
                     .how = fmt::format("by the log's name of it, {}, as {}",
                                        in_quotes(run.model.word("name")), found->name)};
    adjust_to_log(run, made.spec, made.notes);
    return made;
  }
  return one_error("log", "it names no model: neither its dimensions nor a name that is known",
                   "name it: --model NAME|FILE");
}

std::optional<FileType> file_type_of_log(std::string_view text) {
  text = trimmed(text);
  for (const std::string_view word : {"mostly ", "all "}) {
    if (text.starts_with(word)) text.remove_prefix(word.size());
  }
  const std::vector<std::string_view> words = words_of(text);
  if (words.empty()) return std::nullopt;
  std::string name(words[0]);
  const auto says = [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  };
  if (name == "IQ3_S" && says("mix")) name = "IQ3_M";
  if (name == "MXFP4") name = "MXFP4_MOE";
  for (const auto& [word, letter] :
       {std::pair(std::string_view("Small"), "_S"), std::pair(std::string_view("Medium"), "_M"),
        std::pair(std::string_view("Large"), "_L")}) {
    if (!says(word)) continue;
    if (const auto type = parse_file_type(name + letter)) return type;
  }
  return parse_file_type(name);
}

namespace {

// How many tensors of each type but f32, which norms and small tables make up.
std::map<DType, int64_t> types_of(const WeightsInventory& weights) {
  std::map<DType, int64_t> types;
  for (const WeightTensor& tensor : weights.tensors) {
    if (tensor.stack < 0 && tensor.dtype != DType::kF32) ++types[tensor.dtype];
  }
  return types;
}

std::optional<std::map<DType, int64_t>> logged_types(const LoggedRun& run) {
  std::map<DType, int64_t> types;
  for (const auto& [name, count] : run.tensor_types) {
    const std::optional<DType> type = parse_dtype(name);
    if (!type) return std::nullopt;  // a type of a fork
    if (*type != DType::kF32) types[*type] = count;
  }
  return types;
}

LoggedWeights refused(std::string why) { return {.how = std::move(why)}; }

}  // namespace

LoggedWeights weights_of_log(const LoggedRun& run, const ModelSpec& spec) {
  if (!spec.stored.empty()) {
    const Result<WeightsInventory> stored = quantized_weights(spec, {});
    if (stored) return {.inventory = *stored, .how = "tensor by tensor, as the log lists them"};
  }
  const std::string_view name = run.model.word("ftype");
  if (name.empty()) return refused("the log names no quantization");
  const std::optional<FileType> type = file_type_of_log(name);
  if (!type) return refused(fmt::format("{} is no type that is known here", in_quotes(name)));
  const Result<WeightsInventory> mixed =
      quantized_weights(spec, {.kind = QuantKind::kFileType, .file_type = *type});
  if (!mixed) return refused("the quantizer would refuse this model at that type");
  const std::string_view canonical = file_type_of(*type).name;
  if (!run.tensor_types.empty()) {
    const auto types = logged_types(run);
    if (types && *types == types_of(*mixed)) {
      return {.inventory = *mixed,
              .how = fmt::format("{}; its tensors by type are those of the log", canonical)};
    }
  }
  if (const LoggedTerm* size = run.find(TermKind::kFileSize)) {
    const int64_t off = distance(mixed->bytes.count(), size->figure.value);
    if (off <= size->figure.rounding + size->figure.value / 200) {
      return {.inventory = *mixed,
              .how = fmt::format("{}; all together as large as the log says", canonical)};
    }
    return refused(fmt::format("not the mix that {} makes today: {} B there, {} B in the log",
                               canonical, mixed->bytes.count(), size->figure.value));
  }
  if (!run.tensor_types.empty()) {
    return refused(fmt::format("not the mix that {} makes today", canonical));
  }
  return {.inventory = *mixed,
          .how = fmt::format("{}, unchecked: the log has no sizes", canonical)};
}

}  // namespace tidemark

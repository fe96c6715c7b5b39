#include "planner/compare/ollama_graph.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "planner/base/checked.h"

namespace tidemark {
namespace {

// 2003d6015 of August 8th, 2024: llama's full graph counts the logits as well.
constexpr int64_t kAugust2024 = 2024 * 12 + 7;

struct Widths {
  int64_t embd = 0;
  int64_t vocab = 0;
  int64_t heads = 0;
  int64_t heads_kv = 0;
  int64_t head = 0;
  int64_t context = 0;
  int64_t batch = 0;

  // `values` of f32 for each token of the batch.
  int64_t per_batch(int64_t values) const { return checked_mul(checked_mul(4, batch), values); }
  // A row of scores for each head, and one of the mask.
  int64_t scores() const { return checked_mul(context, heads + 1); }
  int64_t logits() const { return per_batch(embd + vocab); }
  // The matrix of the head in Q6_K, 6.5625 bits a weight.
  int64_t head_matrix() const { return checked_mul(checked_mul(embd, vocab), 105) / 128; }
  int64_t all_heads() const { return checked_mul(head, heads); }
};

// rows x columns in Q4_0, 4.5 bits a weight.
int64_t matrix(int64_t rows, int64_t columns) {
  return checked_mul(checked_mul(rows, columns), 9) / 16;
}

struct Both {
  int64_t full = 0;
  int64_t partial = 0;
};

Both of_llama(const Widths& w) {
  const int64_t cache = checked_mul(
      checked_mul(4, w.context), checked_mul(w.batch, w.heads) + checked_mul(w.head, w.heads_kv));
  const int64_t attention = checked_add(
      w.per_batch(1 + w.embd + std::max(w.context, w.embd)) + matrix(w.embd, w.embd), cache);
  return {.full = w.per_batch(1 + 4 * w.embd + w.scores()),
          .partial =
              checked_add(w.per_batch(w.embd), std::max(attention, w.logits() + w.head_matrix()))};
}

Both of_gemma(const Widths& w) {
  const int64_t heads = 2 * w.all_heads();
  const int64_t keys = checked_mul(checked_mul(32, w.head), w.context);
  const int64_t attention = checked_add(w.per_batch(1 + 2 * w.embd + heads + w.scores()),
                                        keys + matrix(w.embd, w.all_heads()));
  return {.full = std::max(w.logits(), w.per_batch(2 + w.scores() + 2 * w.embd + heads)),
          .partial = std::max(w.logits() + w.head_matrix(), attention)};
}

Both of_command_r(const Widths& w) {
  const int64_t rows = checked_mul(checked_mul(4, w.embd), w.context);
  const int64_t attention =
      checked_add(w.per_batch(1 + 2 * w.embd + w.scores()), rows + matrix(w.embd, w.embd));
  return {.full = std::max(w.logits(), w.per_batch(2 + 4 * w.embd + w.scores())),
          .partial = std::max(w.logits() + w.head_matrix(), attention)};
}

Both of_qwen2(const Widths& w) {
  const int64_t attention = w.per_batch(1 + 2 * w.embd + w.scores());
  const int64_t rows = checked_mul(checked_mul(4, w.embd), 1 + w.context);
  return {.full = std::max(w.logits(), attention),
          .partial = std::max(w.logits() + w.head_matrix(), checked_add(attention, rows))};
}

Both of_phi2(const Widths& w) {
  return {.full = std::max(w.logits(), w.per_batch(1 + 4 * w.embd + w.scores())),
          .partial = std::max(w.per_batch(2 * w.embd + w.vocab) + w.head_matrix(),
                              w.per_batch(2 + 3 * w.embd + w.scores()))};
}

Both of_stablelm(const Widths& w) {
  const int64_t full = w.per_batch(2 + 3 * w.embd + w.scores());
  return {.full = full, .partial = std::max(full, w.per_batch(2 * w.embd + w.vocab))};
}

struct Rule {
  std::string_view architecture{};
  Both (*of)(const Widths&) = nullptr;  // nullptr: it reads tensors that a log does not show
};

constexpr std::array kRules{
    Rule{"llama", &of_llama},   Rule{"gemma", &of_gemma},         Rule{"gemma2", &of_gemma},
    Rule{"gemma3", &of_gemma},  Rule{"command-r", &of_command_r}, Rule{"qwen2", &of_qwen2},
    Rule{"phi2", &of_phi2},     Rule{"stablelm", &of_stablelm},   Rule{"llama4", nullptr},
    Rule{"mllama", nullptr},    Rule{"gemma3n", nullptr},         Rule{"chatglm", nullptr},
    Rule{"deepseek2", nullptr}, Rule{"gpt-oss", nullptr},         Rule{"gptoss", nullptr}};

Widths widths_of(const TransformerSpec& spec, const OllamaPlanned& planned) {
  Widths widths{.embd = spec.n_embd,
                .vocab = spec.n_vocab,
                .context = planned.n_ctx,
                .batch = std::min(planned.n_batch, planned.n_ctx)};
  for (const LayerSpec& layer : spec.layers) {
    const AttentionSpec* attention = layer.attention();
    if (attention == nullptr) continue;
    widths.heads = std::max(widths.heads, attention->n_head);
    widths.heads_kv = std::max(widths.heads_kv, attention->n_head_kv);
    widths.head = std::max(widths.head, attention->head_dim);
  }
  return widths;
}

// Sums of a few of them stay within 63 bits; products are checked.
bool in_range(const Widths& widths) {
  constexpr int64_t kMostWidth = int64_t{1} << 24;
  constexpr int64_t kMostTokens = int64_t{1} << 31;
  return std::max({widths.embd, widths.vocab, widths.heads, widths.heads_kv, widths.head}) <=
             kMostWidth &&
         widths.context <= kMostTokens;
}

// Releases before August 2024 left the logits out of llama's full graph.
void set_full_of_llama(const Widths& widths, std::optional<int64_t> month, int64_t full,
                       OllamaGraph& graph) {
  const int64_t later = std::max(full, widths.logits());
  if (later == full || (month && *month < kAugust2024)) {
    graph.full = full;
  } else if (month && *month > kAugust2024) {
    graph.full = later;
  } else {
    graph.reason = "the log does not say whether its release counted the logits (August 2024)";
  }
}

OllamaGraph planned_graph(const ModelSpec& model, const OllamaPlanned& planned) {
  const TransformerSpec& spec = *model.transformer();
  const Widths widths = widths_of(spec, planned);
  const bool mixture = std::ranges::any_of(
      spec.layers, [](const LayerSpec& layer) { return layer.moe.n_expert > 0; });
  const auto rule = std::ranges::find(kRules, model.architecture, &Rule::architecture);
  OllamaGraph graph;
  if (!in_range(widths)) return {.reason = "its formula leaves the range"};
  if (rule == kRules.end()) {
    // The same for all others: a sixth of the cache for each head that shares keys.
    if (!planned.kv || widths.heads_kv == 0) {
      return {.reason = "a share of its own figure for the cache, which is not in the log"};
    }
    graph.partial = checked_mul(widths.heads / widths.heads_kv, *planned.kv) / 6;
    graph.full = graph.partial;
  } else if (rule->of == nullptr || mixture || widths.heads == 0) {
    return {.reason = "a formula of tensors that the log does not show"};
  } else {
    const Both both = rule->of(widths);
    graph.partial = both.partial;
    graph.full = both.full;
    if (rule->of == &of_llama) {
      graph.full.reset();
      set_full_of_llama(widths, planned.month, both.full, graph);
    }
  }
  if (planned.metal) {
    graph.partial = graph.full;
  } else if (planned.cards > 1) {
    graph.full = graph.partial;
  }
  return graph;
}

}  // namespace

OllamaGraph ollama_graph(const ModelSpec& model, const OllamaPlanned& planned) {
  if (model.transformer() == nullptr || planned.n_ctx <= 0 || planned.n_batch <= 0) {
    return {.reason = "n_ctx is not in the log: -c N"};
  }
  try {
    return planned_graph(model, planned);
  } catch (const std::overflow_error&) {
    return {.reason = "its formula leaves the range"};
  }
}

}  // namespace tidemark

// Predictions for engines whose graphs are not modelled: what follows from widths alone.
#include <fmt/core.h>

#include <algorithm>

#include "planner/compare/ollama_graph.h"
#include "planner/compare/predict.h"
#include "planner/model/state.h"

namespace tidemark {
namespace {

// ollama 0.6, March 2025: its planner's total of the weights held the KV cache until then.
constexpr int64_t kNewTotals = 2025 * 12 + 2;
constexpr int64_t kVllmBlock = 16;

bool is_head(WeightRole role) { return role == WeightRole::kOutput; }

struct SplitWeights {
  Bytes layers{};
  Bytes head{};
};

SplitWeights split(const ModelSpec& model, const WeightsInventory& weights) {
  SplitWeights made;
  const bool tied = model.transformer()->tied_embeddings;
  for (const WeightTensor& tensor : weights.tensors) {
    if (tensor.stack >= 0) continue;
    if (tensor.layer >= 0) made.layers += tensor.bytes;
    const bool table = tied && tensor.role == WeightRole::kTokenEmbedding;
    if (is_head(tensor.role) || table) made.head += tensor.bytes;
  }
  return made;
}

Bytes planned_cache(const PredictInput& input) {
  const StateOptions options{.n_cells = *input.run.settings.number("n_ctx"),
                             .n_ubatch = setting_or(input, "n_batch", 512, "its default"),
                             .type_k = cache_type(input, "type_k").value_or(DType::kF16),
                             .type_v = cache_type(input, "type_v").value_or(DType::kF16),
                             .cell_multiple = 256};
  return state_sizes(input.model, options).kv_cache();
}

void planned_weights(const PredictInput& input, std::optional<Bytes> cache, ComparedTerm& term) {
  if (!input.weights.inventory) {
    term.reason = input.weights.how;
    return;
  }
  const SplitWeights made = split(input.model, *input.weights.inventory);
  const bool new_totals = input.run.settings.number("month").value_or(kNewTotals) >= kNewTotals;
  if (term.kind == TermKind::kHead) {
    term.predicted = made.head.count();
  } else if (new_totals) {
    term.predicted =
        (term.kind == TermKind::kWeights ? made.layers + made.head : made.layers).count();
  } else if (cache) {
    // Layers and KV cache; of which "repeating" leaves out as much as the head takes.
    const Bytes total = made.layers + *cache;
    term.predicted = (term.kind == TermKind::kWeights ? total : total - made.head).count();
  } else {
    term.reason = "its total holds the KV cache, and n_ctx is not in the log";
  }
}

const ComparedTerm* find(const std::vector<ComparedTerm>& terms, TermKind kind) {
  const auto found = std::ranges::find(terms, kind, &ComparedTerm::kind);
  return found == terms.end() ? nullptr : &*found;
}

// Both figures of its planner for the graph; an engine's own allocation is not one of them.
void planned_graph(const PredictInput& input, bool has_cache,
                   const std::vector<ComparedTerm>& terms, ComparedTerm& term) {
  const bool is_full = term.device == kOllamaFullGraph;
  if (!is_full && term.device != kOllamaPartialGraph) {
    term.reason = "its own engine's graph, which is not modelled";
    return;
  }
  if (!has_cache) {
    term.reason = "its planner counts heads that keep no cache";
    return;
  }
  const LoggedFacts& settings = input.run.settings;
  const ComparedTerm* kv = find(terms, TermKind::kPlannedKv);
  const OllamaGraph graph =
      ollama_graph(input.model, {.n_ctx = *settings.number("n_ctx"),
                                 .n_batch = setting_or(input, "n_batch", 512, "its default"),
                                 .kv = kv ? std::optional(kv->logged.value) : std::nullopt,
                                 .month = settings.number("month"),
                                 .cards = settings.number("cards").value_or(1),
                                 .metal = settings.word("library") == "metal"});
  term.predicted = is_full ? graph.full : graph.partial;
  if (!term.predicted) term.reason = graph.reason;
}

// One token: all layers, keys and values, on one of `ranks` cards that share the heads.
Bytes token_bytes(const ModelSpec& model, DType type, int64_t ranks) {
  Bytes bytes;
  for (const LayerSpec& layer : model.transformer()->layers) {
    LayerSpec part = layer;
    if (auto* attention = std::get_if<AttentionSpec>(&part.mixer)) {
      attention->n_head_kv = std::max<int64_t>(attention->n_head_kv / ranks, 1);
    }
    bytes += key_bytes_per_cell(part, type) + value_bytes_per_cell(part, type);
  }
  return bytes;
}

DType vllm_cache_type(const LoggedRun& run) {
  const std::string_view type = run.settings.word("kv_cache_dtype");
  if (type.starts_with("fp8")) return DType::kInt8;  // a byte a value
  return DType::kBf16;                               // auto: the model's, 16 bits
}

struct VllmCache {
  Bytes token{};
  int64_t block = kVllmBlock;
  std::optional<int64_t> tokens{};  // that it holds
  std::optional<int64_t> length{};  // of the longest request
};

void vllm_term(const PredictInput& input, const VllmCache& cache,
               const std::vector<ComparedTerm>& terms, ComparedTerm& term) {
  if (term.kind == TermKind::kConcurrency) {
    if (cache.tokens && cache.length) {
      term.predicted = checked_mul(*cache.tokens, 100) / *cache.length;
    } else {
      term.reason = "neither blocks nor tokens of the cache are in the log";
    }
  } else if (term.kind == TermKind::kCacheNeeded) {
    if (cache.length) term.predicted = (cache.token * *cache.length).count();
  } else if (term.kind == TermKind::kCacheTokens) {
    const ComparedTerm* available = find(terms, TermKind::kCacheBytes);
    if (available != nullptr && cache.token > Bytes{}) {
      const int64_t tokens = available->logged.value / cache.token.count();
      term.predicted = tokens / cache.block * cache.block;
    } else {
      term.reason = "the memory of the cache is not in the log";
    }
  } else if (term.kind == TermKind::kCacheBytes) {
    if (cache.tokens) {
      term.predicted = (cache.token * *cache.tokens).count();
    } else {
      term.reason = "what remains of the card; the log does not say how many tokens it holds";
    }
  } else if (input.weights.inventory) {
    term.predicted = input.weights.inventory->bytes.count();
  } else {
    term.reason = input.weights.how;
  }
}

int64_t at_least_one(std::optional<int64_t> number, int64_t fallback) {
  return number && *number > 0 && *number <= 1'000'000 ? *number : fallback;
}

}  // namespace

void predict_ollama(const PredictInput& input, std::vector<ComparedTerm>& terms) {
  std::optional<Bytes> cache;
  const auto n_ctx = input.run.settings.number("n_ctx");
  if (n_ctx && *n_ctx > 0 && *n_ctx < (int64_t{1} << 31)) {
    input.out.settings.push_back({"n_ctx", std::to_string(*n_ctx), "log"});
    cache = planned_cache(input);
  } else {
    input.out.missing.emplace_back("n_ctx");
  }
  input.out.notes.emplace_back("The planner's figures are estimates of its own, no allocations.");
  for (ComparedTerm& term : terms) {
    if (term.kind == TermKind::kPlannedKv || term.kind == TermKind::kKv) {
      if (cache) term.predicted = cache->count();
      if (!cache) term.reason = "n_ctx is not in the log: -c N";
      const bool parts = std::ranges::count(terms, TermKind::kKv, &ComparedTerm::kind) > 1;
      if (term.kind == TermKind::kKv && parts) {
        term.predicted.reset();
        term.reason = "the log does not say on which device each layer is";
      }
    } else if (term.kind == TermKind::kCompute) {
      if (!n_ctx) term.reason = "n_ctx is not in the log: -c N";
      if (cache) planned_graph(input, *cache > Bytes{}, terms, term);
    } else if (term.kind == TermKind::kModel) {
      term.reason = "the log does not say on which device each layer is";
    } else {
      planned_weights(input, cache, term);
    }
  }
}

void predict_vllm(const PredictInput& input, std::vector<ComparedTerm>& terms) {
  const LoggedRun& run = input.run;
  const int64_t ranks = at_least_one(run.settings.number("tensor_parallel_size"), 1);
  VllmCache cache{.token = token_bytes(input.model, vllm_cache_type(run), ranks)};
  cache.block = at_least_one(run.settings.number("block_size"), kVllmBlock);
  const auto length = run.settings.number("max_seq_len");
  if (length && *length > 0 && *length < (int64_t{1} << 31)) cache.length = length;
  if (!cache.length) input.out.missing.emplace_back("max_model_len");
  const auto blocks = run.settings.number("gpu_blocks");
  if (blocks && *blocks < (int64_t{1} << 31)) {
    cache.tokens = checked_mul(*blocks, cache.block);
    input.out.settings.push_back({"gpu_blocks", std::to_string(*blocks), "log"});
  } else if (const ComparedTerm* tokens = find(terms, TermKind::kCacheTokens)) {
    cache.tokens = tokens->logged.value;
  }
  input.out.settings.push_back({"tensor_parallel_size", std::to_string(ranks),
                                run.settings.number("tensor_parallel_size")
                                    ? "log"
                                    : "not in the log; one card, the default"});
  input.out.notes.push_back(
      fmt::format("A token of the cache takes {} B on each card.", cache.token.count()));
  for (ComparedTerm& term : terms) vllm_term(input, cache, terms, term);
}

void predict_whisper(const PredictInput& input, std::vector<ComparedTerm>& terms) {
  const auto number = [&](std::string_view key) {
    return at_least_one(input.run.model.number(key), 0);
  };
  const int64_t row = checked_mul(number("n_text_layer"), checked_mul(number("n_text_state"), 4));
  const auto cache = [&](int64_t cells) { return checked_mul(row, cells); };
  const auto padded = [](int64_t cells) { return ceil_div(cells, 256) * 256; };
  const int64_t text = number("n_text_ctx");
  const int64_t audio = number("n_audio_ctx");
  const std::string_view flash = input.run.settings.word("flash_attn");
  const bool pads = find(terms, TermKind::kPadding) != nullptr || flash.starts_with('1');
  for (ComparedTerm& term : terms) {
    if (row == 0 || text == 0 || audio == 0) {
      term.reason = "its dimensions are not in the log";
    } else if (term.kind == TermKind::kKv) {
      const int64_t one = cache(text);
      // Later builds keep three times the text for their decoders.
      const bool three = term.logged.value > 2 * one;
      term.predicted = cache(pads ? padded(three ? 3 * text : text) : (three ? 3 * text : text));
      if (three) term.reason = "room for the text of three decoders";
    } else if (term.kind == TermKind::kCross) {
      term.predicted = cache(pads ? padded(audio) : audio);
    } else if (term.kind == TermKind::kPadding) {
      // Keys and values of one layer over the padded states of the encoder.
      term.predicted = checked_mul(checked_mul(number("n_audio_state"), 4), padded(audio));
    } else {
      term.reason = "its graphs are not modelled";
    }
  }
}

void predict_meminfo(const PredictInput& input, std::vector<ComparedTerm>& terms) {
  const auto n_ctx = input.run.settings.number("n_ctx");
  if (!n_ctx) input.out.missing.emplace_back("n_ctx");
  input.out.notes.emplace_back(
      "Totals of the whole app, with its own code and heap: predictions are what of it belongs to "
      "the model, so they are compared and not judged.");
  for (ComparedTerm& term : terms) {
    term.judged = false;
    if (term.kind == TermKind::kFileBacked) {
      if (input.weights.inventory) term.predicted = input.weights.inventory->bytes.count();
      term.reason = input.weights.inventory
                        ? "weights, if they are mapped; pages that were dropped are not counted"
                        : input.weights.how;
    } else if (term.kind == TermKind::kPrivate && n_ctx && *n_ctx < (int64_t{1} << 31)) {
      const StateSizes sizes =
          state_sizes(input.model, {.n_cells = *n_ctx,
                                    .type_k = cache_type(input, "type_k").value_or(DType::kF16),
                                    .type_v = cache_type(input, "type_v").value_or(DType::kF16)});
      term.predicted = (sizes.kv_cache() + sizes.recurrent).count();
      term.reason = "KV cache and state; compute buffers and the app itself come on top";
    } else if (term.kind == TermKind::kPrivate) {
      term.reason = "n_ctx is not in the log: -c N";
    } else {
      term.reason = "nothing of the model's alone";
    }
  }
}

}  // namespace tidemark

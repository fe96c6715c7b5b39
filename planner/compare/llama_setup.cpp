#include "planner/compare/llama_setup.h"

#include <fmt/core.h>

#include <algorithm>

namespace tidemark {
namespace {

bool says_on(std::string_view word) {
  return word == "1" || word == "on" || word == "enabled" || word == "true";
}
bool says_off(std::string_view word) {
  return word == "0" || word == "off" || word == "disabled" || word == "false";
}

LlamaFlash flash_of(const PredictInput& input, DType type_v) {
  const std::string_view word = input.run.settings.word("flash_attn");
  const auto note = [&](std::string_view value, std::string_view why) {
    input.out.settings.push_back({"flash_attn", std::string(value), std::string(why)});
  };
  if (says_off(word) || says_on(word)) {
    note(word, "log");
    return says_on(word) ? LlamaFlash::kOn : LlamaFlash::kOff;
  }
  if (format_of(type_v).quantized) {
    note("on", "a quantized V cache needs it");
    return LlamaFlash::kOn;
  }
  const bool by_default =
      input.run.wording >= LlamaWording::kAutumn2025 || input.run.wording == LlamaWording::kUnknown;
  note(by_default ? "on" : "off", word == "auto" ? "auto, taken as on where it is the default"
                                                 : "not in the log; the default of its age");
  return by_default ? LlamaFlash::kOn : LlamaFlash::kOff;
}

bool word_on(const PredictInput& input, std::string_view key) {
  const std::string_view word = input.run.settings.word(key);
  if (word.empty()) return false;
  input.out.settings.push_back({std::string(key), std::string(word), "log"});
  return says_on(word);
}

// Context as printed, where it is no multiple of today's rounding.
void keep_printed_context(const LoggedRun& run, int64_t n_ctx, LlamaContext& context) {
  context.n_ctx = n_ctx;
  const auto sequence = run.settings.number("n_ctx_seq");
  const auto older = run.settings.number("n_ctx_per_seq");
  int64_t cells = context.kv_unified ? n_ctx : n_ctx / context.n_seq;
  if (!context.kv_unified && sequence) cells = *sequence;
  if (!context.kv_unified && !sequence && older && *older * context.n_seq >= n_ctx) cells = *older;
  context.n_ctx_seq = context.cells = std::max<int64_t>(cells, 1);
}

LlamaSettings settings_of(const PredictInput& input, const LlamaVariant& variant,
                          const LlamaEra& era, LlamaSetup& setup) {
  const LoggedRun& run = input.run;
  const bool early = run.wording == LlamaWording::kEarly2024 || run.wording == LlamaWording::k2023;
  LlamaSettings asked;
  asked.n_ctx = run.settings.number("n_ctx").value_or(run.settings.number("kv_size").value_or(0));
  if (asked.n_ctx > 0) {
    input.out.settings.push_back({"n_ctx", std::to_string(asked.n_ctx), "log"});
  } else {
    input.out.missing.emplace_back("n_ctx");
    setup.impossible = "n_ctx is not in the log: -c N";
  }
  asked.n_batch = setting_or(input, "n_batch", early ? 512 : 2048, "the default of its age");
  asked.n_ubatch = setting_or(input, "n_ubatch", std::min<int64_t>(asked.n_batch, 512),
                              "the default of its age");
  asked.n_seq = setting_or(input, "n_seq_max", 1, "one sequence, the default");
  if (variant.n_seq_factor) asked.n_seq *= *variant.n_seq_factor;
  asked.n_outputs_max =
      variant.n_outputs.value_or(run.settings.number("n_outputs_max").value_or(0));
  asked.type_k = cache_type(input, "type_k").value_or(DType::kF16);
  asked.type_v = cache_type(input, "type_v").value_or(DType::kF16);
  asked.flash = flash_of(input, asked.type_v);
  if (variant.flash) asked.flash = *variant.flash ? LlamaFlash::kOn : LlamaFlash::kOff;
  asked.kv_unified = word_on(input, "kv_unified") || era.one_cache;
  asked.swa_full = variant.swa_full.value_or(word_on(input, "swa_full") || !era.window_cache);
  return asked;
}

bool within_reason(const LlamaSettings& asked) {
  constexpr int64_t kMost = int64_t{1} << 31;
  return asked.n_ctx <= kMost && asked.n_batch <= kMost && asked.n_ubatch <= kMost &&
         asked.n_seq <= 65'536 && asked.n_outputs_max <= kMost;
}

Bytes cache_of(const LayerSpec& layer, Bytes widest_v, const LlamaContext& context) {
  const Bytes k = key_bytes_per_cell(layer, context.type_k);
  Bytes v = value_bytes_per_cell(layer, context.type_v);
  // Without flash attention every layer's values are as wide as the widest layer's.
  if (!context.flash && v > Bytes{}) v = widest_v;
  const int64_t cells = cells_of(layer, state_options(context));
  return (k + v) * checked_mul(cells, context.n_stream);
}

void set_layers(LlamaSetup& setup) {
  const TransformerSpec& spec = *setup.model.transformer();
  Bytes widest_v;
  for (const LayerSpec& layer : spec.layers) {
    widest_v = std::max(widest_v, value_bytes_per_cell(layer, setup.context.type_v));
  }
  for (const LayerSpec& layer : spec.layers) {
    setup.layer_cache.push_back(spec.is_causal ? cache_of(layer, widest_v, setup.context)
                                               : Bytes{});
    setup.layer_state.push_back(recurrent_state_of(layer, spec.n_embd).total() *
                                setup.context.n_seq);
  }
}

}  // namespace

int64_t setting_or(const PredictInput& input, std::string_view key, int64_t fallback,
                   std::string_view why) {
  const std::optional<int64_t> number = input.run.settings.number(key);
  const int64_t value = number && *number > 0 ? *number : fallback;
  input.out.settings.push_back(
      {std::string(key), std::to_string(value),
       number && *number > 0 ? "log" : fmt::format("not in the log; {}", why)});
  return value;
}

std::optional<DType> cache_type(const PredictInput& input, std::string_view key) {
  const std::string_view word = input.run.settings.word(key);
  const std::optional<DType> type = word.empty() ? std::nullopt : parse_dtype(word);
  std::string_view origin = type ? "log" : "not in the log; the default";
  if (!type && !word.empty()) origin = "the log's is not known here";
  input.out.settings.push_back(
      {std::string(key), type ? std::string(word) : "f16", std::string(origin)});
  return type;
}

LlamaSetup set_up_llama(const PredictInput& input, const LlamaVariant& variant) {
  LlamaSetup setup{.model = as_llama_cpp_sees(input.model), .era = era_of(input.run)};
  if (variant.indexed_rows) setup.era.indexed_rows = *variant.indexed_rows;
  if (variant.unused_embeddings) setup.era.unused_embeddings = *variant.unused_embeddings;
  const LlamaSettings asked = settings_of(input, variant, setup.era, setup);
  setup.embeddings = variant.embeddings.value_or(word_on(input, "embeddings"));
  setup.n_copies = variant.copies.value_or(input.run.settings.number("n_copies").value_or(1));
  setup.n_copies = std::clamp<int64_t>(setup.n_copies, 1, 8);
  if (!within_reason(asked)) {
    setup.impossible = "its settings are out of all range";
    return setup;
  }
  setup.context = llama_context(setup.model, asked);
  if (!setup.context.rejection.empty()) {
    setup.impossible = "today's build would refuse: " + setup.context.rejection;
    return setup;
  }
  if (asked.n_ctx > 0 && asked.n_ctx % 256 != 0) {
    keep_printed_context(input.run, asked.n_ctx, setup.context);
  }
  // The rotation of quantized caches is stated by the builds that have it.
  if (input.run.settings.number("attn_rot_k").value_or(0) == 0) setup.context.rotation.k = 0;
  if (input.run.settings.number("attn_rot_v").value_or(0) == 0) setup.context.rotation.v = 0;
  set_layers(setup);
  setup.placement = placement_of(input.run, setup.layer_cache, setup.era);
  return setup;
}

}  // namespace tidemark

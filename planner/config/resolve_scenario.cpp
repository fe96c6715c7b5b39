// Settings -> Scenario. Settings are taken in the order of the table, since later defaults rest on
// earlier values:
//
//   ctx_size 128 alone -> batch_size 128, ubatch_size 128, prompt 96, generate 32   (not 2048, 512,
//   128, 32)
//
// As llama.cpp does, a batch_size above ctx_size and a ubatch_size above batch_size are lowered;
// the origin of the value says so. Checked by ResolveScenario.DefaultsFollowASmallContext.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "planner/alloc/planners.h"
#include "planner/config/core_settings.h"
#include "planner/config/llama_settings.h"
#include "planner/config/load_any_model.h"
#include "planner/config/load_choices.h"
#include "planner/config/offload_settings.h"
#include "planner/config/residency_settings.h"
#include "planner/config/run_choices.h"
#include "planner/config/setting_reader.h"
#include "planner/model/quantized_weights.h"
#include "planner/model/scale.h"
#include "planner/model/transform.h"

namespace tidemark {
namespace {

using literals::operator""_B;

constexpr int64_t kMostContext = int64_t{1} << 30;
constexpr int64_t kMostTokens = int64_t{1} << 24;
constexpr int64_t kMostSequences = 4096;

template <typename Kind, size_t kCount>
std::vector<std::string> names_of(const std::array<Kind, kCount>& kinds) {
  std::vector<std::string> names;
  for (const Kind kind : kinds) names.emplace_back(name_of(kind));
  return names;
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const StrategyKind kind : strategies()) names.emplace_back(name_of(kind));
  return names;
}

std::vector<std::string> cache_policy_names() {
  return names_of(std::array{CachePolicy::kLru, CachePolicy::kMru, CachePolicy::kPinned,
                             CachePolicy::kNextUse, CachePolicy::kFifo, CachePolicy::kClock,
                             CachePolicy::kLfu, CachePolicy::kRandom});
}

std::vector<std::string> planner_names() {
  std::vector<std::string> names;
  for (const PlannerInfo& info : planners()) names.emplace_back(info.name);
  return names;
}

// Formats whose names begin alike, or the ones that most people mean.
std::vector<std::string> nearest_quantizations(std::string_view text) {
  std::vector<std::string> names = quantization_names();
  if (did_you_mean(text, names)) return names;
  return {"as-stored", "f16", "Q8_0", "Q6_K", "Q4_K_M", "Q4_0", "int8", "int4", "gptq4_g128"};
}

class Resolver {
 public:
  explicit Resolver(const SettingMap& settings) : read_(settings) {
    for (const auto& [key, setting] : settings) {
      if (find_setting(key) != nullptr) continue;
      read_.problem(key, "unknown setting", setting_hint(key));
    }
  }

  Result<Scenario> resolve() {
    load_files();
    quantization();
    context();
    cache_types();
    outputs();
    scenario_.llama = read_llama_choices(read_, scenario_);
    choices();
    limits();
    tokens();
    read_kv_growth(read_, scenario_);
    read_load_choices(read_, is_layer_list(), scenario_.load);
    scenario_.residency = read_residency(read_);
    read_offload(read_, scenario_);
    block_cache();
    scenario_.adapt = read_adapt(read_);
    read_serving(read_, scenario_.serving);
    if (has_errors(read_.problems())) return read_.problems();
    scenario_.settings = read_.resolved();
    return std::move(scenario_);
  }

 private:
  // `assume_dense` is a setting of its own, so the loader has two shapes.
  Result<ImportedModel> (*model_loader())(std::string_view) {
    if (read_.is_on("assume_dense")) {
      return [](std::string_view name) { return load_any_model(name, {.assume_dense = true}); };
    }
    return [](std::string_view name) { return load_any_model(name, {}); };
  }

  void load_files() {
    if (read_.stated("model") == nullptr) {
      read_.problem("model", "is not given", "name a built-in model or a model file");
    } else if (auto imported = read_.file<ImportedModel>("model", model_loader(), "")) {
      has_model_ = true;
      scenario_.model = std::move(imported->model);
      scenario_.model_warnings = std::move(imported->warnings);
    }
    transform();
    model_scale();
    if (auto device = read_.file<DeviceSpec>("device", load_device, "galaxy-s23")) {
      scenario_.device = std::move(*device);
      read_cores(read_, scenario_.device);
    }
    if (auto engine = read_.file<EngineProfile>("engine", load_engine, "tidemark")) {
      scenario_.engine = std::move(*engine);
    }
    engine_origin_ = "engine profile " + scenario_.engine.name;
  }

  void transform() {
    const SettingText* stated = read_.stated("transform");
    if (stated == nullptr) return;
    read_.record("transform", stated->text, stated->origin);
    const Result<std::vector<Transform>> wished = parse_transforms(stated->text);
    if (!wished) return problems_of("transform", wished.diagnostics());
    if (!has_model_) return;
    Result<ModelSpec> smaller = transformed(scenario_.model, *wished);
    if (!smaller) return problems_of("transform", smaller.diagnostics());
    scenario_.model = std::move(smaller).value();
  }

  void problems_of(std::string_view key, const Diagnostics& problems) {
    for (const Diagnostic& problem : problems) read_.problem(key, problem.message, problem.hint);
  }

  void model_scale() {
    const std::optional<double> factor = read_.ratio_up_to_one("model_scale", kLeastModelScale);
    if (!factor || !has_model_) return;
    if (is_layer_list() && *factor != 1.0) {
      read_.problem("model_scale",
                    fmt::format("{} states sizes, which have no widths", scenario_.model.name),
                    "leave model_scale out for a model that is a list of layers");
      return;
    }
    scenario_.model = scale_widths(std::move(scenario_.model), *factor);
  }

  // nullptr for a layer list, and when the model did not load.
  const TransformerSpec* transformer() const {
    return has_model_ ? scenario_.model.transformer() : nullptr;
  }
  bool is_layer_list() const { return has_model_ && scenario_.model.layer_list() != nullptr; }

  void quantization() {
    if (is_layer_list()) {
      const SettingText* stated = read_.stated("quant");
      const bool by_user = stated != nullptr && !stated->origin.ends_with(" default");
      if (!by_user) return;
      read_.problem("quant",
                    fmt::format("{} states sizes, which no format changes", scenario_.model.name),
                    "leave quant out for a model that is a list of layers");
    }
    if (const SettingText* stated = read_.stated("quant")) {
      const std::optional<Quantization> named = parse_quantization(stated->text);
      if (!named) {
        read_.problem("quant", fmt::format("{} is not a weight format", in_quotes(stated->text)),
                      suggestion(stated->text, "`tidemark list quants` shows all, such as",
                                 nearest_quantizations(stated->text)));
      }
      scenario_.quant = named.value_or(Quantization{});
      read_.record("quant", std::string(name_of(scenario_.quant)), stated->origin);
    } else {
      read_.record("quant", "as-stored", "model " + scenario_.model.name);
    }
    quantization_details();
  }

  void quantization_details() {
    Quantization& quant = scenario_.quant;
    quant.pure = read_.is_on("pure");
    quant.importance_matrix = read_.is_on("imatrix");
    for (const char* key : {"pure", "imatrix"}) {
      if (quant.kind == QuantKind::kFileType || read_.stated(key) == nullptr) continue;
      read_.problem(key, "only GGUF file types are mixes", "add --quant Q4_K_M, or leave it out");
    }
    if (const SettingText* stated = read_.stated("tensor_type")) {
      read_.record("tensor_type", stated->text, stated->origin);
      Result<std::vector<TypeOverride>> overrides = parse_overrides(stated->text);
      if (overrides) {
        quant.overrides = std::move(overrides).value();
      } else {
        problems_of("tensor_type", overrides.diagnostics());
      }
    }
    scenario_.embedding_in_flash = scenario_.engine.embedding_in_flash;
    if (read_.stated("embedding") != nullptr) {
      scenario_.embedding_in_flash =
          read_.choice("embedding", {"resident", "flash"}, "resident") == "flash";
    }
  }

  void context() {
    constexpr int64_t kUsual = 4096;
    const int64_t trained = transformer() != nullptr ? transformer()->n_ctx_train.count() : 0;
    const int64_t n_ctx =
        read_.number("ctx_size", {.least = 1,
                                  .most = kMostContext,
                                  .fallback = trained > 0 ? std::min(trained, kUsual) : kUsual});
    const int64_t n_batch = read_.number("batch_size", {.least = 1,
                                                        .most = kMostTokens,
                                                        .fallback = scenario_.engine.batch_size,
                                                        .held_to = n_ctx,
                                                        .holder = "ctx_size"});
    const int64_t n_ubatch = read_.number("ubatch_size", {.least = 1,
                                                          .most = kMostTokens,
                                                          .fallback = scenario_.engine.ubatch_size,
                                                          .held_to = n_batch,
                                                          .holder = "batch_size"});
    scenario_.n_ctx = Tokens(n_ctx);
    scenario_.n_batch = Tokens(n_batch);
    scenario_.n_ubatch = Tokens(n_ubatch);
    scenario_.n_seq = read_.number("parallel", {.least = 1, .most = kMostSequences, .fallback = 1});
  }

  DType cache_type(std::string_view key, DType fallback) {
    const DType type = read_.dtype(
        key, {.use = DTypeUse::kCache, .fallback = fallback, .fallback_origin = engine_origin_});
    if (scenario_.engine.policy == EnginePolicy::kLlamaCpp && ggml_id_of(type) < 0) {
      read_.problem(key, fmt::format("llama.cpp has no cache type {}", name_of(type)),
                    "f32, f16, bf16, Q8_0, Q5_1, Q5_0, Q4_1, Q4_0 and IQ4_NL are its own");
      return type;
    }
    const int64_t block = format_of(type).block_elements;
    if (transformer() == nullptr || transformer()->layers.empty()) return type;
    for (const LayerSpec& layer : transformer()->layers) {
      const int64_t row = cached_row(layer, key == "cache_type_k");
      if (row % block == 0) continue;
      read_.problem(key, fmt::format("{} needs {} that {} divides, {} has {}", name_of(type),
                                     layer.attention() ? "a head_dim" : "cached rows", block,
                                     scenario_.model.name, row));
      break;
    }
    return type;
  }

  void cache_types() {
    scenario_.kv_unified = read_.is_on("kv_unified");
    scenario_.swa_full = read_.is_on("swa_full");
    const EngineProfile& engine = scenario_.engine;
    scenario_.type_k = cache_type("cache_type_k", engine.type_k);
    scenario_.type_v = cache_type("cache_type_v", engine.type_v);
    scenario_.kv_resident = read_.size("kv_resident", 0_B);
    const std::string text = read_.stated("flash_attn") ? read_.stated("flash_attn")->text : "auto";
    if (text == "on" || text == "off") {
      scenario_.flash_attention = text == "on";
      read_.record("flash_attn", text, read_.stated("flash_attn")->origin);
      return;
    }
    if (text != "auto") {
      read_.problem("flash_attn", fmt::format("{} is not known", in_quotes(text)),
                    "there are: on, off, auto");
    }
    scenario_.flash_attention = engine.flash_attention;
    read_.record("flash_attn", engine.flash_attention ? "on" : "off", engine_origin_);
  }

  void outputs() {
    const int64_t n_ubatch = scenario_.n_ubatch.count();
    const SettingText* stated = read_.stated("n_outputs");
    // "0" stands for every token, so it is replaced before the number is recorded.
    if (stated != nullptr && stated->text == "0") {
      scenario_.n_outputs = n_ubatch;
      read_.record("n_outputs", std::to_string(n_ubatch), stated->origin);
    } else {
      scenario_.n_outputs =
          read_.number("n_outputs", {.least = 1,
                                     .most = kMostTokens,
                                     .fallback = std::min(scenario_.n_seq, n_ubatch),
                                     .held_to = n_ubatch,
                                     .holder = "ubatch_size"});
    }
    scenario_.type_act = read_.dtype("activation_type", {.use = DTypeUse::kActivations,
                                                         .fallback = scenario_.engine.type_act,
                                                         .fallback_origin = engine_origin_});
  }

  void choices() {
    const std::string strategy = read_.choice("strategy", strategy_names(), "resident");
    scenario_.strategy = parse_strategy(strategy).value_or(StrategyKind::kResident);
    const std::string planner = read_.choice("planner", planner_names(), "best-of");
    scenario_.planner = parse_planner(planner).value_or(PlannerKind::kBestOf);
    if (read_.stated("op_order") != nullptr) {
      const std::string order = read_.choice("op_order", {"program", "memory"}, "program");
      scenario_.op_order = parse_op_order(order).value_or(OpOrder::kProgram);
    }
  }

  void limits() {
    scenario_.budget = read_.size("budget", 1_B);
    scenario_.enforce = read_.is_on("enforce");
    scenario_.margin_ratio = read_.ratio_below_one("margin", "10 %");
  }

  // Defaults make room for each other; stated values must fit.
  void tokens() {
    const int64_t cells = scenario_.cells_per_sequence();
    const auto stated = [&](std::string_view key) {
      const SettingText* setting = read_.stated(key);
      const Parsed<int64_t> count = setting ? parse_integer(setting->text) : Parsed<int64_t>(0);
      const auto* good = std::get_if<int64_t>(&count);
      return good != nullptr ? std::clamp<int64_t>(*good, 0, cells) : 0;
    };
    const int64_t generate_default =
        std::min<int64_t>(32, read_.stated("prompt") ? cells - stated("prompt") : cells / 2);
    const int64_t generate_wish = read_.stated("generate") ? stated("generate") : generate_default;
    const int64_t prompt =
        read_.number("prompt", {.least = 0,
                                .most = kMostTokens,
                                .fallback = std::min<int64_t>(128, cells - generate_wish)});
    const int64_t generate =
        read_.number("generate", {.least = 0, .most = kMostTokens, .fallback = generate_default});
    scenario_.prompt = Tokens(prompt);
    scenario_.generate = Tokens(generate);
    if (!is_layer_list() && prompt + generate > cells) refuse_tokens(prompt + generate, cells);
    scenario_.seed =
        static_cast<uint64_t>(read_.number("seed", {.least = 0, .most = INT64_MAX, .fallback = 0}));
  }

  void refuse_tokens(int64_t needed, int64_t cells) {
    const std::string_view key = read_.stated("prompt") ? "prompt" : "generate";
    read_.problem(
        key, fmt::format("prompt and generate need {} cells, a sequence has {}", needed, cells),
        fmt::format("raise ctx_size to {}", needed * scenario_.n_seq));
  }

  void block_cache() {
    scenario_.cache.capacity = read_.size("cache_size", 1_B).value_or(0_B);
    const std::string policy = read_.choice("cache_policy", cache_policy_names(), "lru");
    scenario_.cache.policy = parse_cache_policy(policy).value_or(CachePolicy::kLru);
    scenario_.cache.pinned = read_.list("pinned");
    scenario_.trace = read_.list("trace");
    const bool needs_names = scenario_.strategy == StrategyKind::kBlockCache &&
                             scenario_.cache.policy == CachePolicy::kPinned;
    if (needs_names && read_.stated("pinned") == nullptr) {
      read_.problem("cache_policy", "pinned needs the names of the weight units to keep",
                    "add them: pinned=token_embd");
    }
  }

  SettingReader read_;
  Scenario scenario_{};
  bool has_model_ = false;
  std::string engine_origin_{};
};

}  // namespace

Result<Scenario> resolve_scenario(const SettingMap& settings) {
  return Resolver(settings).resolve();
}

}  // namespace tidemark

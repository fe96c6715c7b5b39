// schema: engine/1.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "planner/config/load_common.h"

namespace tidemark {
namespace {

using literals::operator""_B;
using literals::operator""_MiB;

template <typename Value>
struct Choice {
  std::string_view name{};
  Value value{};
};

// The first choice when the text is none of them.
template <typename Value, size_t kCount>
Value read_choice(YamlMap& map, std::string_view key,
                  const std::array<Choice<Value>, kCount>& choices) {
  const std::optional<std::string> text = map.text(key);
  std::string names;
  for (const Choice<Value>& choice : choices) {
    if (text == choice.name) return choice.value;
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  if (text && kCount == 2) {
    map.error(key, fmt::format("{} is neither {} nor {}", in_quotes(*text), choices[0].name,
                               choices[1].name));
  } else if (text) {
    map.error(key, fmt::format("{} is not known", in_quotes(*text)), "there are: " + names);
  }
  return choices[0].value;
}

constexpr std::array<Choice<EnginePolicy>, 3> kPolicies{{{"planned", EnginePolicy::kPlanned},
                                                         {"textbook", EnginePolicy::kTextbook},
                                                         {"llama_cpp", EnginePolicy::kLlamaCpp}}};
constexpr std::array<Choice<ActivationPolicy>, 2> kActivations{
    {{"arena", ActivationPolicy::kArena}, {"live", ActivationPolicy::kLive}}};
constexpr std::array<Choice<WeightsIn>, 3> kPlaces{
    {{"private", WeightsIn::kPrivate}, {"file", WeightsIn::kFile}, {"device", WeightsIn::kDevice}}};
// What may be uncertain: compute is planned, and the recurrent state follows from the model.
constexpr std::array<std::string_view, 4> kUncertain{"weights", "kv_cache", "output", "runtime"};

std::vector<UncertainAmount> read_uncertain(YamlMap& map) {
  std::vector<UncertainAmount> amounts;
  if (!map.has("uncertain")) return amounts;
  for (YamlMap& entry : map.map_list("uncertain")) {
    UncertainAmount amount;
    amount.term = entry.text("term").value_or("");
    amount.what = entry.text("what").value_or("");
    amount.least = entry.bytes("least").value_or(Bytes{});
    amount.most = entry.bytes("most", amount.least).value_or(amount.least);
    amount.source = entry.text("source").value_or("");
    if (std::ranges::find(kUncertain, amount.term) == kUncertain.end()) {
      entry.error("term",
                  fmt::format("{} is not a term that may be uncertain", in_quotes(amount.term)),
                  "weights, kv_cache, output or runtime");
    }
    entry.finish();
    amounts.push_back(std::move(amount));
  }
  return amounts;
}

// Long enough for a list, short enough for a table.
std::string read_short(YamlMap& map, std::string_view key, size_t most) {
  const std::string text = map.text(key).value_or("");
  if (text.size() > most) map.error(key, fmt::format("is longer than {} bytes", most));
  return text;
}

// A cell without a source is refused: a missing key is an error.
EngineFeature read_feature(YamlMap& runtime, std::string_view key) {
  constexpr size_t kMostOfACell = 240;
  std::optional<YamlMap> map = runtime.map(key);
  if (!map) return {};
  EngineFeature feature{.value = read_short(*map, "value", kMostOfACell),
                        .source = read_short(*map, "source", kMostOfACell)};
  map->finish();
  return feature;
}

std::vector<RuntimeFeatures> read_features(YamlMap& map) {
  constexpr size_t kMostRuntimes = 16;
  constexpr size_t kMostOfAName = 40;
  std::vector<RuntimeFeatures> runtimes;
  if (!map.has("features")) return runtimes;
  std::vector<YamlMap> entries = map.map_list("features");
  if (entries.size() > kMostRuntimes) {
    map.error("features", fmt::format("are of more than {} runtimes", kMostRuntimes));
  }
  for (YamlMap& entry : entries) {
    RuntimeFeatures features{.runtime = read_short(entry, "runtime", kMostOfAName)};
    for (const FeatureKey& key : feature_keys()) {
      features.*key.cell = read_feature(entry, key.key);
    }
    entry.finish();
    runtimes.push_back(std::move(features));
  }
  return runtimes;
}

Alignment read_alignment(YamlMap& map) {
  const Bytes bytes = map.bytes("alignment", 1_B, 1_MiB).value_or(1_B);
  if (std::has_single_bit(static_cast<uint64_t>(bytes.count())))
    return Alignment::of(bytes.count());
  map.error("alignment", fmt::format("{} is not a power of two", format_bytes(bytes)));
  return {};
}

// Only the textbook reckons the runtime as a share of the rest.
double read_runtime_ratio(YamlMap& map, EnginePolicy policy) {
  if (policy == EnginePolicy::kTextbook) {
    const double ratio = map.ratio("runtime_ratio").value_or(0.0);
    if (ratio > 1.0) map.error("runtime_ratio", "is more than 100 %");
    return ratio;
  }
  if (map.has("runtime_ratio")) {
    map.error("runtime_ratio", "belongs to policy textbook",
              "a planned engine states runtime_fixed alone");
  }
  return 0.0;
}

void read_optional(YamlMap& map, EngineProfile& engine) {
  if (map.has("weights")) engine.weights_in = read_choice(map, "weights", kPlaces);
  if (map.has("embedding")) {
    engine.embedding_in_flash =
        read_choice<bool, 2>(map, "embedding", {{{"resident", false}, {"flash", true}}});
  }
  if (map.has("kv_spill")) {
    engine.kv_spill = read_choice<KvSpill, 3>(map, "kv_spill",
                                              {{{"none", KvSpill::kNone},
                                                {"mapped_file", KvSpill::kMappedFile},
                                                {"read_ahead", KvSpill::kReadAhead}}});
  }
  if (map.has("runtime_file")) {
    engine.runtime_file =
        map.bytes("runtime_file", 0_B, std::max(engine.runtime_fixed, 0_B)).value_or(0_B);
  }
  if (map.has("kv_block")) engine.kv_block = map.integer("kv_block", 1, 65536).value_or(1);
  for (auto [key, share] : {std::pair{"memory_share", &engine.memory_share},
                            std::pair{"free_share", &engine.free_share}}) {
    if (!map.has(key)) continue;
    *share = map.ratio(key).value_or(0.0);
    if (*share > 1.0) map.error(key, "is more than 100 %");
  }
  if (map.has("default_context")) {
    engine.context_as_trained =
        read_choice<bool, 2>(map, "default_context", {{{"usual", false}, {"trained", true}}});
  }
  constexpr int64_t kMostTokens = int64_t{1} << 24;
  if (map.has("batch_size")) {
    engine.batch_size = map.integer("batch_size", 1, kMostTokens).value_or(engine.batch_size);
  }
  if (map.has("ubatch_size")) {
    engine.ubatch_size = map.integer("ubatch_size", 1, kMostTokens).value_or(engine.ubatch_size);
  }
  engine.uncertain = read_uncertain(map);
  engine.features = read_features(map);
  if (!map.has("not_modelled")) return;
  for (YamlText& sentence : map.text_list("not_modelled").value_or(std::vector<YamlText>{})) {
    engine.not_modelled.push_back(std::move(sentence.text));
  }
}

}  // namespace

Result<EngineProfile> parse_engine(const std::string& file, std::string_view text) {
  YamlDocument document(file, text);
  std::optional<YamlMap> map = document.root();
  if (!map || !is_schema(*map, "engine/1")) return document.diagnostics();
  EngineProfile engine;
  engine.name = map->text("name").value_or("");
  engine.version = map->text("version").value_or("");
  engine.summary = map->text("summary").value_or("");
  engine.source = map->text("source").value_or("");
  engine.policy = read_choice(*map, "policy", kPolicies);
  engine.activations = read_choice(*map, "activations", kActivations);
  engine.runtime_fixed = map->bytes("runtime_fixed").value_or(Bytes{});
  engine.runtime_ratio = read_runtime_ratio(*map, engine.policy);
  engine.alignment = read_alignment(*map);
  if (map->has("kv_cell_multiple")) {
    engine.kv_cell_multiple = map->integer("kv_cell_multiple", 1, 65536).value_or(1);
  }
  engine.flash_attention = map->boolean("flash_attention").value_or(false);
  engine.type_k = read_dtype(*map, "cache_type_k", DTypeUse::kCache).value_or(DType::kF16);
  engine.type_v = read_dtype(*map, "cache_type_v", DTypeUse::kCache).value_or(DType::kF16);
  engine.type_act =
      read_dtype(*map, "activation_type", DTypeUse::kActivations).value_or(DType::kF32);
  read_optional(*map, engine);
  map->finish();
  if (has_errors(document.diagnostics())) return document.diagnostics();
  return engine;
}

Result<EngineProfile> load_engine(std::string_view name_or_path) {
  return load_with(ConfigKind::kEngine, name_or_path, parse_engine);
}

}  // namespace tidemark

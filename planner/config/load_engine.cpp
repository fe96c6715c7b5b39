// schema: engine/1.
#include <fmt/core.h>

#include <array>
#include <bit>

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

template <typename Value>
Value read_choice(YamlMap& map, std::string_view key, const std::array<Choice<Value>, 2>& choices) {
  const std::optional<std::string> text = map.text(key);
  for (const Choice<Value>& choice : choices) {
    if (text == choice.name) return choice.value;
  }
  if (text) {
    map.error(key, fmt::format("{} is neither {} nor {}", in_quotes(*text), choices[0].name,
                               choices[1].name));
  }
  return choices[0].value;
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
  engine.policy = read_choice<EnginePolicy>(
      *map, "policy",
      {{{"planned", EnginePolicy::kPlanned}, {"textbook", EnginePolicy::kTextbook}}});
  engine.activations = read_choice<ActivationPolicy>(
      *map, "activations",
      {{{"arena", ActivationPolicy::kArena}, {"live", ActivationPolicy::kLive}}});
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
  map->finish();
  if (has_errors(document.diagnostics())) return document.diagnostics();
  return engine;
}

Result<EngineProfile> load_engine(std::string_view name_or_path) {
  return load_with(ConfigKind::kEngine, name_or_path, parse_engine);
}

}  // namespace tidemark

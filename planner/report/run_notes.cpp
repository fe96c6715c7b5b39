#include "planner/report/run_notes.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "planner/base/units.h"
#include "planner/capacity/kept_weights.h"

namespace tidemark {
namespace {

bool is_stated(const Setting& setting) { return !setting.origin.starts_with("default"); }

// Those of `keys` that were stated, joined by commas.
std::string stated_of(const Scenario& scenario, std::span<const std::string_view> keys) {
  std::string names;
  for (const Setting& setting : scenario.settings) {
    if (!is_stated(setting) || std::ranges::find(keys, setting.key) == keys.end()) continue;
    names += (names.empty() ? "" : ", ") + setting.key;
  }
  return names;
}

std::string strategy_note(const Scenario& scenario) {
  std::vector<std::string_view> ignored;
  if (scenario.strategy != StrategyKind::kChunked) ignored.emplace_back("chunk");
  if (!keeps_what_fits(scenario.strategy)) ignored.emplace_back("prefetch");
  if (!keeps_what_fits(scenario.strategy)) ignored.emplace_back("cache_size");
  // Mapped pages are used as they lie.
  if (scenario.strategy == StrategyKind::kMmap) ignored.emplace_back("initialise");
  const bool has_cache =
      scenario.strategy == StrategyKind::kBlockCache || scenario.residency.caches_experts();
  if (!has_cache) ignored.emplace_back("cache_policy");
  if (scenario.strategy != StrategyKind::kBlockCache) {
    ignored.emplace_back("pinned");
  }
  const std::string names = stated_of(scenario, ignored);
  if (names.empty()) return "";
  return fmt::format("Strategy {} has no such choices and ignores: {}.", name_of(scenario.strategy),
                     names);
}

std::string cores_note(const Scenario& scenario) {
  if (!scenario.device.cores.empty()) return "";
  static constexpr std::string_view kKeys[] = {"cores", "threads"};
  const std::string names = stated_of(scenario, kKeys);
  if (names.empty()) return "";
  return fmt::format("Device {} states no cores and ignores: {}.", scenario.device.name, names);
}

// Read by what the settings say of themselves: the number asked for is not kept.
std::string threads_note(const Scenario& scenario) {
  const auto threads = std::ranges::find(scenario.settings, "threads", &Setting::key);
  if (threads == scenario.settings.end() ||
      !threads->origin.ends_with(", held to the device's cores"))
    return "";
  return fmt::format(
      "More threads were asked for than there are cores: {} compute, one on each; more would take "
      "turns.",
      threads->value);
}

// Storage bounds a mapped file, but two measurements may say otherwise.
std::string mapped_note(const Scenario& scenario) {
  const DeviceSpec& device = scenario.device;
  if (scenario.strategy != StrategyKind::kMmap || !device.mapped_read) return "";
  BytesPerSecond fastest = device.flash_read;
  for (const StoragePoint& point : device.storage) fastest = std::max(fastest, point.rate);
  if (*device.mapped_read <= fastest) return "";
  return fmt::format(
      "The device states that a mapped file comes at {} (mapped_read), faster than its storage "
      "reads, {} at most; the run believes it.",
      format_bandwidth(*device.mapped_read), format_bandwidth(fastest));
}

// Memory that is at hand does not take longer than memory that is not; two lines that changed
// places say so.
std::string reused_note(const Scenario& scenario) {
  const DeviceSpec& device = scenario.device;
  if (scenario.strategy == StrategyKind::kMmap || !device.fresh_memory) return "";
  const BytesPerSecond fresh = *device.fresh_memory;
  const BytesPerSecond reused = device.reused_memory.value_or(fresh);
  if (reused >= fresh) return "";
  return fmt::format(
      "The device states that memory given back before comes at {} (reused_memory), slower than "
      "new memory, {} (fresh_memory); the run believes it.",
      format_bandwidth(reused), format_bandwidth(fresh));
}

// Reads from a warm page cache take it that all of the file is there, beside the run. A mapping
// knows better.
std::string warm_note(const Scenario& scenario, const MemoryPlan& plan) {
  if (!scenario.load.is_cached || scenario.strategy == StrategyKind::kMmap) return "";
  Bytes file;
  for (const WeightUnit& unit : plan.units) file += unit.bytes;
  const Bytes run = plan.breakdown.total();
  const Bytes memory = scenario.device.ram_total;
  if (file <= memory - std::min(run, memory)) return "";
  return fmt::format(
      "The page cache is taken to hold the whole weight file, {}, which does not fit in {} of "
      "memory beside the run's own {}: reads from storage would be slower.",
      format_bytes(file), format_bytes(memory), format_bytes(run));
}

// Towers and encoders are phases of the plan that a run does not make.
std::string encode_note(const MemoryPlan& plan) {
  std::string names;
  for (const PhasePlan& phase : plan.encodes) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(phase));
  }
  if (names.empty()) return "";
  return fmt::format("Not run, so in neither time nor reads: {}.", names);
}

std::string encoder_note(const Scenario& scenario) {
  const TransformerSpec* spec = scenario.model.transformer();
  if (spec == nullptr || spec->is_causal) return "";
  return "The model is an encoder: the first token stands for its output, and passes after it for "
         "more inputs of one token.";
}

}  // namespace

std::string ignored_note(const Scenario& scenario) {
  std::vector<std::string_view> ignored;
  if (scenario.engine.policy != EnginePolicy::kLlamaCpp) {
    ignored = {"n_gpu_layers", "cpu_moe",   "n_cpu_moe",     "override_tensor",   "tensor_split",
               "split_mode",   "main_gpu",  "no_op_offload", "no_mmap",           "mlock",
               "repack",       "no_repack", "mmproj",        "no_mmproj_offload", "model_draft"};
  }
  if (scenario.engine.kv_spill == KvSpill::kNone) ignored.emplace_back("kv_resident");
  std::string names;
  for (const Setting& setting : scenario.settings) {
    for (const std::string_view key : ignored) {
      if (setting.key == key) names += (names.empty() ? "" : ", ") + setting.key;
    }
  }
  if (names.empty()) return "";
  return fmt::format("Engine {} has no such choices and ignores: {}.", scenario.engine.name, names);
}

std::string not_planned(const Scenario& scenario) {
  std::vector<std::string_view> keys{"offload"};
  if (scenario.residency.processes > 1) keys.emplace_back("processes");
  if (!keeps_in_part(scenario)) keys.insert(keys.end(), {"expert_cache", "hot_rows", "cold_rows"});
  return stated_of(scenario, keys);
}

std::string run_only_note(const Scenario& scenario) {
  const std::string names = not_planned(scenario);
  if (names.empty()) return "";
  return fmt::format(
      "The plan is of all weights in one process; what these change, simulate shows: {}.", names);
}

std::string kept_note(const Scenario& scenario, const MemoryPlan& plan) {
  if (!keeps_in_part(scenario)) return "";
  const Bytes all =
      resident_weight_bytes(StrategyKind::kResident, plan.units, plan.decode.uses, {});
  const Bytes kept = kept_weight_bytes(scenario, plan.units, plan.weights);
  if (kept == all) return "";
  return fmt::format(
      "Weights are what is kept, {} with {}; all of them are {}.", format_bytes(kept),
      scenario.residency.rows ? "the cold rows of one layer at a time while a prompt is read"
                              : "the experts' caches full",
      format_bytes(all));
}

std::string format_note(const Scenario& scenario) {
  const Quantization int8{.kind = QuantKind::kFormat, .format = DType::kInt8};
  const auto is_product = [](const OpRate& rate) { return rate.kind == OpKind::kMatMul; };
  if (scenario.quant == int8 || std::ranges::none_of(scenario.device.op_rates, is_product)) {
    return "";
  }
  return fmt::format(
      "Products take the time that device {} was measured with, of int8 weights (op_rates): {} may "
      "take longer.",
      scenario.device.name, name_of(scenario.quant));
}

std::vector<std::string> run_notes(const Scenario& scenario, const MemoryPlan& plan) {
  std::vector<std::string> notes;
  for (std::string note :
       {ignored_note(scenario), strategy_note(scenario), cores_note(scenario),
        threads_note(scenario), mapped_note(scenario), warm_note(scenario, plan),
        reused_note(scenario), encode_note(plan), encoder_note(scenario), format_note(scenario)}) {
    if (!note.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace tidemark

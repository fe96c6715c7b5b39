#include "sim/replay/idle_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "planner/capacity/memory_plan.h"

namespace tidemark {
namespace {

using Scenarios = std::span<const Scenario>;

struct IdleRule {
  std::vector<std::string_view> keys{};
  bool (*counts)(Scenarios scenarios, bool timed) = nullptr;  // null = never
  std::string_view reason{};
};

// Of a timed replay: what is predicted heeds these, and what runs here does not.
struct PredictedRule {
  std::vector<std::string_view> keys{};
  bool (*is_replayed)(Scenarios scenarios) = nullptr;  // null = never
  std::string_view reason{};
};

bool any_of(Scenarios scenarios, StrategyKind strategy) {
  return std::ranges::any_of(
      scenarios, [strategy](const Scenario& scenario) { return scenario.strategy == strategy; });
}

bool any_mapped(Scenarios scenarios, bool) { return any_of(scenarios, StrategyKind::kMmap); }

bool any_block_cache(Scenarios scenarios, bool) {
  return any_of(scenarios, StrategyKind::kBlockCache);
}

bool any_chunked(Scenarios scenarios, bool) { return any_of(scenarios, StrategyKind::kChunked); }

bool any_keeps_what_fits(Scenarios scenarios, bool) {
  return std::ranges::any_of(
      scenarios, [](const Scenario& scenario) { return keeps_what_fits(scenario.strategy); });
}

bool any_fills_a_limit(Scenarios scenarios, bool) {
  return std::ranges::any_of(scenarios, [](const Scenario& scenario) {
    return keeps_what_fits(scenario.strategy) && scenario.cache.capacity == Bytes{};
  });
}

bool any_asks_the_device(Scenarios scenarios, bool timed) {
  return timed || any_mapped(scenarios, timed) || any_fills_a_limit(scenarios, timed);
}

bool any_grows(Scenarios scenarios, bool) {
  return std::ranges::any_of(scenarios,
                             [](const Scenario& scenario) { return scenario.kv_in_blocks; });
}

// A layer keeps fewer cells than the context has.
bool any_window(Scenarios scenarios, bool) {
  return std::ranges::any_of(scenarios, [](const Scenario& scenario) {
    const TransformerSpec* model = scenario.model.transformer();
    StateOptions options = state_options(scenario);
    options.swa_full = false;
    return model != nullptr && std::ranges::any_of(model->layers, [&](const LayerSpec& layer) {
             const int64_t cells = cells_of(layer, options);
             return cells > 0 && cells < options.n_cells;
           });
  });
}

bool are_timed(Scenarios, bool timed) { return timed; }

bool any_mapped_or_timed(Scenarios scenarios, bool timed) {
  return timed || any_mapped(scenarios, timed);
}

bool all_mapped(Scenarios scenarios) {
  return std::ranges::all_of(
      scenarios, [](const Scenario& scenario) { return scenario.strategy == StrategyKind::kMmap; });
}

const std::vector<IdleRule>& rules() {
  static const std::vector<IdleRule> kRules{
      {.keys = {"n_gpu_layers",
                "cpu_moe",
                "n_cpu_moe",
                "override_tensor",
                "tensor_split",
                "split_mode",
                "main_gpu",
                "no_op_offload",
                "no_mmap",
                "mlock",
                "repack",
                "no_repack",
                "mmproj",
                "no_mmproj_offload",
                "model_draft",
                "quant_draft",
                "ctx_size_draft",
                "cache_type_k_draft",
                "cache_type_v_draft",
                "n_gpu_layers_draft"},
       .reason = "heeded by engines of llama.cpp alone"},
      {.keys = {"kv_unified"}, .reason = "one sequence has one cache"},
      {.keys = {"swa_full"},
       .counts = any_window,
       .reason = "every layer keeps the whole context as it is"},
      {.keys = {"load_overlap"}, .reason = "what is read is used as it lies"},
      {.keys = {"kv_block"},
       .counts = any_grows,
       .reason = "the cache is there from the start without --kv-growth blocks"},
      {.keys = {"chunk"}, .counts = any_chunked, .reason = "only strategy chunked takes chunks"},
      {.keys = {"prefetch"}, .counts = any_mapped, .reason = "only strategy mmap asks ahead"},
      {.keys = {"cache_policy", "pinned"},
       .counts = any_block_cache,
       .reason = "only strategy block-cache chooses whom to evict"},
      {.keys = {"cache_size"},
       .counts = any_keeps_what_fits,
       .reason = "only strategies mmap and block-cache keep what fits"},
      {.keys = {"budget"},
       .counts = any_fills_a_limit,
       .reason = "only strategies mmap and block-cache, without --cache-size, fill what it leaves; "
                 "--memory-limit is a limit on the run"},
      {.keys = {"margin"},
       .counts = any_fills_a_limit,
       .reason = "only strategies mmap and block-cache, without --cache-size, fill what it leaves"},
      {.keys = {"device"},
       .counts = any_asks_the_device,
       .reason = "what is resident is the same on all; --compare-time compares its times"},
      {.keys = {"read_order"},
       .counts = any_mapped_or_timed,
       .reason = "only strategy mmap reads in another order"},
      {.keys = {"read_size", "read_depth", "threads", "cores"},
       .counts = are_timed,
       .reason = "heeded by the times of --compare-time alone"}};
  return kRules;
}

const std::vector<PredictedRule>& predicted_rules() {
  static const std::vector<PredictedRule> kRules{
      {.keys = {"read_size", "read_depth"}, .reason = "a unit is read in one piece"},
      {.keys = {"read_order"},
       .is_replayed = all_mapped,
       .reason = "only strategy mmap reads in another order"},
      {.keys = {"threads", "cores"}, .reason = "one thread computes"}};
  return kRules;
}

// As its user wrote it: "--chunk", "--set chunk", "TIDEMARK_CHUNK", and "chunk" in a file. Empty
// for what nobody gave.
std::string given_name(const Setting& setting) {
  const std::string_view origin(setting.origin);
  for (const std::string_view by : {"flag ", "environment "}) {
    if (!origin.starts_with(by)) continue;
    return std::string(origin.substr(by.size(), origin.find(',') - by.size()));
  }
  return origin.starts_with("scenario ") ? setting.key : "";
}

std::string names_given(const Scenario& scenario, std::span<const std::string_view> keys) {
  std::string names;
  for (const Setting& setting : scenario.settings) {
    if (std::ranges::find(keys, setting.key) == keys.end()) continue;
    const std::string name = given_name(setting);
    if (!name.empty()) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

}  // namespace

std::vector<std::string> idle_settings(std::span<const Scenario> scenarios, bool timed) {
  std::vector<std::string> sentences;
  if (scenarios.empty()) return sentences;
  for (const IdleRule& rule : rules()) {
    if (rule.counts != nullptr && rule.counts(scenarios, timed)) continue;
    const std::string names = names_given(scenarios.front(), rule.keys);
    if (names.empty()) continue;
    sentences.push_back(fmt::format("{}: no effect on this replay, {}", names, rule.reason));
  }
  for (const PredictedRule& rule : predicted_rules()) {
    if (!timed || (rule.is_replayed != nullptr && rule.is_replayed(scenarios))) continue;
    const std::string names = names_given(scenarios.front(), rule.keys);
    if (names.empty()) continue;
    sentences.push_back(
        fmt::format("{}: heeded by the predicted times alone; here {}", names, rule.reason));
  }
  return sentences;
}

}  // namespace tidemark

#include "sim/strategy/run_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planner/base/units.h"
#include "planner/capacity/device_units.h"
#include "sim/memory/make_policy.h"

namespace tidemark {
namespace {

std::vector<Bytes> sizes_of(const std::vector<WeightUnit>& units) {
  std::vector<Bytes> sizes;
  sizes.reserve(units.size());
  for (const WeightUnit& unit : units) sizes.push_back(unit.bytes);
  return sizes;
}

std::unique_ptr<EvictionPolicy> policy_of(const Scenario& scenario, const Itinerary& itinerary,
                                          const std::vector<Bytes>& sizes) {
  std::vector<UnitId> sequence;
  if (scenario.cache.policy == CachePolicy::kNextUse) {
    const int64_t visits = itinerary.visits();
    sequence.reserve(static_cast<size_t>(visits));
    for (int64_t visit = 0; visit < visits; ++visit) sequence.push_back(itinerary.unit_at(visit));
  }
  return make_policy(name_of(scenario.cache.policy),
                     {.sizes = sizes, .sequence = sequence, .seed = scenario.seed});
}

// What the run will read, by unit: everything before the first pass, or what is visited. Parts that
// come and go are the units behind the plan's, and do not count.
std::vector<Bytes> bytes_to_come(const Scenario& scenario, const std::vector<WeightUnit>& units,
                                 size_t planned, const RunInput& input) {
  std::vector<Bytes> sizes = sizes_of(units);
  std::fill(sizes.begin() + static_cast<std::ptrdiff_t>(planned), sizes.end(), Bytes{});
  if (scenario.strategy == StrategyKind::kResident) return sizes;
  std::vector<bool> is_visited(sizes.size(), false);
  for (const UnitId unit : input.itinerary.prefill) is_visited[unit.index()] = true;
  if (input.itinerary.decode_passes > 0) {
    for (const UnitId unit : input.itinerary.decode) is_visited[unit.index()] = true;
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!is_visited[i]) sizes[i] = Bytes{};
  }
  return sizes;
}

}  // namespace

bool weights_stay_in_file(const Scenario& scenario) {
  if (scenario.strategy != StrategyKind::kResident) return false;
  if (scenario.residency.caches_experts() || scenario.residency.rows) return false;
  return scenario.engine.policy == EnginePolicy::kLlamaCpp
             ? scenario.llama.mapped && !scenario.llama.locked
             : scenario.engine.weights_in == WeightsIn::kFile;
}

RunWeights::RunWeights(Simulation& simulation, const Scenario& scenario, const MemoryPlan& plan,
                       const RunInput& input, MemoryLedger& ledger, Trace* trace)
    : scenario_(scenario),
      plan_(plan),
      input_(input),
      ledger_(ledger),
      experts_(scenario.residency.caches_experts() ? expert_units(scenario, plan) : std::nullopt),
      rows_(scenario.residency.rows ? std::optional(row_units(scenario, plan)) : std::nullopt),
      progress_(simulation, bytes_to_come(scenario, units(), plan.units.size(), input),
                scenario.load.initialise > BytesPerSecond{}),
      store_(simulation, scenario, units(), ledger, trace),
      prefetch_{.depth = scenario.load.prefetch} {
  store_.tell(&progress_);
  if (!scenario.residency.is_split()) return;
  files_ = weight_files(plan.units, plan.weights, scenario.residency);
  store_.lie_in(&*files_);
}

const std::vector<WeightUnit>& RunWeights::units() const {
  if (experts_) return experts_->units;
  return rows_ ? rows_->units : plan_.units;
}

std::unique_ptr<WeightLoader> RunWeights::make_resident_part() {
  if (experts_) {
    expert_caches_.emplace(scenario_, *experts_, input_);
    return make_expert_loader(store_, input_, *experts_, *expert_caches_);
  }
  if (rows_) return make_row_loader(store_, scenario_, input_, *rows_);
  return make_resident_loader(store_, static_cast<int64_t>(plan_.units.size()));
}

std::unique_ptr<WeightLoader> RunWeights::make_loader() {
  const Itinerary& itinerary = input_.itinerary;
  switch (scenario_.strategy) {
    case StrategyKind::kResident:
      return make_resident_part();
    case StrategyKind::kLayerwise:
      return make_layerwise_loader(store_, itinerary);
    case StrategyKind::kDoubleBuffer:
    case StrategyKind::kChunked:
      return make_double_buffer_loader(store_, itinerary);
    case StrategyKind::kMmap:
      if (mapped_) {
        mapped_->open_again();
      } else {
        mapped_.emplace(scenario_, plan_.units, input_.cache_capacity, files_ ? &*files_ : nullptr);
        mapped_->on_device = units_on_device(scenario_, plan_.units, plan_.weights);
      }
      return make_mmap_loader(store_, itinerary, *mapped_, ledger_);
    case StrategyKind::kBlockCache:
      break;
  }
  std::vector<Bytes> sizes = sizes_of(plan_.units);
  std::unique_ptr<EvictionPolicy> policy = policy_of(scenario_, itinerary, sizes);
  cache_.emplace(std::move(sizes), input_.cache_capacity, std::move(policy), input_.pinned);
  return make_block_cache_loader(store_, itinerary, *cache_, prefetch_);
}

void RunWeights::add_to(SimReport& report) {
  report.bytes_read = store_.bytes_read();
  report.events = progress_.take_events();
  if (files_) report.notes.push_back(split_note(*files_, scenario_.device.flash_latency));
  if (mapped_) {
    report.page_faults = mapped_->cache.totals().major_faults;
    report.minor_faults = mapped_->cache.totals().minor_faults;
    if (mapped_->dropped_unused > Bytes{}) {
      report.notes.push_back(
          fmt::format("Read ahead and dropped before use: {}. A smaller --prefetch, or more room "
                      "for the file's pages, reads less.",
                      format_bytes(mapped_->dropped_unused)));
    }
  }
  if (expert_caches_) expert_caches_->add_to(report, input_.passes.decode);
  if (rows_) report.rows = cold_row_facts(*rows_, scenario_.residency.rows->bundled);
  if (cache_) add_cache(report);
}

void RunWeights::add_cache(SimReport& report) const {
  const CacheStats& stats = cache_->stats();
  report.cache_policy = name_of(scenario_.cache.policy);
  report.cache_hits = stats.hits;
  report.cache_misses = stats.misses;
  report.cache_evictions = stats.evictions;
  const int64_t accesses = stats.hits + stats.misses;
  if (accesses > 0)
    report.hit_rate = static_cast<double>(stats.hits) / static_cast<double>(accesses);
  if (scenario_.load.prefetch == 0) return;
  report.prefetch =
      PrefetchFacts{.begun = stats.prefetches, .late = prefetch_.late, .lost = stats.lost};
}

}  // namespace tidemark

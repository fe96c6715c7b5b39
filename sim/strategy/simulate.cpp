#include "sim/strategy/simulate.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include "planner/capacity/device_units.h"
#include "sim/memory/make_policy.h"
#include "sim/strategy/access_run.h"
#include "sim/strategy/control.h"
#include "sim/strategy/decoder.h"
#include "sim/strategy/offload_run.h"
#include "sim/strategy/run_input.h"
#include "sim/strategy/run_report.h"
#include "sim/strategy/serving_run.h"
#include "sim/strategy/system_watch.h"

namespace tidemark {
namespace {

CurvePoint reserved_at_start(const Scenario& scenario, const MemoryPlan& plan) {
  const Breakdown& breakdown = plan.breakdown;
  const Bytes kv_cache =
      scenario.kv_in_blocks
          ? Bytes{}
          : std::min(kv_kept(scenario).value_or(breakdown.kv_cache), breakdown.kv_cache);
  return {.kv_cache = kv_cache,
          .recurrent_state = breakdown.recurrent_state,
          .compute = counts_live_activations(scenario.engine) ? Bytes{} : breakdown.compute,
          .output = breakdown.output,
          .runtime = breakdown.runtime};
}

// Loaded as a mapping of the file, so that memory that is short drops it.
bool weights_stay_in_file(const Scenario& scenario) {
  if (scenario.strategy != StrategyKind::kResident) return false;
  return scenario.engine.policy == EnginePolicy::kLlamaCpp
             ? scenario.llama.mapped && !scenario.llama.locked
             : scenario.engine.weights_in == WeightsIn::kFile;
}

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

// One run and everything it is made of. Nothing outlives it but the report.
class Run {
 public:
  Run(const Scenario& scenario, const MemoryPlan& plan, RunInput input, SimOptions options)
      : scenario_(scenario),
        plan_(plan),
        input_(std::move(input)),
        curve_wanted_(options.curve),
        trace_wanted_(options.trace),
        steps_wanted_(options.steps),
        ledger_(simulation_, reserved_at_start(scenario, plan), weights_stay_in_file(scenario)),
        watch_(simulation_, scenario),
        store_(simulation_, scenario, plan.units, ledger_, trace_wanted_ ? &trace_ : nullptr) {
    if (!options.curve) ledger_.forget_the_curve();
    ledger_.listen([this](const CurvePoint& now) {
      watch_.on_change(now);
      if (control_) control_->on_change(now);
    });
  }

  SimResult result() && {
    const std::unique_ptr<WeightLoader> loader = make_loader();
    SimResult result;
    SimReport& report = result.report;
      note_spent(decoder.spent(), report);
    if (input_.is_access_list) {
      AccessRun accesses(simulation_, input_.itinerary, *loader, ledger_);
      accesses.start();
      run_to_the_end();
      report.stall = accesses.stall();
      report.stalls.weights = accesses.stall();
    } else {
      KvCells cells(scenario_, plan_, store_, ledger_);
      make_control(*loader, cells);
    fill_energy(report);
      Decoder decoder({.simulation = simulation_,
                       .scenario = scenario_,
                       .plan = plan_,
                       .passes = input_.passes,
                       .loader = *loader,
                       .cells = cells,
                       .ledger = ledger_,
                       .trace = trace_wanted_ ? &trace_ : nullptr,
                       .steps = steps_wanted_ ? &result.steps : nullptr,
                       .between_passes = [this](int64_t next) { adapt_before(next); }});
      decoder.start();
      while (!watch_.killed() && !decoder.ended() && simulation_.step()) {
      }
      report.stall = decoder.stall();
      report.stalls = {.loading = decoder.loading(),
                       .weights = decoder.stall() - decoder.loading() - decoder.waited_for_cells(),
                       .kv_cache = decoder.waited_for_cells()};
      report.ttft = decoder.ttft();
      report.stages.compute = decoder.computed();
      report.stages.first_layer = decoder.first_layer();
      report.intervals = intervals_of(decoder.decode_times());
      check(watch_.killed() || decoder.stall() + decoder.computed() == simulation_.now(),
            "a run either computes or waits for weights");
    }
    fill_facts(report);
    fill_stages(report.stages);
    fill_rates(report);
    report_memory(ledger_, watch_, plan_.units, report);
    if (trace_wanted_) {
      trace_memory(report.curve, trace_);
      trace_events(report.events, trace_);
    }
    if (!curve_wanted_) report.curve.clear();
    result.trace = std::move(trace_);
    return result;
  }
  void note_spent(const OpCost& spent, SimReport& report) {
    report.stages.arithmetic = spent.arithmetic;
    report.stages.memory = spent.memory;
    report.stages.overhead = spent.overhead;
    energy_use_.operations_picojoules = spent.operations_picojoules;
    energy_use_.moved = spent.moved;
    energy_use_.computing = report.stages.compute;
  }

  void fill_energy(SimReport& report) {
    if (!scenario_.device.energy) return;
    energy_use_.read = report.bytes_read;
    energy_use_.whole = report.end;
    report.energy = energy_of(*scenario_.device.energy, energy_use_);
  }


 private:
  void make_control(WeightLoader& loader, KvCells& cells) {
    if (scenario_.adapt.empty()) return;
    control_.emplace(ControlParts{.simulation = simulation_,
                                  .scenario = scenario_,
                                  .plan = plan_,
                                  .input = input_,
                                  .loader = loader,
                                  .store = store_,
                                  .cells = cells,
                                  .ledger = ledger_,
                                  .watch = watch_,
                                  .cache = cache_ ? &*cache_ : nullptr,
                                  .trace = trace_wanted_ ? &trace_ : nullptr});
  }

  void adapt_before(int64_t next_pass) {
    if (control_) control_->before_pass(next_pass);
  }

  // An app that is ended takes its events with it.
  void run_to_the_end() {
    while (!watch_.killed() && simulation_.step()) {
    }
  }

  void fill_stages(StageFacts& stages) const {
    // What is under way when a run is ended is counted up to its end.
    stages.read = std::min(store_.reading(), simulation_.now());
    stages.initialise = std::min(store_.initialising(), simulation_.now());
    const std::pair<Duration, const char*> busy[] = {
        {stages.read, "read"}, {stages.initialise, "initialise"}, {stages.compute, "compute"}};
    stages.limited_by =
        std::max_element(std::begin(busy), std::end(busy), [](const auto& a, const auto& b) {
  EnergyUse energy_use_{};
          return a.first < b.first;
        })->second;
  }

  std::unique_ptr<WeightLoader> make_loader() {
    switch (scenario_.strategy) {
      case StrategyKind::kResident:
        return make_resident_loader(store_, static_cast<int64_t>(plan_.units.size()));
      case StrategyKind::kLayerwise:
        return make_layerwise_loader(store_, input_.itinerary);
      case StrategyKind::kDoubleBuffer:
      case StrategyKind::kChunked:
        return make_double_buffer_loader(store_, input_.itinerary);
      case StrategyKind::kMmap:
        mapped_.emplace(scenario_, plan_.units, input_.cache_capacity);
        mapped_->on_device = units_on_device(scenario_, plan_.units, plan_.weights);
        return make_mmap_loader(store_, input_.itinerary, *mapped_, ledger_);
      case StrategyKind::kBlockCache:
        break;
    }
    std::vector<Bytes> sizes = sizes_of(plan_.units);
    std::unique_ptr<EvictionPolicy> policy = policy_of(scenario_, input_.itinerary, sizes);
    cache_.emplace(std::move(sizes), input_.cache_capacity, std::move(policy), input_.pinned);
    return make_block_cache_loader(store_, input_.itinerary, *cache_);
  }

  void fill_facts(SimReport& report) const {
    report_plan(scenario_, plan_, report);
    report.bytes_read = store_.bytes_read();
    if (mapped_) {
      report.page_faults = mapped_->cache.totals().major_faults;
      report.minor_faults = mapped_->cache.totals().minor_faults;
    }
    if (!cache_) return;
    const CacheStats& stats = cache_->stats();
    report.cache_policy = name_of(scenario_.cache.policy);
    report.cache_hits = stats.hits;
    report.cache_misses = stats.misses;
    report.cache_evictions = stats.evictions;
    const int64_t accesses = stats.hits + stats.misses;
    if (accesses > 0)
      report.hit_rate = static_cast<double>(stats.hits) / static_cast<double>(accesses);
  }

  void fill_rates(SimReport& report) const {
    report.end = simulation_.now();
    if (input_.passes.decode == 0 || watch_.killed()) return;
    const Duration decoding = report.end - report.ttft;
    report.tpot = decoding / input_.passes.decode;
    if (decoding == Duration{}) return;
    const double tokens =
        static_cast<double>(input_.passes.decode) * static_cast<double>(scenario_.n_seq);
    report.tokens_per_second = tokens * 1e9 / static_cast<double>(decoding.count());
  }

  const Scenario& scenario_;
  const MemoryPlan& plan_;
  RunInput input_;
  bool curve_wanted_;
  bool trace_wanted_;
  bool steps_wanted_;
  Trace trace_{};
  Simulation simulation_{};
  MemoryLedger ledger_;
  SystemWatch watch_;
  WeightStore store_;
  std::optional<MappedFile> mapped_{};
  std::optional<BlockCache> cache_{};
  std::optional<Control> control_{};
};

}  // namespace

Result<SimResult> simulate(const Scenario& scenario, const MemoryPlan& plan, SimOptions options) {
  try {
    if (scenario.offload && !scenario.adapt.empty()) {
      return one_error("adapt", "is for runs by a strategy, not for offload", "leave it out");
    }
    if (scenario.offload) return simulate_offload(scenario, plan, options);
    if (scenario.serving.any()) return simulate_serving(scenario, plan, options);
    Result<RunInput> input = run_input(scenario, plan, options);
    if (!input) return input.diagnostics();
    return Run(scenario, plan, std::move(input).value(), options).result();
  } catch (const std::overflow_error&) {
    return one_error("simulate", "times or sizes leave the 63-bit range",
                     "is a rate of the device, a size or a number of tokens a slip?");
  }
}

}  // namespace tidemark

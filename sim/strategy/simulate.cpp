#include "sim/strategy/simulate.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "planner/base/units.h"
#include "planner/report/parts.h"
#include "sim/memory/make_policy.h"
#include "sim/strategy/access_run.h"
#include "sim/strategy/decoder.h"
#include "sim/strategy/run_input.h"

namespace tidemark {
namespace {

CurvePoint reserved_at_start(const Scenario& scenario, const MemoryPlan& plan) {
  const Breakdown& breakdown = plan.breakdown;
  return {.kv_cache = breakdown.kv_cache,
          .recurrent_state = breakdown.recurrent_state,
          .compute = counts_live_activations(scenario.engine) ? Bytes{} : breakdown.compute,
          .output = breakdown.output,
          .runtime = breakdown.runtime};
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
        trace_wanted_(options.trace),
        steps_wanted_(options.steps),
        ledger_(simulation_, reserved_at_start(scenario, plan)),
        store_(simulation_, scenario.device, plan.units, ledger_,
               trace_wanted_ ? &trace_ : nullptr) {}

  SimResult result() && {
    const std::unique_ptr<WeightLoader> loader = make_loader();
    SimResult result;
    SimReport& report = result.report;
    if (input_.is_access_list) {
      AccessRun accesses(simulation_, input_.itinerary, *loader, ledger_);
      accesses.start();
      simulation_.run();
      report.stall = accesses.stall();
    } else {
      Decoder decoder({.simulation = simulation_,
                       .scenario = scenario_,
                       .plan = plan_,
                       .passes = input_.passes,
                       .loader = *loader,
                       .ledger = ledger_,
                       .trace = trace_wanted_ ? &trace_ : nullptr,
                       .steps = steps_wanted_ ? &result.steps : nullptr});
      decoder.start();
      simulation_.run();
      report.stall = decoder.stall();
      report.ttft = decoder.ttft();
      check(decoder.stall() + decoder.computed() == simulation_.now(),
            "a run either computes or waits for weights");
    }
    fill_facts(report);
    fill_rates(report);
    fill_memory(report);
    if (trace_wanted_) add_counters(report.curve);
    result.trace = std::move(trace_);
    return result;
  }

 private:
  std::unique_ptr<WeightLoader> make_loader() {
    switch (scenario_.strategy) {
      case StrategyKind::kResident:
        return make_resident_loader(store_, static_cast<int64_t>(plan_.units.size()));
      case StrategyKind::kLayerwise:
        return make_layerwise_loader(store_, input_.itinerary);
      case StrategyKind::kDoubleBuffer:
        return make_double_buffer_loader(store_, input_.itinerary);
      case StrategyKind::kBlockCache:
        break;
    }
    std::vector<Bytes> sizes = sizes_of(plan_.units);
    std::unique_ptr<EvictionPolicy> policy = policy_of(scenario_, input_.itinerary, sizes);
    cache_.emplace(std::move(sizes), input_.cache_capacity, std::move(policy), input_.pinned);
    return make_block_cache_loader(store_, input_.itinerary, *cache_);
  }

  void fill_facts(SimReport& report) const {
    const PlanReport facts = make_plan_report(scenario_, plan_);
    report.settings = facts.settings;
    report.model = facts.model;
    report.device = facts.device;
    report.engine = facts.engine;
    report.strategy = facts.strategy;
    report.bytes_read = store_.bytes_read();
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
    if (input_.passes.decode == 0) return;
    const Duration decoding = report.end - report.ttft;
    report.tpot = decoding / input_.passes.decode;
    if (decoding == Duration{}) return;
    const double tokens =
        static_cast<double>(input_.passes.decode) * static_cast<double>(scenario_.n_seq);
    report.tokens_per_second = tokens * 1e9 / static_cast<double>(decoding.count());
  }

  void fill_memory(SimReport& report) {
    const Peak& peak = ledger_.peak();
    report.peak = peak.total;
    report.peak_time = peak.time;
    report.peak_step = peak.place.step;
    report.peak_at = describe(peak.place, plan_.units);
    const DeviceLimit& limit = report.device.limit;
    const Verdict answer = verdict(breakdown_of(peak.parts), limit);
    if (!answer.fits) {
      report.outcome = SimOutcome::kOverLimit;
      const bool loading = peak.place.kind == Place::Kind::kLoading;
      report.reason = fmt::format("peak {} is {} over the limit of {} {} {}; most of it is {}",
                                  format_bytes(peak.total), format_bytes(peak.total - limit.limit),
                                  format_bytes(limit.limit), loading ? "while" : "at",
                                  report.peak_at, label_of_part(answer.binding_term));
    }
    report.curve = ledger_.take_curve();
  }

  // A counter for each part of memory, where it changes.
  void add_counters(const std::vector<CurvePoint>& curve) {
    for (size_t i = 0; i < curve.size(); ++i) {
      for (const MemoryPart& part : memory_parts()) {
        const Bytes value = curve[i].*part.simulated;
        if (i > 0 && curve[i - 1].*part.simulated == value) continue;
        trace_.counters.push_back(
            {.name = std::string(part.label), .time = curve[i].time, .value = value});
      }
    }
  }

  const Scenario& scenario_;
  const MemoryPlan& plan_;
  RunInput input_;
  bool trace_wanted_;
  bool steps_wanted_;
  Trace trace_{};
  Simulation simulation_{};
  MemoryLedger ledger_;
  WeightStore store_;
  std::optional<BlockCache> cache_{};
};

}  // namespace

Result<SimResult> simulate(const Scenario& scenario, const MemoryPlan& plan, SimOptions options) {
  try {
    Result<RunInput> input = run_input(scenario, plan, options);
    if (!input) return input.diagnostics();
    return Run(scenario, plan, std::move(input).value(), options).result();
  } catch (const std::overflow_error&) {
    return one_error("simulate", "times or sizes leave the 63-bit range",
                     "is a rate of the device, a size or a number of tokens a slip?");
  }
}

}  // namespace tidemark

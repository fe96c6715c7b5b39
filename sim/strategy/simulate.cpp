#include "sim/strategy/simulate.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/strategy/access_run.h"
#include "sim/strategy/control.h"
#include "sim/strategy/decoder.h"
#include "sim/strategy/offload_run.h"
#include "sim/strategy/processes.h"
#include "sim/strategy/residency_input.h"
#include "sim/strategy/run_input.h"
#include "sim/strategy/run_report.h"
#include "sim/strategy/run_weights.h"
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
        weights_(simulation_, scenario, plan, input_, ledger_, trace_wanted_ ? &trace_ : nullptr) {
    if (!options.curve) ledger_.forget_the_curve();
    ledger_.listen([this](const CurvePoint& now) {
      watch_.on_change(now);
      if (control_) control_->on_change(now);
    });
  }

  SimResult result() && {
    SimResult result;
    SimReport& report = result.report;
    if (input_.is_access_list) {
      const std::unique_ptr<WeightLoader> loader = weights_.make_loader();
      AccessRun accesses(simulation_, input_.itinerary, *loader, ledger_);
      accesses.start();
      run_to_the_end();
      report.stall = accesses.stall();
      report.stalls.weights = accesses.stall();
    } else {
      run_passes(result);
    }
    report_plan(scenario_, plan_, report);
    weights_.add_to(report);
    fill_stages(report.stages);
    fill_rates(report);
    report_spent(spent_, weights_.store().from_storage(), scenario_.device, report);
    if (processes_) processes_->add_to(report);
    report_memory(ledger_, watch_, plan_.units, report);
    if (trace_wanted_) {
      trace_memory(report.curve, trace_);
      trace_processes(report.processes, trace_);
      trace_events(report.events, trace_);
    }
    if (!curve_wanted_) report.curve.clear();
    result.trace = std::move(trace_);
    return result;
  }

 private:
  // What answers one prompt. Kept to the end of the run: reads asked for ahead may still come.
  struct Answer {
    Answer(Run& run, std::unique_ptr<WeightLoader> its_loader, std::vector<CurvePoint>* steps)
        : loader(std::move(its_loader)),
          cells(run.scenario_, run.plan_, run.weights_.store(), run.ledger_),
          decoder({.simulation = run.simulation_,
                   .scenario = run.scenario_,
                   .plan = run.plan_,
                   .passes = run.input_.passes,
                   .loader = *loader,
                   .cells = cells,
                   .ledger = run.ledger_,
                   .trace = run.trace_wanted_ ? &run.trace_ : nullptr,
                   .steps = steps,
                   .between_passes = [&run](int64_t next) { run.adapt_before(next); }}) {}

    std::unique_ptr<WeightLoader> loader;
    KvCells cells;
    Decoder decoder;
  };

  void run_passes(SimResult& result) {
    const int64_t count = scenario_.residency.processes;
    if (count > 1) {
      processes_.emplace(simulation_, scenario_, plan_, reserved_at_start(scenario_, plan_),
                         weights_, ledger_);
    }
    std::deque<Answer> answers;
    for (int64_t i = 0; i < count; ++i) {
      Answer& answer = answers.emplace_back(
          *this, processes_ ? processes_->start_next() : weights_.make_loader(),
          steps_wanted_ ? &result.steps : nullptr);
      make_control(*answer.loader, answer.cells);
      answer.decoder.start();
      while (!watch_.killed() && !answer.decoder.ended() && simulation_.step()) {
      }
      add_times(answer.decoder, i == 0, result.report);
      if (processes_) processes_->note_end(answer.decoder, input_.passes.decode);
    }
    check(
        watch_.killed() || result.report.stall + result.report.stages.compute == simulation_.now(),
        "a run either computes or waits for weights");
  }

  // Sums over all processes; what a user waits for is that of the first.
  void add_times(const Decoder& decoder, bool is_first, SimReport& report) {
    report.stall += decoder.stall();
    report.stalls.loading += decoder.loading();
    report.stalls.weights += decoder.stall() - decoder.loading() - decoder.waited_for_cells();
    report.stalls.kv_cache += decoder.waited_for_cells();
    report.stages.compute += decoder.computed();
    spent_ += decoder.spent();
    if (!is_first) return;
    first_end_ = simulation_.now();
    report.ttft = decoder.ttft();
    report.stages.first_layer = decoder.first_layer();
    report.intervals = intervals_of(decoder.decode_times());
  }

  void make_control(WeightLoader& loader, KvCells& cells) {
    if (scenario_.adapt.empty()) return;
    control_.emplace(ControlParts{.simulation = simulation_,
                                  .scenario = scenario_,
                                  .plan = plan_,
                                  .input = input_,
                                  .loader = loader,
                                  .store = weights_.store(),
                                  .cells = cells,
                                  .ledger = ledger_,
                                  .watch = watch_,
                                  .cache = weights_.cache(),
                                  .experts = weights_.experts(),
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
    stages.read = std::min(weights_.store().reading(), simulation_.now());
    stages.initialise = std::min(weights_.store().initialising(), simulation_.now());
    const std::pair<Duration, const char*> busy[] = {
        {stages.read, "read"}, {stages.initialise, "initialise"}, {stages.compute, "compute"}};
    stages.limited_by =
        std::max_element(std::begin(busy), std::end(busy), [](const auto& a, const auto& b) {
          return a.first < b.first;
        })->second;
  }

  void fill_rates(SimReport& report) const {
    report.end = simulation_.now();
    if (input_.passes.decode == 0 || watch_.killed()) return;
    const Duration decoding = first_end_ - report.ttft;
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
  RunWeights weights_;
  std::optional<Processes> processes_{};
  OpCost spent_{};
  SimTime first_end_{};  // of the first process
  std::optional<Control> control_{};
};

}  // namespace

Result<SimResult> simulate(const Scenario& scenario, const MemoryPlan& plan, SimOptions options) {
  try {
    if (scenario.offload && !scenario.adapt.empty()) {
      return one_error("adapt", "is for runs by a strategy, not for offload", "leave it out");
    }
    const Diagnostics misplaced = residency_without_strategy(scenario);
    if (!misplaced.empty()) return misplaced;
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

#include "sim/strategy/serving_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planner/base/units.h"
#include "sim/core/server.h"
#include "sim/strategy/run_input.h"
#include "sim/strategy/run_report.h"
#include "sim/strategy/serving_cost.h"
#include "sim/strategy/serving_input.h"
#include "sim/strategy/weight_loader.h"

namespace tidemark {
namespace {

__extension__ using Wide = __int128;

// Whole contexts are there from the start, blocks come as they are held.
CurvePoint reserved_at_start(const MemoryPlan& plan, const ServingLimits& limits) {
  const Bytes block = limits.pool.token_bytes * limits.pool.block_tokens.count();
  const Breakdown& breakdown = plan.breakdown;
  return {.kv_cache = limits.whole_context ? block * limits.pool.blocks : Bytes{},
          .recurrent_state = breakdown.recurrent_state,
          .compute = breakdown.compute,
          .output = breakdown.output,
          .runtime = breakdown.runtime};
}

// When the tokens of the requests came.
class Clocks {
 public:
  explicit Clocks(std::span<const Request> requests)
      : requests_(requests), last_(requests.size()) {}

  void token(size_t request, int64_t made, SimTime now) {
    const SimTime arrival = requests_[request].arrival;
    if (made == 1) {
      first_tokens_.push_back(now - arrival);
    } else {
      gaps_.push_back(now - last_[request]);
    }
    last_[request] = now;
    if (made == requests_[request].generate) ends_.push_back(now - arrival);
    ++tokens_;
  }

  void fill(ServingFacts& facts) {
    facts.generated_tokens = tokens_;
    facts.first_token = intervals_of(std::move(first_tokens_));
    facts.between_tokens = intervals_of(std::move(gaps_));
    facts.end_to_end = intervals_of(std::move(ends_));
  }

 private:
  std::span<const Request> requests_;
  std::vector<SimTime> last_;  // by request: its last token
  std::vector<Duration> first_tokens_{};
  std::vector<Duration> gaps_{};
  std::vector<Duration> ends_{};
  int64_t tokens_ = 0;
};

// The pool over time: held and used bytes, times the nanoseconds they were so.
class PoolMeter {
 public:
  // What was there since the last call stays in the sums; what there is now counts from here.
  void note(const KvBlockUse& use, SimTime now) {
    held_ += Wide{use_.reserved.count()} * (now - since_).count();
    used_ += Wide{use_.used.count()} * (now - since_).count();
    use_ = use;
    since_ = now;
    peak_ = std::max(peak_, use.held);
  }

  void fill(ServingFacts& facts) const {
    facts.peak_blocks = peak_;
    if (since_ == SimTime{}) return;
    facts.mean_held = Bytes::of(static_cast<int64_t>(held_ / since_.count()));
    facts.mean_used = Bytes::of(static_cast<int64_t>(used_ / since_.count()));
    if (held_ > 0) facts.waste_per_mille = static_cast<int64_t>((held_ - used_) * 1000 / held_);
  }

 private:
  KvBlockUse use_{};
  SimTime since_{};
  Wide held_ = 0;
  Wide used_ = 0;
  int64_t peak_ = 0;
};

class ServingRun {
 public:
  ServingRun(const Scenario& scenario, const MemoryPlan& plan, ServingInput input,
             SimOptions options)
      : scenario_(scenario),
        plan_(plan),
        input_(std::move(input)),
        curve_wanted_(options.curve),
        trace_wanted_(options.trace),
        ledger_(simulation_, reserved_at_start(plan, input_.limits),
                scenario.engine.weights_in == WeightsIn::kFile),
        watch_(simulation_, scenario),
        store_(simulation_, scenario, plan.units, ledger_, options.trace ? &trace_ : nullptr),
        loader_(make_resident_loader(store_, static_cast<int64_t>(plan.units.size()))),
        compute_(simulation_, 1),
        queue_(input_.requests, input_.limits),
        prefill_cost_(scenario.device, plan.prefill, &plan.weights),
        decode_cost_(scenario.device, plan.decode, &plan.weights),
        clocks_(input_.requests) {
    if (!options.curve) ledger_.forget_the_curve();
    ledger_.listen([this](const CurvePoint& now) { watch_.on_change(now); });
  }

  Result<SimResult> result() && {
    ledger_.at({.kind = Place::Kind::kLoading});
    loader_->prepare([this] { on_loaded(); });
    while (!watch_.killed() && !is_too_long_ && simulation_.step()) {
    }
    if (is_too_long_) return too_long();
    check(watch_.killed() || queue_.counts().completed == count(), "every request is served");
    return report();
  }

 private:
  int64_t count() const { return static_cast<int64_t>(input_.requests.size()); }

  void on_loaded() {
    loading_ = simulation_.now();
    if (next_arrival_ == 0 && simulation_.now() < input_.requests.front().arrival) {
      simulation_.at(input_.requests.front().arrival, [this] { start_round(); });
      return;
    }
    start_round();
  }

  void start_round() {
    const SimTime now = simulation_.now();
    while (next_arrival_ < input_.requests.size() &&
           input_.requests[next_arrival_].arrival <= now) {
      queue_.arrive(next_arrival_++);
    }
    queue_.admit();
    note_memory(Phase::kPrefill);
    if (queue_.runs()) return start_prefill();
    if (next_arrival_ == input_.requests.size()) return;
    simulation_.at(input_.requests[next_arrival_].arrival, [this] { start_round(); });
  }

  void start_prefill() {
    const std::vector<ServedTokens>& parts = queue_.begin_prefill();
    if (parts.empty()) return start_decode();
    start_pass(Phase::kPrefill, prefills_++, prefill_cost_.pass(parts), [this] { on_prefilled(); });
  }

  void on_prefilled() {
    end_pass();
    note_tokens(queue_.finish_prefill());
    start_decode();
  }

  void start_decode() {
    const std::vector<ServedTokens>& parts = queue_.begin_decode();
    note_memory(Phase::kDecode);
    if (parts.empty()) return start_round();
    start_pass(Phase::kDecode, decodes_++, decode_cost_.pass(parts), [this] { on_decoded(); });
  }

  void on_decoded() {
    end_pass();
    note_tokens(queue_.finish_decode());
    start_round();
  }

  template <typename Handler>
  void start_pass(Phase phase, int64_t index, Duration service, Handler on_done) {
    if (prefills_ + decodes_ > kMostServedPasses || is_trace_full()) {
      is_too_long_ = true;
      return;
    }
    pass_ = {.kind = Place::Kind::kPass, .phase = phase, .index = index, .unit = UnitId(-1)};
    pass_started_ = simulation_.now();
    compute_.request(service, nullptr, on_done);
  }

  bool is_trace_full() const {
    return trace_wanted_ && static_cast<int64_t>(trace_.spans.size()) > kMostTracedEvents / 4;
  }

  void end_pass() {
    if (!trace_wanted_) return;
    trace_.spans.push_back({.lane = "compute",
                            .name = fmt::format("{} {}", name_of(pass_.phase), pass_.index),
                            .start = pass_started_,
                            .duration = simulation_.now() - pass_started_});
  }

  void note_tokens(const std::vector<size_t>& makers) {
    for (const size_t request : makers) {
      clocks_.token(request, queue_.made(request), simulation_.now());
    }
    if (first_token_ == SimTime{} && !makers.empty()) first_token_ = simulation_.now();
  }

  // Blocks that the next pass needs are there before it, those that it frees go after it.
  void note_memory(Phase next) {
    const KvBlockUse use = queue_.pool().use();
    meter_.note(use, simulation_.now());
    ledger_.at({.kind = Place::Kind::kPass,
                .phase = next,
                .index = next == Phase::kPrefill ? prefills_ : decodes_,
                .unit = UnitId(-1),
                .step = prefills_ + decodes_});
    if (!input_.limits.whole_context) ledger_.set_kv_cache(use.reserved);
    const int64_t preempted = queue_.counts().preemptions;
    if (trace_wanted_ && preempted > traced_preemptions_) {
      trace_.instants.push_back({.name = "preempt",
                                 .time = simulation_.now(),
                                 .lane = "compute",
                                 .detail = fmt::format("{}", preempted - traced_preemptions_)});
    }
    traced_preemptions_ = preempted;
  }

  Diagnostics too_long() const {
    return one_error("requests",
                     fmt::format("the run takes more than {} passes, or too many for a trace",
                                 format_count(kMostServedPasses)),
                     "give fewer requests, or a larger --kv-pool if they preempt each other");
  }

  SimResult report() {
    SimResult result;
    SimReport& report = result.report;
    report_plan(scenario_, plan_, report);
    report.end = simulation_.now();
    report.bytes_read = store_.bytes_read();
    report.ttft = first_token_;
    report.stall = loading_;
    report.stalls.loading = loading_;
    report.stages = {.read = store_.reading(),
                     .initialise = store_.initialising(),
                     .compute = compute_.busy(),
                     .first_layer = loading_};
    report.stages.limited_by = compute_.busy() < loading_ ? "read" : "compute";
    OpCost spent = prefill_cost_.spent();
    spent += decode_cost_.spent();
    report_spent(spent, store_.from_storage(), scenario_.device, report);
    report.serving = facts();
    report.intervals = report.serving->between_tokens;
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

  ServingFacts facts() {
    const ServingCounts& counts = queue_.counts();
    ServingFacts facts{.requests = count(),
                       .completed = counts.completed,
                       .most_running = counts.most_running,
                       .prefill_passes = prefills_,
                       .decode_passes = decodes_,
                       .prefilled_tokens = counts.prefilled,
                       .prefix_tokens = counts.from_prefix,
                       .preemptions = counts.preemptions,
                       .lost_tokens = counts.lost,
                       .block_tokens = input_.limits.pool.block_tokens.count(),
                       .block = queue_.pool().block_bytes(),
                       .pool_blocks = input_.limits.pool.blocks};
    clocks_.fill(facts);
    meter_.note(queue_.pool().use(), simulation_.now());
    meter_.fill(facts);
    return facts;
  }

  // Over the whole run, loading and idle time included.
  void fill_rates(SimReport& report) const {
    if (report.end == Duration{} || watch_.killed()) return;
    const double seconds = static_cast<double>(report.end.count()) / 1e9;
    report.tokens_per_second = static_cast<double>(report.serving->generated_tokens) / seconds;
    report.serving->requests_per_second = static_cast<double>(report.serving->completed) / seconds;
    if (report.intervals) report.tpot = report.intervals->p50;
  }

  const Scenario& scenario_;
  const MemoryPlan& plan_;
  ServingInput input_;
  bool curve_wanted_;
  bool trace_wanted_;
  Trace trace_{};
  Simulation simulation_{};
  MemoryLedger ledger_;
  SystemWatch watch_;
  WeightStore store_;
  std::unique_ptr<WeightLoader> loader_;
  Server compute_;
  ServingQueue queue_;
  ServingCost prefill_cost_;
  ServingCost decode_cost_;
  Clocks clocks_;
  PoolMeter meter_{};

  size_t next_arrival_ = 0;
  int64_t prefills_ = 0;
  int64_t decodes_ = 0;
  int64_t traced_preemptions_ = 0;
  Place pass_{};
  SimTime pass_started_{};
  SimTime first_token_{};
  Duration loading_{};
  bool is_too_long_ = false;
};

}  // namespace

Result<SimResult> simulate_serving(const Scenario& scenario, const MemoryPlan& plan,
                                   SimOptions options) {
  Result<ServingInput> input = serving_input(scenario, plan);
  if (!input) return input.diagnostics();
  return ServingRun(scenario, plan, std::move(input).value(), options).result();
}

}  // namespace tidemark

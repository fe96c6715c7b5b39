#include "sim/strategy/offload_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planner/base/units.h"
#include "planner/capacity/verdict.h"
#include "sim/core/server.h"
#include "sim/strategy/offload_plan.h"
#include "sim/strategy/run_input.h"

namespace tidemark {
namespace {

constexpr int64_t kMostLayerVisits = 5'000'000;
constexpr int64_t kLanes = 6;  // of a trace: a layer has a span in each

class OffloadRun {
 public:
  OffloadRun(const Scenario& scenario, std::vector<OffloadLayer> layers, Trace* trace)
      : scenario_(scenario),
        choices_(*scenario.offload),
        device_(*scenario.device.accelerator),
        layers_(std::move(layers)),
        sequences_(checked_mul(scenario.n_seq, choices_.batches)),
        last_pass_(std::max<int64_t>(scenario.generate.count(), 1) - 1),
        trace_(trace) {}

  void run() {
    start_pass();
    simulation_.run();
  }

  int64_t sequences() const { return sequences_; }
  Duration ttft() const { return ttft_; }
  Duration end() const { return simulation_.now(); }
  Duration computed() const { return accelerator_.busy() + host_.busy(); }
  Duration reading() const { return read_.busy(); }
  Bytes bytes_read() const { return bytes_read_; }
  const std::vector<Duration>& decode_times() const { return decode_times_; }

 private:
  // Pass 0 is the prompt; pass i attends what came before it and itself.
  void start_pass() {
    const int64_t prompt = scenario_.prompt.count();
    const bool is_prefill = pass_number_ == 0;
    pass_ = {.is_prefill = is_prefill,
             .sequences = sequences_,
             .tokens = is_prefill ? prompt : 1,
             .cells = checked_add(prompt, pass_number_)};
    pass_started_ = simulation_.now();
    layer_ = 0;
    start_layer();
  }

  void start_layer() {
    moves_ = moves_of(layers_.at(layer_), pass_, choices_, device_);
    bytes_read_ += moves_.read;
    if (!scenario_.load.overlaps) return start_serial();
    if (pass_.is_prefill) return start_prefill();
    request(to_device_, "to device", moves_.to_device, [this] { on_loaded(); });
  }

  // What is stored goes through main memory to the device; what is made comes back that way.
  void start_prefill() {
    pending_ = 3;
    request(read_, "from storage", moves_.from_storage, [this] {
      request(to_device_, "to device", moves_.to_device, [this] { on_part_done(); });
    });
    store();
    compute();
  }

  // The next layer's storage is read beside this one's work.
  void on_loaded() {
    pending_ = 4;
    request(read_, "from storage", moves_.from_storage, [this] { on_part_done(); });
    request(from_device_, "from device", moves_.from_device, [this] { on_part_done(); });
    request(write_, "to storage", moves_.to_storage, [this] { on_part_done(); });
    compute();
  }

  void start_serial() {
    pending_ = 2;
    request(read_, "from storage", moves_.from_storage, [this] {
      request(to_device_, "to device", moves_.to_device, [this] { on_serial_loaded(); });
    });
  }

  void on_serial_loaded() {
    request(accelerator_, "accelerator", moves_.products, [this] {
      request(host_, "host", moves_.host, [this] {
        on_part_done();
        store();
      });
    });
  }

  void store() {
    request(from_device_, "from device", moves_.from_device, [this] {
      request(write_, "to storage", moves_.to_storage, [this] { on_part_done(); });
    });
  }

  void compute() {
    request(accelerator_, "accelerator", moves_.products,
            [this] { request(host_, "host", moves_.host, [this] { on_part_done(); }); });
  }

  void on_part_done() {
    if (--pending_ > 0) return;
    if (++layer_ < layers_.size()) return start_layer();
    on_pass_done();
  }

  void on_pass_done() {
    if (pass_.is_prefill) {
      ttft_ = simulation_.now();
    } else {
      decode_times_.push_back(simulation_.now() - pass_started_);
    }
    if (pass_number_++ < last_pass_) start_pass();
  }

  void request(Server& server, const char* lane, Duration service, Action on_done) {
    if (trace_ != nullptr && service > Duration{}) {
      trace_->spans.push_back({.lane = lane,
                               .name = fmt::format("blk.{}", layer_),
                               .start = simulation_.now(),
                               .duration = service});
    }
    server.request(service, nullptr, std::move(on_done));
  }

  const Scenario& scenario_;
  const OffloadChoices& choices_;
  const Accelerator& device_;
  std::vector<OffloadLayer> layers_;
  int64_t sequences_;
  int64_t last_pass_;
  Trace* trace_;  // null = none wanted
  Simulation simulation_{};
  Server to_device_{simulation_, 1};
  Server from_device_{simulation_, 1};
  Server read_{simulation_, 1};
  Server write_{simulation_, 1};
  Server accelerator_{simulation_, 1};
  Server host_{simulation_, 1};

  int64_t pass_number_ = 0;
  OffloadPass pass_{};
  size_t layer_ = 0;
  LayerMoves moves_{};
  int pending_ = 0;  // parts of the layer that have not ended
  SimTime pass_started_{};
  Duration ttft_{};
  Bytes bytes_read_{};
  std::vector<Duration> decode_times_{};
};

double per_second(int64_t tokens, Duration time) {
  return time == Duration{} ? 0.0
                            : static_cast<double>(tokens) * 1e9 / static_cast<double>(time.count());
}

void fill_times(const OffloadRun& run, SimReport& report) {
  report.ttft = run.ttft();
  report.end = run.end();
  report.stages = {.read = run.reading(), .compute = run.computed()};
  report.stages.limited_by = run.reading() > run.computed() ? "read" : "compute";
  report.stall = run.end() - run.computed();
  report.stalls.weights = report.stall;
  report.bytes_read = run.bytes_read();
  const auto decoded = static_cast<int64_t>(run.decode_times().size());
  if (decoded > 0) {
    std::vector<Duration> times = run.decode_times();
    std::sort(times.begin(), times.end());
    const auto rank = [&](size_t percent) {
      return times[(times.size() * percent + 99) / 100 - 1];
    };
    report.intervals =
        IntervalFacts{.p50 = rank(50), .p90 = rank(90), .p99 = rank(99), .longest = times.back()};
    report.tpot = (run.end() - run.ttft()) / decoded;
    report.tokens_per_second =
        per_second(checked_mul(run.sequences(), decoded), run.end() - run.ttft());
  }
  const int64_t tokens = checked_mul(run.sequences(), decoded + 1);
  report.events.push_back(
      {.time = run.end(),
       .what = "generated",
       .detail = fmt::format("{} tokens at {:.3f} tok/s over both phases", format_count(tokens),
                             per_second(tokens, run.end()))});
}

void fill_memory(const Scenario& scenario, const MemoryPlan& plan,
                 const std::vector<OffloadLayer>& layers, SimReport& report) {
  const Breakdown memory = offload_memory(layers, scenario, plan);
  report.curve = {{.weights = memory.weights,
                   .kv_cache = memory.kv_cache,
                   .compute = memory.compute,
                   .runtime = memory.runtime}};
  report.peak = memory.total();
  report.peak_at = "all of the run";
  const DeviceLimit& limit = report.device.limit;
  if (memory.total() > limit.limit) {
    report.outcome = SimOutcome::kOverLimit;
    report.reason =
        fmt::format("{} of main memory are {} over the limit of {}", format_bytes(memory.total()),
                    format_bytes(memory.total() - limit.limit), format_bytes(limit.limit));
  }
  const Bytes held = offload_device_bytes(layers, scenario);
  const Bytes room = scenario.device.accelerator->memory;
  report.events.insert(
      report.events.begin(),
      {.what = "accelerator",
       .detail = fmt::format("holds {} of {}: what lives there and two layers in flight",
                             format_bytes(held), format_bytes(room))});
  if (held <= room || report.outcome != SimOutcome::kCompleted) return;
  report.outcome = SimOutcome::kOverLimit;
  report.reason = fmt::format("the accelerator would hold {}, it has {}", format_bytes(held),
                              format_bytes(room));
}

Diagnostics problems_of(const Scenario& scenario, size_t layers, SimOptions options) {
  if (!scenario.device.accelerator) {
    return one_error("offload", "the device states no accelerator", "name one that does");
  }
  if (scenario.serving.any() || !scenario.adapt.empty()) {
    return one_error("offload", "an offload run has neither requests nor actions",
                     "leave --requests and --adapt out");
  }
  if (scenario.prompt.count() == 0) {
    return one_error("--prompt", "an offload run begins with a prompt", "give it a token");
  }
  const int64_t passes = std::max<int64_t>(scenario.generate.count(), 1);
  const int64_t most = options.trace ? kMostTracedEvents / kLanes : kMostLayerVisits;
  if (checked_mul(static_cast<int64_t>(layers), passes) <= most) return {};
  return one_error("--generate",
                   fmt::format("the run would visit more than {} layers", format_count(most)),
                   "ask for fewer tokens");
}

}  // namespace

Result<SimResult> simulate_offload(const Scenario& scenario, const MemoryPlan& plan,
                                   SimOptions options) {
  Result<std::vector<OffloadLayer>> layers = offload_layers(scenario, plan);
  if (!layers) return layers.diagnostics();
  if (Diagnostics problems = problems_of(scenario, layers->size(), options); !problems.empty()) {
    return problems;
  }
  SimResult result;
  OffloadRun run(scenario, *layers, options.trace ? &result.trace : nullptr);
  run.run();
  SimReport& report = result.report;
  const PlanReport facts = make_plan_report(scenario, plan);
  report.settings = facts.settings;
  report.model = facts.model;
  report.device = facts.device;
  report.engine = facts.engine;
  report.strategy = "offload";
  fill_times(run, report);
  fill_memory(scenario, plan, *layers, report);
  return result;
}

}  // namespace tidemark

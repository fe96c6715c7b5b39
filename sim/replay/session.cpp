#include "sim/replay/session.h"

#include <algorithm>
#include <utility>

#include "planner/base/check.h"
#include "sim/replay/child_run.h"
#include "sim/replay/replay_input.h"
#include "sim/replay/run_records.h"
#include "sim/replay/timed_run.h"
#include "sim/replay/unit_loader.h"
#include "sim/replay/value_ranges.h"

namespace tidemark {
namespace {

CacheCounts counts_of(const CacheStats& stats) {
  return {.hits = stats.hits, .misses = stats.misses, .evictions = stats.evictions};
}

// Is every float of the file the first one? Of a sound model the beginning tells.
bool are_all_equal(const ScratchFile& logits) {
  std::vector<float> piece(size_t{1} << 16);
  std::optional<float> first;
  for (int64_t at = 0; at < logits.size();) {
    piece.resize(std::min(piece.size(), static_cast<size_t>(logits.size() - at) / sizeof(float)));
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(piece));
    if (bytes.empty()) break;
    logits.read(at, bytes);
    at += std::ssize(bytes);
    if (!first) first = piece.front();
    if (std::ranges::any_of(piece, [&](float logit) { return logit != *first; })) return false;
  }
  return first.has_value();
}

}  // namespace

Session::Session(const Prepared& first, const ReplayOptions& options)
    : options_(options),
      model_(*first.scenario->model.transformer()),
      passes_(passes_of(*first.scenario, first.plan)),
      prompt_(made_up_prompt(options.prompt_seed.value_or(first.scenario->seed),
                             passes_.prompt_tokens, model_.n_vocab)),
      weights_from_(first.source->describe()),
      weights_(first.plan.weights, *first.source, options.scratch,
               [this](int64_t done, int64_t total) {
                 show("writing weights", done, total);
                 return !stopped();
               }),
      logits_(options.scratch) {
  if (!stopped()) judge(first);
  logits_all_equal_ = !stopped() && are_all_equal(logits_);
}

void Session::judge(const Prepared& first) {
  if (options_.memory_limit) return judge_in_child(first);
  judge_here(first);
}

// Layerwise, so that the run without reuse is not the one that needs most.
void Session::judge_here(const Prepared& first) {
  const UnitLayout units(first.plan);
  const ArenaLayout arena = separate_layout(first.plan);
  const TensorMemory memory(first.plan, arena, Fault::kOnTouch);
  const Itinerary itinerary = itinerary_of(first.plan, passes_);
  const auto loader =
      make_layerwise_unit_loader({.weights = weights_, .layout = units, .itinerary = itinerary});
  LogitsKeeper keeper(logits_, step_progress("run without reuse", steps_of(first.plan, passes_)));
  const RunResult result = run_model({.model = model_,
                                      .plan = first.plan,
                                      .passes = passes_,
                                      .layout = units,
                                      .memory = memory,
                                      .loader = *loader,
                                      .observer = keeper,
                                      .stop = options_.stop},
                                     prompt_);
  judged_tokens_ = result.tokens;
}

// The file of logits is shared with the child; tokens come back as those of a run.
void Session::judge_in_child(const Prepared& first) {
  ReplayReport judged;
  const RunListener nobody;
  RunRecords records(judged, nobody);
  const ChildEnd end =
      run_in_child({.body =
                        [&](const Tell& tell) {
                          tell_run(tell, judged, [&](const RunListener&) {
                            judge_here(first);
                            judged.tokens = judged_tokens_;
                            return !stopped();
                          });
                        },
                    .on_record = [&](Record record) { records.take(std::move(record)); },
                    .stop = options_.stop});
  judge_interrupted_ = !records.finish(end, std::nullopt);
  if (judge_interrupted_) return;
  if (judged.end != ReplayEnd::kCompleted) {
    throw std::system_error(std::make_error_code(std::errc::not_enough_memory),
                            "the run without reuse, which has no limit, was ended");
  }
  judged_tokens_ = judged.tokens;
  logits_.take_size();
}

std::optional<ReplayReport> Session::replay(const Prepared& prepared) {
  if (judge_interrupted_) return std::nullopt;
  ReplayReport report = facts(prepared);
  const auto progress = step_progress(report.strategy, report.planned_steps);
  const RunListener listener{.on_step = [&](const ReplayStep& step) { progress(step.step + 1); }};
  const bool done = options_.memory_limit ? run_in_child_of(prepared, listener, report)
                                          : run(prepared, listener, report);
  if (!done) return std::nullopt;
  report.outputs_match = report.outputs_match && report.tokens == judged_tokens_;
  return report;
}

bool Session::time_runs(std::span<const Prepared> all, std::span<ReplayReport> reports) const {
  if (options_.timed_runs == 0 || options_.memory_limit) return true;
  std::vector<size_t> timed;
  for (size_t i = 0; i < reports.size(); ++i) {
    const bool is_whole = std::ssize(reports[i].steps) == reports[i].planned_steps;
    if (reports[i].outputs_match && is_whole) timed.push_back(i);
  }
  std::vector<std::vector<TimedRun>> runs(reports.size());
  const int64_t total = options_.timed_runs * std::ssize(timed);
  int64_t done = 0;
  for (; done < total; ++done) {
    const size_t i = timed[static_cast<size_t>(done % std::ssize(timed))];
    show(reports[i].strategy + ", timed", done, total);
    std::optional<TimedRun> run = timed_run({.scenario = *all[i].scenario,
                                             .plan = all[i].plan,
                                             .passes = passes_,
                                             .weights = weights_,
                                             .prompt = prompt_,
                                             .held = reports[i].predicted_peak,
                                             .stop = options_.stop});
    if (!run) break;
    runs[i].push_back(std::move(*run));
  }
  for (const size_t i : timed) {
    if (runs[i].empty()) continue;
    const StepTimes predicted =
        predicted_step_times(*all[i].scenario, all[i].plan, passes_, all[i].predicted);
    compare_times(all[i].plan, passes_, predicted, std::move(runs[i]), reports[i]);
  }
  return done == total;
}

// False when interrupted.
bool Session::run(const Prepared& prepared, const RunListener& listener,
                  ReplayReport& report) const {
  const MemoryPlan& plan = prepared.plan;
  const UnitLayout units(plan);
  ArenaLayout arena = planned_layout(plan);
  if (options_.shift) arena = shifted(std::move(arena), plan, *options_.shift).value();
  reset_process_peak();
  const Itinerary itinerary = itinerary_of(plan, passes_);
  const KvBlocks kv_blocks = kv_blocks_of(*prepared.scenario);
  const Fault of_state = kv_blocks.cells > 0 ? Fault::kByPage : Fault::kNow;
  const TensorMemory memory(plan, arena, Fault::kNow, of_state);
  const auto loader = make_unit_loader(
      *prepared.scenario, plan, {.weights = weights_, .layout = units, .itinerary = itinerary});
  const Expected expected{
      .steps = prepared.predicted.steps, .logits = logits_, .units = plan.units};
  Measurer measurer(expected, memory, *loader, report, listener);
  const RunResult result = run_model({.model = model_,
                                      .plan = plan,
                                      .passes = passes_,
                                      .layout = units,
                                      .memory = memory,
                                      .loader = *loader,
                                      .observer = measurer,
                                      .kv_blocks = kv_blocks,
                                      .stop = options_.stop},
                                     prompt_);
  if (result.end == RunEnd::kInterrupted) return false;
  report.tokens = result.tokens;
  report.wall = result.wall;
  report.bytes_read = loader->bytes_read();
  report.process_peak = process_peak();
  if (const CacheStats* stats = loader->cache_stats()) report.measured_cache = counts_of(*stats);
  return true;
}

bool Session::run_in_child_of(const Prepared& prepared, const RunListener& listener,
                              ReplayReport& report) const {
  ReplayReport of_child = report;
  RunRecords records(report, listener);
  const ChildEnd end = run_in_child(
      {.limit = ChildLimit{.bytes = *options_.memory_limit, .mechanism = options_.mechanism},
       .body =
           [&](const Tell& tell) {
             of_child.steps.reserve(static_cast<size_t>(of_child.planned_steps));
             tell_run(tell, of_child,
                      [&](const RunListener& told) { return run(prepared, told, of_child); });
           },
       .on_record = [&](Record record) { records.take(std::move(record)); },
       .stop = options_.stop});
  return records.finish(end, options_.memory_limit);
}

ReplayReport Session::facts(const Prepared& prepared) const {
  const SimReport& simulated = prepared.predicted.report;
  const Bytes runtime = prepared.plan.breakdown.runtime;
  ReplayReport report{
      .settings = simulated.settings,
      .model = simulated.model,
      .engine = simulated.engine,
      .strategy = simulated.strategy,
      .excluded_runtime = runtime,
      .arena = prepared.plan.activations,
      .planned_steps = steps_of(prepared.plan, passes_),
      .predicted_peak = simulated.peak - runtime,
      .outputs_all_equal = logits_all_equal_,
      .weights = weights_from_,
      .not_computed = not_computed(*prepared.scenario->model.transformer(), prepared.plan.weights),
      .cache_policy = simulated.cache_policy};
  check(std::ssize(prepared.predicted.steps) == report.planned_steps,
        "the simulator and the replay take the same steps");
  if (!simulated.cache_policy.empty()) {
    report.predicted_cache = CacheCounts{.hits = simulated.cache_hits,
                                         .misses = simulated.cache_misses,
                                         .evictions = simulated.cache_evictions};
  }
  // So that measuring grows nothing while it measures.
  report.steps.reserve(static_cast<size_t>(report.planned_steps));
  return report;
}

std::function<void(int64_t)> Session::step_progress(std::string stage, int64_t total) const {
  return [this, stage = std::move(stage), total](int64_t done) { show(stage, done, total); };
}

void Session::show(std::string_view stage, int64_t done, int64_t total) const {
  if (options_.progress) options_.progress(stage, done, total);
}

}  // namespace tidemark

#include "sim/strategy/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "planner/base/units.h"
#include "planner/report/parts.h"
#include "planner/report/residency_text.h"
#include "planner/report/run_notes.h"

namespace tidemark {
namespace {

// "weights 2.10 GiB, KV cache 128 MiB".
std::string parts_in_words(const CurvePoint& point) {
  std::string words;
  for (const MemoryPart& part : memory_parts()) {
    if (point.*part.simulated == Bytes{}) continue;
    if (!words.empty()) words += ", ";
    words += fmt::format("{} {}", part.label, format_bytes(point.*part.simulated));
  }
  return words;
}

// Progress of loading, then what the system and the run did; at one instant in that order.
std::vector<SimEvent> in_order(std::vector<SimEvent> progress, const SimReport& report,
                               const std::vector<SimEvent>& others) {
  const auto add = [&progress](Duration time, const char* what) {
    if (time > Duration{}) progress.push_back({time, std::string(kProgress), what});
  };
  add(report.stages.first_layer, "first layer");
  add(report.ttft, "first token");
  const auto sooner = [](const SimEvent& a, const SimEvent& b) { return a.time < b.time; };
  std::stable_sort(progress.begin(), progress.end(), sooner);
  std::vector<SimEvent> all;
  std::merge(progress.begin(), progress.end(), others.begin(), others.end(),
             std::back_inserter(all), sooner);
  return all;
}

}  // namespace

void report_plan(const Scenario& scenario, const MemoryPlan& plan, SimReport& report) {
  const PlanReport facts = make_plan_report(scenario, plan);
  report.settings = facts.settings;
  report.model = facts.model;
  report.device = facts.device;
  report.engine = facts.engine;
  report.strategy = facts.strategy;
  report.notes = run_notes(scenario, plan);
}

std::optional<IntervalFacts> intervals_of(std::vector<Duration> times) {
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end());
  const auto rank = [&](size_t percent) { return times[(times.size() * percent + 99) / 100 - 1]; };
  return IntervalFacts{.p50 = rank(50), .p90 = rank(90), .p99 = rank(99), .longest = times.back()};
}

void report_memory(MemoryLedger& ledger, const SystemWatch& watch,
                   const std::vector<WeightUnit>& units, SimReport& report) {
  const Peak& peak = ledger.peak();
  report.peak = peak.total;
  report.peak_time = peak.time;
  report.peak_step = peak.place.step;
  report.peak_at = describe(peak.place, units);
  const DeviceLimit& limit = report.device.limit;
  const Verdict answer = verdict(breakdown_of(peak.parts), limit);
  if (!answer.fits) {
    report.outcome = SimOutcome::kOverLimit;
    const bool loading = peak.place.kind == Place::Kind::kLoading;
    report.reason = fmt::format("peak {} is {} over the limit of {} {} {}; most of it is {}",
                                format_bytes(peak.total), format_bytes(peak.total - limit.limit),
                                format_bytes(limit.limit), loading ? "while" : "at", report.peak_at,
                                label_of_part(answer.binding_term));
  }
  report.curve = ledger.take_curve();
  report.events = in_order(std::move(report.events), report, watch.events());
  if (!watch.killed()) return;
  report.outcome = SimOutcome::kKilled;
  report.reason =
      fmt::format("after {} by {}, {}; resident: {}", format_duration(report.end), watch.rule(),
                  describe(ledger.place(), units), parts_in_words(ledger.now()));
}

void report_spent(const OpCost& spent, Bytes read, const DeviceSpec& device, SimReport& report) {
  report.stages.arithmetic = spent.arithmetic;
  report.stages.memory = spent.memory;
  report.stages.overhead = spent.overhead;
  if (!device.energy) return;
  const EnergyUse use{.operations_picojoules = spent.operations_picojoules,
                      .moved = spent.moved,
                      .read = read,
                      .computing = report.stages.compute,
                      .whole = report.end};
  report.energy = energy_of(*device.energy, use);
}

void trace_memory(const std::vector<CurvePoint>& curve, Trace& trace) {
  for (size_t i = 0; i < curve.size(); ++i) {
    for (const MemoryPart& part : memory_parts()) {
      const Bytes value = curve[i].*part.simulated;
      if (i > 0 && curve[i - 1].*part.simulated == value) continue;
      trace.counters.push_back(
          {.name = std::string(part.label), .time = curve[i].time, .value = value});
    }
  }
  const bool in_file = std::any_of(curve.begin(), curve.end(), [](const CurvePoint& point) {
    return point.file_backed > Bytes{};
  });
  if (!in_file) return;
  for (const CurvePoint& point : curve) {
    trace.counters.push_back({.name = "resident",
                              .time = point.time,
                              .series = {{"committed", point.total() - point.file_backed},
                                         {"file_backed", point.file_backed}}});
  }
}

void trace_events(const std::vector<SimEvent>& events, Trace& trace) {
  for (const SimEvent& event : events) {
    if (event.what == "action") continue;  // traced where it is taken
    trace.instants.push_back({.name = event.what, .time = event.time, .detail = event.detail});
  }
}

}  // namespace tidemark

#include "planner/report/replay_report.h"

#include <fmt/core.h>

#include <algorithm>

namespace tidemark {
namespace {

using literals::operator""_MiB;

Bytes magnitude(Bytes bytes) { return bytes < Bytes{} ? Bytes{} - bytes : bytes; }

}  // namespace

std::string_view name_of(ReplayEnd end) {
  switch (end) {
    case ReplayEnd::kCompleted:
      return "completed";
    case ReplayEnd::kKilled:
      return "killed";
    case ReplayEnd::kRefused:
      return "refused";
  }
  return "";
}

Bytes peak_tolerance(Bytes predicted) { return std::max(predicted / 100, 1_MiB); }

Bytes step_tolerance(Bytes predicted) { return std::max(predicted / 50, 4_MiB); }

double relative_error(const ReplayReport& report) {
  if (report.predicted_peak == Bytes{}) return 0.0;
  return static_cast<double>((report.measured_peak - report.predicted_peak).count()) /
         static_cast<double>(report.predicted_peak.count());
}

Bytes error_of(const ReplayStep& step) { return step.measured - step.predicted; }

const ReplayStep* worst_step(const ReplayReport& report) {
  const ReplayStep* worst = nullptr;
  for (const ReplayStep& step : report.steps) {
    if (worst == nullptr || magnitude(error_of(step)) > magnitude(error_of(*worst))) worst = &step;
  }
  return worst;
}

bool peak_is_close(const ReplayReport& report) {
  return magnitude(report.measured_peak - report.predicted_peak) <=
         peak_tolerance(report.predicted_peak);
}

bool steps_are_close(const ReplayReport& report) {
  return std::all_of(report.steps.begin(), report.steps.end(), [](const ReplayStep& step) {
    return magnitude(error_of(step)) <= step_tolerance(step.predicted);
  });
}

bool passed(const ReplayReport& report) {
  const bool complete = std::ssize(report.steps) == report.planned_steps;
  return report.end == ReplayEnd::kCompleted && report.outputs_match && !report.corruption &&
         complete && peak_is_close(report) && steps_are_close(report) &&
         report.predicted_cache == report.measured_cache;
}

std::string describe(const Corruption& corruption) {
  const std::string writer =
      corruption.writer.empty() ? "a write outside every planned place" : corruption.writer;
  if (corruption.reader.empty()) {
    return fmt::format("{}: {} wrote past the end of the arena, over {}", corruption.pass, writer,
                       corruption.tensor);
  }
  if (corruption.reader == corruption.writer) {
    return fmt::format("{}: {} would be overwritten by {}, which still reads it", corruption.pass,
                       corruption.tensor, writer);
  }
  return fmt::format("{}: {} was overwritten by {} before {} had read it", corruption.pass,
                     corruption.tensor, writer, corruption.reader);
}

}  // namespace tidemark

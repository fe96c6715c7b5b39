#include "planner/report/stage_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "planner/base/units.h"
#include "planner/report/layout.h"

namespace tidemark {
namespace {

// The longest first.
std::array<std::pair<Duration, std::string_view>, 3> waits_of(const StageFacts& stages) {
  std::array<std::pair<Duration, std::string_view>, 3> waits{{{stages.arithmetic, "arithmetic"},
                                                              {stages.memory, "memory"},
                                                              {stages.overhead, "overhead"}}};
  std::ranges::stable_sort(waits, [](const auto& a, const auto& b) { return a.first > b.first; });
  return waits;
}

std::string compute_in_words(const StageFacts& stages) {
  std::string waits;
  const auto waits_by_length = waits_of(stages);
  for (const auto& [wait, name] : waits_by_length) {
    if (wait == Duration{}) continue;
    waits += fmt::format("{}{} {}", waits.empty() ? "" : ", ", name, format_duration(wait));
  }
  const std::string compute = "compute " + format_duration(stages.compute);
  return waits.empty() ? compute : fmt::format("{} ({})", compute, waits);
}

// "7.76", "60.0", "1234": three digits before a unit.
std::string three_digits(double amount) {
  const int decimals = amount < 10 ? 2 : amount < 100 ? 1 : 0;
  return fmt::format("{:.{}f}", amount, decimals);
}

}  // namespace

std::string format_energy(int64_t microjoules) {
  constexpr double kPerJoule = 1e6;
  constexpr double kPerMillijoule = 1e3;
  const double amount = static_cast<double>(microjoules);
  if (amount >= kPerJoule) return three_digits(amount / kPerJoule) + " J";
  if (amount >= kPerMillijoule) return three_digits(amount / kPerMillijoule) + " mJ";
  return fmt::format("{} uJ", microjoules);
}

std::string_view compute_limited_by(const StageFacts& stages) {
  const auto waits = waits_of(stages);
  return waits.front().first == Duration{} ? std::string_view{} : waits.front().second;
}

std::string stage_line(const SimReport& report) {
  const StageFacts& stages = report.stages;
  if (stages.limited_by.empty()) return "";
  std::string text = "busy: read " + format_duration(stages.read);
  if (stages.initialise > Duration{}) text += ", initialise " + format_duration(stages.initialise);
  text += fmt::format(", {}; limited by {}", compute_in_words(stages), stages.limited_by);
  const std::string_view wait = compute_limited_by(stages);
  if (stages.limited_by == "compute" && !wait.empty()) text += fmt::format(" ({})", wait);
  if (stages.first_layer > Duration{}) {
    text += "; first layer ready after " + format_duration(stages.first_layer);
  }
  if (report.intervals && report.intervals->longest > report.intervals->p50) {
    text += fmt::format("; tokens {} apart in the median, {} at most",
                        format_duration(report.intervals->p50),
                        format_duration(report.intervals->longest));
  }
  return paragraph("Stages", text);
}

std::string energy_line(const SimReport& report) {
  if (!report.energy) return "";
  const EnergyFacts& energy = *report.energy;
  std::string text = fmt::format(
      "{}: compute {}, memory {}, storage {}, idle {}", format_energy(energy.total()),
      format_energy(energy.compute_microjoules), format_energy(energy.memory_microjoules),
      format_energy(energy.storage_microjoules), format_energy(energy.idle_microjoules));
  if (report.end > Duration{}) {
    constexpr double kPerWatt = 1000.0;  // microjoules by nanoseconds are kilowatts
    text += fmt::format("; a mean of {} W",
                        three_digits(static_cast<double>(energy.total()) * kPerWatt /
                                     static_cast<double>(report.end.count())));
  }
  return paragraph("Energy", text);
}

}  // namespace tidemark

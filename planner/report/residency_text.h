// The parts of a run's report that speak of prefetch, processes, experts and rows that come and go,
// and of how the weights came.
#pragma once

#include <string>

#include "planner/report/report.h"

namespace tidemark {

// SimEvent::what of the progress of loading: shown on one line of its own, not among the events.
inline constexpr std::string_view kProgress = "progress";

// "; 12 units read ahead, 3 of them late"; empty without a prefetch.
std::string prefetch_words(const SimReport& report);
// One paragraph for each of these that the run has.
std::string residency_section(const SimReport& report);

}  // namespace tidemark

// The parts of a run's text that speak of what was busy and of what it drew.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "planner/report/report.h"

namespace tidemark {

// What ops waited for longest: "arithmetic", "memory", "overhead"; "" where it is not told apart.
std::string_view compute_limited_by(const StageFacts& stages);

// "7.76 J", "60.0 mJ", "999 uJ".
std::string format_energy(int64_t microjoules);

// "Stages     busy: read 432 ms, compute 8.96 s (memory 8.70 s, arithmetic 260 ms); limited by
//             compute (memory); ..."; "" without stages.
std::string stage_line(const SimReport& report);
// "Energy     7.76 J: compute 6.50 J, memory 200 mJ, ..., a mean of 1.94 W"; "" without figures.
std::string energy_line(const SimReport& report);

}  // namespace tidemark

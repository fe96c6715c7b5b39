// The arena in the text of a plan: its plan, what fills it, its phases, and what it grows with.
#pragma once

#include <string>

#include "planner/report/report.h"

namespace tidemark {

// A few lines, each ending with a newline.
std::string arena_section(const PlanReport& report);

}  // namespace tidemark

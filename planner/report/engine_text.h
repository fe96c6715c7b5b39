// What the engine's profile adds to the text of a plan. Each ends with a newline, or is empty.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "planner/report/report.h"

namespace tidemark {

// llama.cpp's own table, what sets its compute buffer, what that grows with, and ours beside it;
// "" under other engines.
std::string llama_section(const PlanReport& report);

// "Interval   2.90 GiB to 3.27 GiB; most uncertain is the runtime: ..."; "" where nothing is.
std::string interval_section(const PlanReport& report);

// Of reports that differ in the engine alone: each term that does, by how much and why; "" else.
std::string engine_differences(std::span<const PlanReport> reports);

// The table behind --show kinds.
std::string kinds_text(const std::optional<MemoryKinds>& kinds);

}  // namespace tidemark

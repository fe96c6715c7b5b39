// Reports -> text. All are pure and byte-stable: same report, same bytes.
#pragma once

#include <span>
#include <string>

#include "planner/report/report.h"

namespace tidemark {

struct TextStyle {
  bool color = false;
};

std::string to_text(const PlanReport& report, TextStyle style = {});
std::string to_text(const SimReport& report, TextStyle style = {});
// Several strategies or engines side by side, one row each.
std::string to_comparison(std::span<const PlanReport> reports, TextStyle style = {});
std::string to_comparison(std::span<const SimReport> reports, TextStyle style = {});

// One document per report by the JSON contract; several become {"schema", "results": [...]}.
std::string to_json(std::span<const PlanReport> reports);
std::string to_json(std::span<const SimReport> reports);

std::string to_csv(std::span<const PlanReport> reports);  // one row per report
std::string to_csv(std::span<const SimReport> reports);   // one row per report, no curve
std::string curve_to_csv(const SimReport& report);        // t_ns,weights_bytes,...,total_bytes
std::string to_markdown(std::span<const PlanReport> reports);
std::string to_markdown(std::span<const SimReport> reports);

// Stacked memory curve over time, the limit as a red line, the peak marked. One panel per report,
// shared axes.
std::string curve_to_svg(std::span<const SimReport> reports);

// Offset (up) against step (right), one letter per buffer, '.' free, '!' where two overlap.
std::string arena_map(const ArenaFacts& arena, int columns = 100, int rows = 24);

}  // namespace tidemark

// What `tidemark compare` says of a log: each run's model and settings with where they come from,
// then term by term what was logged, what is predicted, and why they differ.
#pragma once

#include <string>
#include <vector>

#include "planner/compare/compare_log.h"
#include "planner/report/writers.h"

namespace tidemark {

struct CompareReport {
  std::string file{};
  int64_t tolerance_per_mille = 20;
  std::vector<Comparison> runs{};
  std::vector<std::string> notes{};
};

bool any_over(const CompareReport& report);

std::string to_text(const CompareReport& report, TextStyle style = {});
std::string to_json(const CompareReport& report);  // tidemark.compare/1
std::string to_csv(const CompareReport& report);   // one row a term
std::string to_markdown(const CompareReport& report);

}  // namespace tidemark

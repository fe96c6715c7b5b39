// What tells the reports of one replay apart: always the strategy, and model, device, engine and
// any other setting where they differ.
//
//   --strategy resident,layerwise --device a,b     device  strategy
//                                                  a       resident     "a, resident"
//                                                  ...
//   Checked by ReplayLabelsTest.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "planner/report/layout.h"
#include "planner/report/replay_report.h"

namespace tidemark {

// "device", "strategy", in the order of their columns.
std::vector<std::string> label_keys(std::span<const ReplayReport> reports);
// As they were given, one a key.
std::vector<std::string> label_values(const ReplayReport& report,
                                      std::span<const std::string> keys);

// For people: on one line, and not too long; of a path its end is left.
std::vector<Column> label_columns(std::span<const std::string> keys);
std::vector<Cell> label_cells(const ReplayReport& report, std::span<const std::string> keys);
std::string row_name(const ReplayReport& report, std::span<const std::string> keys);

}  // namespace tidemark

// Rows for reading: which columns a table of a store has, and the text of each row's cells.
#pragma once

#include <string>
#include <vector>

#include "planner/report/layout.h"
#include "sim/sweep/store.h"

namespace tidemark {

struct SummaryTable {
  std::vector<Column> columns{};
  std::vector<size_t> settings{};    // the first columns: positions in sweep_columns()
  std::vector<std::string> fixed{};  // "ctx_size 4096": settings with one value in all rows
  std::string note{};                // what fits, total and slack leave out; "" = nothing
  bool any_failed = false;           // then the last column is the problem
  std::vector<int> widths{};         // of the widest cell, head included
};

// Looks at every row once.
Result<SummaryTable> summary_table(const Store& store);

std::vector<Cell> summary_cells(const SummaryTable& table, const SweepRow& row);

}  // namespace tidemark

// The rows of a store as text, in the store's own order: the same rows give the same bytes, however
// often the run that made them was interrupted.
//
//   csv, jsonl   everything, exact: bytes, nanoseconds; an empty cell is an empty field, or null
//   table, md    for reading: the settings that vary as columns, the others said once, rounded
//   numbers
//
// Rows are written one by one; no format holds them all in memory.
#pragma once

#include <functional>
#include <string_view>

#include "planner/report/writers.h"
#include "sim/sweep/store.h"

namespace tidemark {

enum class ExportFormat { kTable, kCsv, kJsonLines, kMarkdown };

// Takes the text piece by piece; false when it cannot, which ends the export.
using TextSink = std::function<bool(std::string_view)>;

// The value is the number of rows.
Result<int64_t> export_rows(const Store& store, ExportFormat format, const TextSink& sink,
                            TextStyle style = {});

}  // namespace tidemark

// Sweeps without models: scenarios that cost nothing, so that tests are about the sweep itself.
#pragma once

#include <functional>
#include <string>

#include "sim/sweep/export.h"
#include "sim/sweep/run.h"

namespace tidemark::testing {

// ctx_size 1 to `contexts` x prompt 1 to `prompts`.
Grid point_grid(int contexts, int prompts = 1);

// total_bytes is 1000 x ctx_size + prompt. A `quant` of "bad" does not resolve.
SweepOptions fake_options(int threads = 2);
PreparedScenario fake_prepare(SettingMap settings);
SweepRow fake_compute(const PreparedScenario& prepared);

// A row with this text everywhere a text may stand.
SweepRow text_row(const std::string& id, const std::string& text);

Store temporary_store();
SweepSummary run_ok(const Grid& grid, Store& store, const SweepOptions& options);
std::string exported(const Store& store, ExportFormat format = ExportFormat::kCsv);
int64_t row_count(const Store& store);

}  // namespace tidemark::testing

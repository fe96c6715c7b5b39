#include "rows.h"

#include <gtest/gtest.h>

namespace tidemark::testing {
namespace {

SettingText range_up_to(int last) { return {.text = "1-" + std::to_string(last)}; }

int64_t number(const SettingMap& settings, const std::string& key) {
  return std::stoll(settings.at(key).text);
}

}  // namespace

Grid point_grid(int contexts, int prompts) {
  return make_grid({{"ctx_size", range_up_to(contexts)}, {"prompt", range_up_to(prompts)}}).value();
}

SweepOptions fake_options(int threads) {
  return {.threads = threads, .prepare = fake_prepare, .compute = fake_compute};
}

PreparedScenario fake_prepare(SettingMap settings) {
  PreparedScenario prepared{.written = std::move(settings)};
  const auto quant = prepared.written.find("quant");
  if (quant != prepared.written.end() && quant->second.text == "bad") {
    prepared.canonical = unresolved_text(prepared.written);
    prepared.problems = one_error("quant", "\"bad\" is no format");
    return prepared;
  }
  prepared.scenario = Scenario{};
  for (const auto& [key, value] : prepared.written) {
    prepared.canonical += key + "=" + value.text + "\n";
  }
  return prepared;
}

SweepRow fake_compute(const PreparedScenario& prepared) {
  SweepRow row{.canonical = prepared.canonical, .cells = blank_cells()};
  for (const auto& [key, value] : prepared.written) {
    set_cell(row.cells, key, setting_cell(value.text));
  }
  if (!prepared.scenario) {
    set_failed(row.cells, prepared.problems);
    return row;
  }
  const int64_t total =
      1000 * number(prepared.written, "ctx_size") + number(prepared.written, "prompt");
  set_cell(row.cells, "total_bytes", total);
  set_cell(row.cells, "tokens_per_second", 1.0 / static_cast<double>(total));
  return row;
}

SweepRow text_row(const std::string& id, const std::string& text) {
  SweepRow row{.id = id, .canonical = id, .cells = blank_cells()};
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const SweepColumn& column = sweep_columns()[i];
    const bool holds_text = column.kind == ColumnKind::kSetting || column.kind == ColumnKind::kText;
    if (holds_text && column.name != "status") row.cells[i] = text;
  }
  return row;
}

Store temporary_store() { return Store::temporary().value(); }

SweepSummary run_ok(const Grid& grid, Store& store, const SweepOptions& options) {
  const Result<SweepSummary> summary = run_sweep(grid, store, options);
  EXPECT_TRUE(summary.ok()) << to_string(summary.diagnostics());
  return summary.ok() ? *summary : SweepSummary{};
}

std::string exported(const Store& store, ExportFormat format) {
  std::string text;
  const Result<int64_t> rows = export_rows(store, format, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  EXPECT_TRUE(rows.ok()) << to_string(rows.diagnostics());
  return text;
}

int64_t row_count(const Store& store) { return store.count().value(); }

}  // namespace tidemark::testing

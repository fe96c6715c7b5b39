#include "sim/sweep/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "rows.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace tidemark::testing;

SweepRow small_row(const std::string& id, int64_t context, bool fits) {
  SweepRow row{.id = id, .canonical = id, .cells = blank_cells()};
  set_cell(row.cells, "model", "minicpm-2b");
  set_cell(row.cells, "ctx_size", context);
  set_cell(row.cells, "total_bytes", int64_t{1} << 30);
  set_cell(row.cells, "slack_bytes", fits ? int64_t{1} << 20 : -(int64_t{1} << 20));
  set_cell(row.cells, "fits", int64_t{fits});
  set_cell(row.cells, "outcome", fits ? "completed" : "over_limit");
  set_cell(row.cells, "peak_bytes", int64_t{1} << 29);
  set_cell(row.cells, "ttft_ns", int64_t{1500000});
  set_cell(row.cells, "tpot_ns", int64_t{50000000});
  set_cell(row.cells, "tokens_per_second", 20.0);
  return row;
}

SweepRow failed_row(const std::string& id, int64_t context) {
  SweepRow row{.id = id, .canonical = id, .cells = blank_cells()};
  set_cell(row.cells, "model", "minicpm-2b");
  set_cell(row.cells, "ctx_size", context);
  set_failed(row.cells, one_error("--ctx-size", "too small", "take a larger one"));
  return row;
}

Store store_of(const std::vector<SweepRow>& rows) {
  Store store = temporary_store();
  EXPECT_TRUE(store.write(rows).ok());
  return store;
}

TEST(ExportTest, TheTableNamesWhatVariesAndSaysTheRestOnce) {
  const Store store = store_of({small_row("b", 4096, false), small_row("a", 512, true)});
  EXPECT_EQ(exported(store, ExportFormat::kTable),
            "Sweep of 2 scenarios\n"
            "\n"
            "Fixed      model minicpm-2b\n"
            "\n"
            "ctx_size  fits     total      slack  outcome        peak     TTFT  tok/s\n"
            "------------------------------------------------------------------------\n"
            "512        yes  1.00 GiB  +1.00 MiB  completed   512 MiB  1.50 ms   20.0\n"
            "4096        no  1.00 GiB  -1.00 MiB  over_limit  512 MiB  1.50 ms   20.0\n");
}

// A plan counts all experts; that the run keeps some is said above the table.
TEST(ExportTest, WhatThePlanLeavesOutIsNoted) {
  SweepRow kept = small_row("a", 512, false);
  set_cell(kept.cells, "not_planned", "expert_cache");
  const Store store = store_of({kept, small_row("b", 1024, true)});
  const std::string note =
      "fits, total and slack are of a plan with all weights in one process; outcome and peak";
  EXPECT_THAT(exported(store, ExportFormat::kTable),
              HasSubstr("\nNote       " + note +
                        "\n           are of the run, with expert_cache.\n\nctx_size"));
  EXPECT_THAT(exported(store, ExportFormat::kMarkdown),
              HasSubstr("\nNote: " + note + " are of the run, with expert_cache.\n\n|"));
  EXPECT_THAT(exported(store_of({small_row("b", 1024, true)}), ExportFormat::kTable),
              Not(HasSubstr("Note")));
}

TEST(ExportTest, AFailedRowShowsItsProblemOnly) {
  const Store store = store_of({small_row("a", 512, true), failed_row("b", 1)});
  EXPECT_THAT(exported(store, ExportFormat::kTable),
              HasSubstr("1            -         -          -  failed           -        -      -  "
                        "error: --ctx-size: too small\n"));
}

TEST(ExportTest, MarkdownIsATableOfPipes) {
  EXPECT_EQ(exported(store_of({small_row("a", 512, true), small_row("b", 1024, true)}),
                     ExportFormat::kMarkdown),
            "Fixed: model minicpm-2b\n"
            "\n"
            "| ctx_size | fits | total | slack | outcome | peak | TTFT | tok/s |\n"
            "| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |\n"
            "| 512 | yes | 1.00 GiB | +1.00 MiB | completed | 512 MiB | 1.50 ms | 20.0 |\n"
            "| 1024 | yes | 1.00 GiB | +1.00 MiB | completed | 512 MiB | 1.50 ms | 20.0 |\n");
}

TEST(ExportTest, CsvHasEveryColumnExactly) {
  const std::string text = exported(store_of({small_row("a", 512, true)}));
  EXPECT_THAT(text, StartsWith("id,model,"));
  EXPECT_THAT(text, HasSubstr("\na,minicpm-2b,"));
  EXPECT_THAT(text, HasSubstr(",1073741824,"));
  EXPECT_THAT(text, HasSubstr(",true,1048576,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(ExportTest, JsonLinesHaveNumbersTruthValuesAndNulls) {
  const std::string text =
      exported(store_of({small_row("a", 512, true)}), ExportFormat::kJsonLines);
  EXPECT_THAT(text, StartsWith("{\"schema\":\"tidemark.sweep/1\",\"id\":\"a\",\"model\":"));
  EXPECT_THAT(text, HasSubstr(",\"device\":null,"));
  EXPECT_THAT(text, HasSubstr(",\"ctx_size\":512,"));
  EXPECT_THAT(text, HasSubstr(",\"fits\":true,"));
  EXPECT_THAT(text, HasSubstr(",\"tokens_per_second\":20,"));
  EXPECT_THAT(text, HasSubstr(",\"hit_rate\":null,"));
}

TEST(ExportTest, AnEmptyStoreHasHeadsOnly) {
  const Store store = temporary_store();
  EXPECT_EQ(exported(store, ExportFormat::kJsonLines), "");
  EXPECT_THAT(exported(store, ExportFormat::kTable), StartsWith("Sweep of 0 scenarios\n"));
  const std::string csv = exported(store);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1);
}

// One row is one line of one shape in every format, whatever its texts hold.
TEST(ExportTest, HostileTextBreaksNoFormat) {
  const std::string hostile = "a,\"b\"|c\n\x1b[31m<d>\\ \xff\t";
  SweepRow failed = text_row("b", hostile);
  set_cell(failed.cells, "status", "failed");
  SweepRow other = text_row("a", "plain");
  const Store store = store_of({other, failed});

  EXPECT_THAT(exported(store), HasSubstr("\"a,\"\"b\"\"|c"));
  const std::string json = exported(store, ExportFormat::kJsonLines);
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 2);
  EXPECT_THAT(json, HasSubstr("\"a,\\\"b\\\"|c\\u000a\\u001b[31m<d>\\\\ \xEF\xBF\xBD\\u0009\""));
  const std::string table = exported(store, ExportFormat::kTable);
  // Title, note of two lines, head and rule, two rows; a line between the first three.
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 9);
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  const std::string markdown = exported(store, ExportFormat::kMarkdown);
  EXPECT_THAT(markdown, HasSubstr("a,\"b\"\\|c\\\\n"));
  EXPECT_THAT(markdown, Not(HasSubstr("<d>")));
}

TEST(ExportTest, ASinkThatCannotTakeMoreEndsTheExport) {
  const Store store = store_of({small_row("a", 1, true), small_row("b", 2, true)});
  int pieces = 0;
  const auto rows = export_rows(store, ExportFormat::kCsv, [&](std::string_view) {
    ++pieces;
    return pieces < 2;
  });
  EXPECT_EQ(rows.value(), 1);
  EXPECT_EQ(pieces, 2);
}

}  // namespace
}  // namespace tidemark

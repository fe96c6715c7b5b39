#include "sim/sweep/row.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

namespace tidemark {
namespace {

TEST(SweepRowTest, EveryColumnHasANameOfItsOwn) {
  std::set<std::string> names = {"id", "canonical"};
  for (const SweepColumn& column : sweep_columns()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
  }
}

TEST(SweepRowTest, AWholeNumberIsKeptAsANumberAndAnythingElseAsWritten) {
  EXPECT_EQ(setting_cell("4096"), SweepCell(int64_t{4096}));
  EXPECT_EQ(setting_cell("-1"), SweepCell(int64_t{-1}));
  EXPECT_EQ(setting_cell("-0"), SweepCell("-0"));
  EXPECT_EQ(setting_cell("007"), SweepCell("007"));
  EXPECT_EQ(setting_cell("1e3"), SweepCell("1e3"));
  EXPECT_EQ(setting_cell("1 GiB"), SweepCell("1 GiB"));
  EXPECT_EQ(setting_cell(""), SweepCell(""));
}

TEST(SweepRowTest, ValuesSortByWhatTheyMean) {
  std::vector<std::string> values = {"Q4_0", "10",   "1 GiB", "9",    "int4", "512 MiB",
                                     "0.5",  "1 GB", "-3",    "20 %", "",     "5 %"};
  std::sort(values.begin(), values.end(),
            [](const std::string& a, const std::string& b) { return compare_values(a, b) < 0; });
  EXPECT_EQ(values, (std::vector<std::string>{"-3", "5 %", "20 %", "0.5", "9", "10", "512 MiB",
                                              "1 GB", "1 GiB", "", "Q4_0", "int4"}));
}

// What a sort needs: an order that no three texts can break.
TEST(SweepRowTest, TheOrderOfValuesIsTotal) {
  const auto value =
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("0019.e- %GiBMxQinf\x80")));
  EXPECT_TRUE(rc::check([&] {
    const std::string a = *value;
    const std::string b = *value;
    const std::string c = *value;
    RC_ASSERT((compare_values(a, b) == 0) == (a == b));
    RC_ASSERT((compare_values(a, b) < 0) == (compare_values(b, a) > 0));
    if (compare_values(a, b) < 0 && compare_values(b, c) < 0) RC_ASSERT(compare_values(a, c) < 0);
  }));
}

TEST(SweepRowTest, AFailedRowSaysSoAndWhy) {
  SweepRow row{.cells = blank_cells()};
  EXPECT_FALSE(row.failed());
  set_failed(row.cells, one_error("--quant", "no such format", "see `tidemark list quants`"));
  EXPECT_TRUE(row.failed());
  EXPECT_EQ(row.diagnostic(), "error: --quant: no such format\n  hint: see `tidemark list quants`");
}

TEST(SweepRowTest, ReportsFillTheirColumns) {
  std::vector<SweepCell> cells = blank_cells();
  PlanReport plan;
  plan.memory = {.weights = Bytes::of(5), .kv_cache = Bytes::of(7)};
  plan.verdict = {.fits = true, .slack = Bytes::of(-3), .binding_term = "kv_cache"};
  set_plan(cells, plan);
  SimReport simulation;
  simulation.outcome = SimOutcome::kOverLimit;
  simulation.hit_rate = 0.25;
  simulation.page_faults = 4;
  simulation.energy = EnergyFacts{.compute_microjoules = 5, .idle_microjoules = 7};
  simulation.experts = ExpertFacts{.read_per_token = Bytes::of(9)};
  set_simulation(cells, simulation);
  EXPECT_EQ(cells[sweep_column("weights_bytes")], SweepCell(int64_t{5}));
  EXPECT_EQ(cells[sweep_column("total_bytes")], SweepCell(int64_t{12}));
  EXPECT_EQ(cells[sweep_column("fits")], SweepCell(int64_t{1}));
  EXPECT_EQ(cells[sweep_column("slack_bytes")], SweepCell(int64_t{-3}));
  EXPECT_EQ(cells[sweep_column("binding_term")], SweepCell("kv_cache"));
  EXPECT_EQ(cells[sweep_column("outcome")], SweepCell("over_limit"));
  EXPECT_EQ(cells[sweep_column("hit_rate")], SweepCell(0.25));
  EXPECT_EQ(cells[sweep_column("tpot_ns")], SweepCell());
  EXPECT_EQ(cells[sweep_column("page_faults")], SweepCell(int64_t{4}));
  EXPECT_EQ(cells[sweep_column("energy_total_uj")], SweepCell(int64_t{12}));
  EXPECT_EQ(cells[sweep_column("read_per_token_bytes")], SweepCell(int64_t{9}));
  set_simulation(cells, SimReport{});
  EXPECT_EQ(cells[sweep_column("energy_total_uj")], SweepCell());
  EXPECT_EQ(cells[sweep_column("read_per_token_bytes")], SweepCell());
}

}  // namespace
}  // namespace tidemark

#include "sim/sweep/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rows.h"
#include "sim/strategy/simulate.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

SettingMap settings(std::initializer_list<std::pair<const char*, const char*>> texts) {
  SettingMap map;
  for (const auto& [key, text] : texts) map[key] = {.text = text, .origin = "test"};
  return map;
}

SweepRow evaluated(const SettingMap& written) { return compute_row(prepare_scenario(written)); }

SweepCell cell(const SweepRow& row, std::string_view column) {
  return row.cells[sweep_column(column)];
}

TEST(EvaluateTest, ARowHoldsTheNumbersOfPlanAndSimulation) {
  const SettingMap written = settings({{"model", "minicpm-2b"},
                                       {"quant", "int4"},
                                       {"strategy", "layerwise"},
                                       {"prompt", "16"},
                                       {"generate", "4"}});
  const Scenario scenario = resolve_scenario(written).value();
  const MemoryPlan plan = plan_scenario(scenario).value();
  const SimReport simulation = simulate(scenario, plan).value().report;

  const SweepRow row = evaluated(written);
  EXPECT_FALSE(row.failed()) << row.diagnostic();
  EXPECT_EQ(row.canonical, canonical_text(scenario));
  EXPECT_EQ(cell(row, "model"), SweepCell("minicpm-2b"));
  EXPECT_EQ(cell(row, "ctx_size"), SweepCell(scenario.n_ctx.count()));
  EXPECT_EQ(cell(row, "kv_cache_bytes"), SweepCell(plan.breakdown.kv_cache.count()));
  EXPECT_EQ(cell(row, "total_bytes"), SweepCell(plan.breakdown.total().count()));
  EXPECT_EQ(cell(row, "peak_bytes"), SweepCell(simulation.peak.count()));
  EXPECT_EQ(cell(row, "ttft_ns"), SweepCell(simulation.ttft.count()));
}

TEST(EvaluateTest, SettingsThatDoNotResolveAreARowOfWhatWasWritten) {
  const SweepRow row = evaluated(settings({{"model", "nosuch"}, {"ctx_size", "4096"}}));
  EXPECT_TRUE(row.failed());
  EXPECT_THAT(row.diagnostic(), HasSubstr("nosuch"));
  EXPECT_THAT(row.canonical, StartsWith("unresolved=1\n"));
  EXPECT_EQ(cell(row, "ctx_size"), SweepCell(int64_t{4096}));
  EXPECT_EQ(cell(row, "total_bytes"), SweepCell());
}

TEST(EvaluateTest, WhatPlansButCannotBeSimulatedKeepsItsPlan) {
  const SweepRow row = evaluated(settings({{"model", "minicpm-2b"},
                                           {"strategy", "block-cache"},
                                           {"cache_policy", "pinned"},
                                           {"pinned", "nosuch"}}));
  EXPECT_TRUE(row.failed());
  EXPECT_THAT(row.diagnostic(), HasSubstr("nosuch"));
  EXPECT_NE(cell(row, "total_bytes"), SweepCell());
  EXPECT_EQ(cell(row, "peak_bytes"), SweepCell());
}

TEST(EvaluateTest, TwoSpellingsOfAFormatAreOneScenario) {
  const auto id = [](const char* quant) {
    return prepare_scenario(settings({{"model", "minicpm-2b"}, {"quant", quant}})).canonical;
  };
  EXPECT_EQ(id("Q4_0"), id("q4_0"));
  EXPECT_NE(id("Q4_0"), id("Q8_0"));
}

}  // namespace
}  // namespace tidemark

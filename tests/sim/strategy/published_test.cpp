// Published runs, simulated from the scenarios that ship: docs/explanation/validity.md has the
// table with what is an input of each. A tolerance is what the row's own numbers allow, not what we
// miss: rounding of what was printed, rates that were given as a range, a rule of thumb's spread.
#include <gtest/gtest.h>

#include <cmath>

#include "planner/base/diagnostic.h"
#include "planner/base/files.h"
#include "planner/config/load.h"
#include "planner/config/settings.h"
#include "sim/strategy/simulate.h"

namespace tidemark {
namespace {

// What a row prints, read off the report.
enum class Figure {
  kToken,       // ms a token, decode
  kEnd,         // ms of the whole run
  kFirstToken,  // s
  kRate,        // decode tokens/s
  kBlockRate,   // tokens/s of an offload block over both phases
};

struct PublishedRun {
  const char* scenario;
  Figure figure;
  double published;
  double tolerance;  // relative
};

double seconds(Duration duration) { return static_cast<double>(duration.count()) * 1e-9; }

SimReport simulated(const Scenario& scenario) {
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  EXPECT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  Result<SimResult> result = simulate(scenario, *plan);
  EXPECT_TRUE(result.ok()) << to_string(result.diagnostics());
  return result->report;
}

Scenario shipped(const std::string& name, const SettingMap& changed = {}) {
  const Result<SettingMap> settings = load_scenario_file(name);
  EXPECT_TRUE(settings.ok()) << to_string(settings.diagnostics());
  Result<Scenario> scenario = resolve_scenario(merge(*settings, changed));
  EXPECT_TRUE(scenario.ok()) << to_string(scenario.diagnostics());
  return std::move(scenario).value();
}

double figure_of(const Scenario& scenario, Figure figure) {
  const SimReport report = simulated(scenario);
  switch (figure) {
    case Figure::kToken:
      return 1e3 * seconds(report.tpot.value());
    case Figure::kEnd:
      return 1e3 * seconds(report.end);
    case Figure::kFirstToken:
      return seconds(report.ttft);
    case Figure::kRate:
      return report.tokens_per_second;
    case Figure::kBlockRate:
      break;
  }
  const int64_t sequences = scenario.n_seq * scenario.offload->batches;
  return static_cast<double>(sequences * scenario.generate.count()) / seconds(report.end);
}

class Published : public ::testing::TestWithParam<PublishedRun> {};

TEST_P(Published, IsReproducedWithinItsTolerance) {
  const auto& [name, figure, published, tolerance] = GetParam();
  const double ours = figure_of(shipped(name), figure);
  EXPECT_LE(std::abs(ours / published - 1), tolerance) << name << ": " << ours;
}

// Row 1: 6.10 and 1.25 GB/s are means of many reads, bytes are given to one digit: 2.5 %.
INSTANTIATE_TEST_SUITE_P(
    Row1, Published,
    ::testing::Values(PublishedRun{"published-01-dense", Figure::kEnd, 2196, 0.025},
                      PublishedRun{"published-01-half", Figure::kEnd, 1090, 0.025},
                      PublishedRun{"published-01-predictor", Figure::kEnd, 738, 0.025},
                      PublishedRun{"published-01-window", Figure::kEnd, 164, 0.025},
                      PublishedRun{"published-01-bundled", Figure::kEnd, 87, 0.025}));

// Row 2: a sum of three given times; what is left is the rounding of rates and bytes.
INSTANTIATE_TEST_SUITE_P(
    Row2, Published,
    ::testing::Values(PublishedRun{"published-02-cpu-dense", Figure::kToken, 3182, 0.001},
                      PublishedRun{"published-02-cpu", Figure::kToken, 669, 0.001},
                      PublishedRun{"published-02-metal-m1", Figure::kToken, 565, 0.001},
                      PublishedRun{"published-02-metal-m2", Figure::kToken, 305, 0.001},
                      PublishedRun{"published-02-rtx-4090", Figure::kToken, 84, 0.001},
                      PublishedRun{"published-02-falcon-cpu", Figure::kToken, 706, 0.001}));

// Row 4: the disk is given as 3.0 to 3.17 GB/s, 2.8 % either way; the models were cut from a
// larger one by hand, so their sizes are within one layer of 0.5 GB in 25 to 31: 2 % more.
INSTANTIATE_TEST_SUITE_P(
    Row4, Published,
    ::testing::Values(PublishedRun{"published-04-60b", Figure::kToken, 7965, 0.05},
                      PublishedRun{"published-04-65b", Figure::kToken, 8807, 0.05},
                      PublishedRun{"published-04-70b", Figure::kToken, 10120, 0.05}));

// Rows 6 and 7: a cost model's constants against a run; its authors state no error, the two batch
// shapes of row 6 differ by 1.6 % for one published figure.
INSTANTIATE_TEST_SUITE_P(
    Row6, Published,
    ::testing::Values(PublishedRun{"published-06-48x3", Figure::kBlockRate, 7.32, 0.04},
                      PublishedRun{"published-06-64x2", Figure::kBlockRate, 7.32, 0.05},
                      PublishedRun{"published-07-fitted", Figure::kBlockRate, 0.69, 0.03}));

// Row 8: 8,192 tokens in 2,711 + 11,315 s; the first is fitted, the second is not.
INSTANTIATE_TEST_SUITE_P(Row8, Published,
                         ::testing::Values(PublishedRun{"published-08", Figure::kBlockRate,
                                                        8192.0 / 14026, 0.06}));

// Row 11: one rate for all rows, itself the mean of them: 3 % for bf16. In 4 bits unpacking takes
// time that bytes do not tell: a bound from above, within 20 %.
INSTANTIATE_TEST_SUITE_P(
    Row11, Published,
    ::testing::Values(PublishedRun{"published-11-1b-bf16", Figure::kRate, 19.2, 0.03},
                      PublishedRun{"published-11-3b-bf16", Figure::kRate, 7.6, 0.03},
                      PublishedRun{"published-11-1b-4bit", Figure::kRate, 50.2, 0.2},
                      PublishedRun{"published-11-3b-4bit", Figure::kRate, 19.7, 0.2}));

// Row 11, prompts of 64 tokens: 60.3 and 21.2 tok/s in bf16, 260.5 and 89.7 in 4 bits. The rates of
// oneplus-12 are fitted to the model of 1B; that of 3B has 2.9 times its products a token. In 4
// bits what is not products weighs more, and is counted as if nothing of it stayed in a cache.
TEST(PublishedTest, PrefillRatesOfOneModelHoldForAnother) {
  const auto prefill_rate = [](const char* scenario) {
    const SimReport report = simulated(shipped(scenario));
    return 64 / seconds(report.ttft - report.stalls.loading);
  };
  EXPECT_NEAR(prefill_rate("published-11-1b-bf16"), 60.3, 60.3 * 0.01);
  EXPECT_NEAR(prefill_rate("published-11-1b-4bit"), 260.5, 260.5 * 0.01);
  EXPECT_NEAR(prefill_rate("published-11-3b-bf16"), 21.2, 21.2 * 0.03);
  EXPECT_NEAR(prefill_rate("published-11-3b-4bit"), 89.7, 89.7 * 0.08);
}

// Row 12: printed to one decimal of 1.3 to 3.3: 0.05 / 1.3.
INSTANTIATE_TEST_SUITE_P(
    Row12, Published,
    ::testing::Values(PublishedRun{"published-12-266mb-direct", Figure::kRate, 3.3, 0.04},
                      PublishedRun{"published-12-366mb-direct", Figure::kRate, 2.6, 0.04},
                      PublishedRun{"published-12-494mb-direct", Figure::kRate, 2.0, 0.04},
                      PublishedRun{"published-12-608mb-direct", Figure::kRate, 1.7, 0.04},
                      PublishedRun{"published-12-266mb-buffered", Figure::kRate, 2.7, 0.04},
                      PublishedRun{"published-12-366mb-buffered", Figure::kRate, 2.1, 0.04},
                      PublishedRun{"published-12-494mb-buffered", Figure::kRate, 1.6, 0.04},
                      PublishedRun{"published-12-608mb-buffered", Figure::kRate, 1.3, 0.04},
                      PublishedRun{"published-12-266mb-overlap", Figure::kRate, 4.2, 0.04}));

// Row 13: printed in whole seconds of 44.
INSTANTIATE_TEST_SUITE_P(
    Row13, Published,
    ::testing::Values(PublishedRun{"published-13-33gb", Figure::kFirstToken, 44, 0.0115},
                      PublishedRun{"published-13-81gb", Figure::kFirstToken, 106, 0.0115}));

// Row 14: "20 s", "20 GB", "1 GB/s" are round numbers: 5 %.
INSTANTIATE_TEST_SUITE_P(Row14, Published,
                         ::testing::Values(PublishedRun{"published-14", Figure::kToken, 20'000,
                                                        0.05}));

// Row 20: a rate that is itself from this table.
INSTANTIATE_TEST_SUITE_P(Row20, Published,
                         ::testing::Values(PublishedRun{"published-20", Figure::kRate, 19.14,
                                                        0.1}));

// Row 7: with the disk rate that its authors wrote down, 0.69 tok/s is out of reach.
TEST(PublishedTest, FlexGensOwnDiskRateIsTooSlowForItsOwnResult) {
  EXPECT_NEAR(figure_of(shipped("published-07-default"), Figure::kBlockRate), 0.154, 0.005);
}

// Row 16: 28 layers, each reading 1,024 B a token at 1 GB/s behind about 3 ms of work.
TEST(PublishedTest, CacheInFlashIsHiddenToThreeThousandTokens) {
  const auto token_ms = [](const char* prompt) {
    return figure_of(shipped("published-16", {{"prompt", {.text = prompt, .origin = "test"}}}),
                     Figure::kToken);
  };
  const double at_1024 = token_ms("1024");
  EXPECT_NEAR(token_ms("2048"), at_1024, 2.0);  // attention over more cells, no wait
  const double slope = (token_ms("6144") - token_ms("5120")) / 28;
  EXPECT_NEAR(slope, 1.05, 0.06);  // 1,024 x 1,024 B at 1 GB/s
  // From where the two lines cross: hidden up to about 3 ms of reads.
  const double hidden = 5120 - 1024 * (token_ms("5120") - token_ms("2048")) / (28 * slope);
  EXPECT_NEAR(hidden, 3072, 310);
}

// Row 18: reading ahead gains about a tenth, 4 bits about three times, as published.
TEST(PublishedTest, ALayerAtATimeIsBoundByTheDisk) {
  const auto token_ms = [](const SettingMap& changed) {
    return figure_of(shipped("published-18", changed), Figure::kToken);
  };
  const double plain = token_ms({});
  const double ahead = token_ms({{"strategy", {.text = "double-buffer", .origin = "test"}}});
  const double packed = token_ms({{"quant", {.text = "int4_g64", .origin = "test"}}});
  EXPECT_NEAR(plain / ahead, 1.10, 0.05);
  EXPECT_GT(plain / packed, 3);
  EXPECT_LT(plain / packed, 4);
}

// Row 15: the time follows from bytes and rate, what was measured is twice that.
TEST(PublishedTest, PagingLosesHalfOfTheRateWhichIsNotModelled) {
  const double ours = figure_of(shipped("published-15"), Figure::kToken);
  EXPECT_LT(ours, 11'523);
  EXPECT_GT(ours, 11'523 / 2.5);
}

// Rows 3 and 19 are sizes: 52.06 % of 13.4 GB; 2 x 32 x 32 x 96 x 2 B x 131,072 cells.
TEST(PublishedTest, SizesOfMemory) {
  const Result<MemoryPlan> share = plan_scenario(shipped("published-03"));
  ASSERT_TRUE(share.ok());
  EXPECT_NEAR(static_cast<double>(share->breakdown.weights.count()) / 13.4e9, 0.521, 0.0005);
  const Result<MemoryPlan> longest = plan_scenario(shipped("published-19"));
  ASSERT_TRUE(longest.ok());
  EXPECT_EQ(longest->breakdown.kv_cache, Bytes::of(51'539'607'552));
}

}  // namespace
}  // namespace tidemark

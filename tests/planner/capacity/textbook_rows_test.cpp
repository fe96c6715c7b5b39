// The rows that set the textbook beside the plan.
#include <gtest/gtest.h>

#include <set>

#include "planner/capacity/textbook.h"
#include "sample_scenarios.h"

namespace tidemark {
namespace {

using testing::demo_scenario;
using testing::scenario_of;
using testing::transformer;
using namespace literals;

std::vector<TextbookRow> rows_of(const Scenario& scenario) {
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  EXPECT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  return textbook_rows(scenario, *plan,
                       device_limit(scenario.device, scenario.margin_ratio, scenario.budget));
}

TextbookRow row_named(const std::vector<TextbookRow>& rows, std::string_view term) {
  for (const TextbookRow& row : rows) {
    if (row.term == term) return row;
  }
  ADD_FAILURE() << "no row " << term;
  return {};
}

struct RowCase {
  const char* term = "";
  std::optional<Bytes> textbook{};
  std::optional<Bytes> planned{};
};

// Six layers, 3400 MB of weights, 608 MB of activations; a 3 GB device whose system takes 0.5 GB.
TEST(TextbookRowsTest, TheFoundingExample) {
  const RowCase cases[] = {
      {"total demand", 4'408'800'000_B, 3656_MB},
      {"weights", 3400_MB, 3400_MB},
      {"activations", 608_MB, 256_MB},
      {"runtime overhead", 400'800'000_B, std::nullopt},
      {"full demand", 4008_MB, 3656_MB},
      {"layer weight", 566'666'666_B, 800_MB},
      {"peak, load-compute-release", 864_MB, 1056_MB},
      {"peak, shared buffer", 800_MB, std::nullopt},
      {"peak, double buffer", 1464_MB, 1656_MB},
      {"peak, two fixed slots", 1728_MB, 1856_MB},
      {"least read per pass", 1150_MB, 1150_MB},
      {"available memory", 2500_MB, 2500_MB},
      {"safety margin", 250_MB, 250_MB},
      {"red line", 2250_MB, 2250_MB},
  };
  const std::vector<TextbookRow> rows = rows_of(demo_scenario());
  for (const RowCase& expected : cases) {
    const TextbookRow row = row_named(rows, expected.term);
    EXPECT_EQ(row.textbook, expected.textbook) << expected.term;
    EXPECT_EQ(row.planned, expected.planned) << expected.term;
  }
  EXPECT_EQ(row_named(rows, "slices at the limit").textbook_count, 2);  // three layers at a time
  EXPECT_EQ(rows.size(), std::size(cases) + 1);
}

// Seven billion parameters in 32 layers of width 4096, at 4 bits.
TEST(TextbookRowsTest, CountsOfATransformer) {
  Scenario scenario = scenario_of(transformer({.n_layer = 32,
                                               .n_embd = 4096,
                                               .n_head = 32,
                                               .n_head_kv = 32,
                                               .head_dim = 128,
                                               .n_ff = 11008,
                                               .n_vocab = 32000,
                                               .tied_embeddings = false}));
  scenario.quant = {.kind = QuantKind::kFormat, .format = DType::kInt4};
  const std::vector<TextbookRow> rows = rows_of(scenario);
  const Bytes layer = textbook_weight_bytes(6'738'415'616, DType::kInt4) / 32;
  EXPECT_EQ(row_named(rows, "layer weight").textbook, layer);
  EXPECT_EQ(row_named(rows, "largest n under the red line").textbook_count,
            textbook_max_tokens(layer, 1, 4096, 2250_MB));
  EXPECT_EQ(row_named(rows, "n at which a exceeds w").textbook_count,
            6427);  // 105,287,744 / 16,384 + 1
  EXPECT_EQ(row_named(rows, "slices at the limit").textbook_count, 2);
  EXPECT_EQ(row_named(rows, "KV cache per token").textbook, 524'288_B);
  EXPECT_EQ(row_named(rows, "KV cache per token").planned, 524'288_B);
}

TEST(TextbookRowsTest, NoAnswerWhereNotOneLayerFits) {
  Scenario scenario = demo_scenario();
  scenario.budget = 500_MB;
  EXPECT_EQ(row_named(rows_of(scenario), "slices at the limit").textbook_count, std::nullopt);
}

TEST(TextbookRowsTest, AStatedRuntimeStandsBesideTheRatio) {
  Scenario scenario = demo_scenario();
  scenario.engine.runtime_fixed = 50_MB;
  EXPECT_EQ(row_named(rows_of(scenario), "runtime overhead").planned, 50_MB);
}

// The planned side is our own plan's, whichever side the totals of the report come from.
TEST(TextbookRowsTest, ThePlannedSideDoesNotDependOnTheEnginesPolicy) {
  Scenario scenario = scenario_of(transformer(testing::kMiniCpm2b));
  scenario.quant = {.kind = QuantKind::kFormat, .format = DType::kInt4};
  const std::vector<TextbookRow> planned = rows_of(scenario);
  scenario.engine.policy = EnginePolicy::kTextbook;
  const std::vector<TextbookRow> textbook = rows_of(scenario);
  ASSERT_EQ(planned.size(), textbook.size());
  for (size_t i = 0; i < planned.size(); ++i) {
    EXPECT_EQ(planned[i].planned, textbook[i].planned) << planned[i].term;
    EXPECT_EQ(planned[i].textbook, textbook[i].textbook) << planned[i].term;
  }
}

TEST(TextbookRowsTest, PlannedTotalIsThePlansOwn) {
  Scenario scenario = scenario_of(transformer(testing::kMiniCpm2b));
  scenario.quant = {.kind = QuantKind::kFormat, .format = DType::kQ4K};
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(row_named(rows_of(scenario), "total demand").planned, plan->breakdown.total());
}

TEST(TextbookRowsTest, EveryRowSaysWhyInOneSentence) {
  std::set<std::string> terms;
  for (const TextbookRow& row : rows_of(scenario_of(transformer({})))) {
    EXPECT_FALSE(row.formula.empty()) << row.term;
    ASSERT_FALSE(row.why.empty()) << row.term;
    EXPECT_EQ(row.why.back(), '.') << row.term;
    EXPECT_EQ(row.why.find(". "), std::string::npos) << row.term;
    EXPECT_TRUE(terms.insert(row.term).second) << row.term << " stands twice";
  }
}

}  // namespace
}  // namespace tidemark

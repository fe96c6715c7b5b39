// Arenas of shipped models that the portfolio proves: no plan of any planner needs less.
#include <gtest/gtest.h>

#include "planner/capacity/memory_plan.h"
#include "planner/config/load.h"
#include "planner/config/settings.h"

namespace tidemark {
namespace {

Scenario portfolio_of(const std::string& model, bool flash_attention) {
  Scenario scenario;
  scenario.model = load_model(model).value();
  scenario.engine = load_engine("tidemark").value();
  scenario.planner = PlannerKind::kPortfolio;
  scenario.flash_attention = flash_attention;
  return scenario;
}

// Prefill of 512 tokens, decode of one, and the towers before them, all at a context of 4,096: the
// peak of each is the lower bound itself.
void expect_proved(const std::string& model) {
  for (const bool flash_attention : {true, false}) {
    const Result<MemoryPlan> plan = plan_scenario(portfolio_of(model, flash_attention));
    ASSERT_TRUE(plan.ok()) << to_string(plan.diagnostics());
    EXPECT_EQ(plan->prefill.options.n_tokens, 512) << model;
    EXPECT_EQ(plan->decode.options.n_tokens, 1) << model;
    for (const PhasePlan* phase : plan->phases()) {
      EXPECT_EQ(phase->plan.peak, phase->plan.lower_bound) << model << ", " << name_of(*phase);
      EXPECT_EQ(phase->plan.status, PlanStatus::kProvedOptimal) << model;
      EXPECT_GT(phase->plan.peak, Bytes{}) << model;
    }
  }
}

TEST(ShippedArenas, ThoseOfGemma3AreProvedOptimal) {
  for (const char* model :
       {"gemma-3-270m", "gemma-3-1b", "gemma-3-4b", "gemma-3-12b", "gemma-3-27b"}) {
    expect_proved(model);
  }
}

TEST(ShippedArenas, ThoseOfMixturesOfExpertsAreProvedOptimal) {
  for (const char* model :
       {"dbrx-132b", "deepseek-v2-lite", "ernie-4.5-21b-a3b", "gpt-oss-120b", "gpt-oss-20b",
        "granite-3.1-1b-a400m", "mixtral-8x22b", "mixtral-8x7b", "olmoe-1b-7b", "phi-3.5-moe",
        "qwen1.5-moe-a2.7b", "qwen3-235b-a22b", "qwen3-30b-a3b"}) {
    expect_proved(model);
  }
}

}  // namespace
}  // namespace tidemark

// The exact output of every writer for the small reports of sample.h.
#include <gtest/gtest.h>

#include "planner/report/engine_text.h"
#include "planner/report/writers.h"
#include "sample.h"
#include "support/golden.h"

namespace tidemark::testing {
namespace {

using namespace tidemark::literals;

const std::vector<PlanReport>& plans() {
  static const std::vector<PlanReport> reports{sample_plan(), sample_plan_over()};
  return reports;
}

const std::vector<SimReport>& runs() {
  static const std::vector<SimReport> reports{sample_run(), sample_run_layerwise(),
                                              sample_run_over()};
  return reports;
}

std::span<const PlanReport> one(const PlanReport& report) { return {&report, 1}; }
std::span<const SimReport> one(const SimReport& report) { return {&report, 1}; }

TEST(GoldenReport, PlanText) {
  EXPECT_TRUE(matches_golden("report_plan.txt", to_text(sample_plan())));
}

TEST(GoldenReport, PlanTextInColourWhenItDoesNotFit) {
  EXPECT_TRUE(
      matches_golden("report_plan_over_color.txt", to_text(sample_plan_over(), {.color = true})));
}

TEST(GoldenReport, PlanTextWithTextbookRows) {
  EXPECT_TRUE(matches_golden("report_plan_formula.txt", to_text(sample_plan_formula())));
}

TEST(GoldenReport, PlanTextOfAnEngineWithItsOwnTable) {
  EXPECT_TRUE(matches_golden("report_plan_llama.txt", to_text(sample_plan_llama())));
  EXPECT_TRUE(matches_golden("report_plan_kinds.txt", kinds_text(sample_plan_llama().kinds)));
}

TEST(GoldenReport, PlansOfTwoEngines) {
  PlanReport ours = sample_plan_llama();
  ours.engine = "planned";
  ours.llama.reset();
  ours.memory.weights = 768_MiB;
  ours.kinds->terms.front().how = "read into memory";
  const std::vector<PlanReport> both{ours, sample_plan_llama()};
  EXPECT_TRUE(matches_golden("report_plan_engines.txt", to_comparison(both)));
}

TEST(GoldenReport, RunText) {
  EXPECT_TRUE(matches_golden("report_run.txt", to_text(sample_run())));
}

TEST(GoldenReport, RunTextOverTheLimit) {
  EXPECT_TRUE(matches_golden("report_run_over.txt", to_text(sample_run_over())));
}

TEST(GoldenReport, PlanComparison) {
  EXPECT_TRUE(matches_golden("report_plan_comparison.txt", to_comparison(plans())));
}

TEST(GoldenReport, RunComparison) {
  EXPECT_TRUE(matches_golden("report_run_comparison.txt", to_comparison(runs())));
}

TEST(GoldenReport, PlanJson) {
  EXPECT_TRUE(matches_golden("report_plan.json", to_json(one(sample_plan_formula()))));
}

TEST(GoldenReport, PlanJsonOfAnEngineWithItsOwnTable) {
  EXPECT_TRUE(matches_golden("report_plan_llama.json", to_json(one(sample_plan_llama()))));
}

TEST(GoldenReport, RunJson) {
  EXPECT_TRUE(matches_golden("report_run.json", to_json(one(sample_run()))));
}

TEST(GoldenReport, SeveralRunsAsJson) {
  EXPECT_TRUE(matches_golden("report_runs.json", to_json(runs())));
}

TEST(GoldenReport, PlanCsv) { EXPECT_TRUE(matches_golden("report_plan.csv", to_csv(plans()))); }

TEST(GoldenReport, RunCsv) { EXPECT_TRUE(matches_golden("report_run.csv", to_csv(runs()))); }

TEST(GoldenReport, CurveCsv) {
  EXPECT_TRUE(matches_golden("report_curve.csv", curve_to_csv(sample_run())));
}

TEST(GoldenReport, PlanMarkdown) {
  EXPECT_TRUE(matches_golden("report_plan.md", to_markdown(plans())));
}

TEST(GoldenReport, RunMarkdown) {
  EXPECT_TRUE(matches_golden("report_run.md", to_markdown(runs())));
}

TEST(GoldenReport, OneRunAsPicture) {
  EXPECT_TRUE(matches_golden("report_run.svg", curve_to_svg(one(sample_run()))));
}

TEST(GoldenReport, SeveralRunsAsPicture) {
  EXPECT_TRUE(matches_golden("report_runs.svg", curve_to_svg(runs())));
}

TEST(GoldenReport, ArenaMap) {
  EXPECT_TRUE(matches_golden("report_map.txt", arena_map(sample_plan().arena)));
}

}  // namespace
}  // namespace tidemark::testing

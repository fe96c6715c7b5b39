#include "gui/models/measured_curve.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

// 100 MiB predicted and 101 measured, then 300 and 293.
const char* const kRun = R"({
  "schema": "tidemark.replay/1", "tool_version": "0.1.0",
  "settings": {"strategy": {"value": "layerwise", "origin": "flag --strategy"}},
  "model": {"name": "small"},
  "predicted_peak_bytes": 314572800, "measured_peak_bytes": 307232768,
  "relative_error": -0.0233, "outputs_match": true,
  "steps": [
    {"step": 0, "predicted_bytes": 104857600, "measured_bytes": 105906176, "wall_ns": 5},
    {"step": 1, "predicted_bytes": 314572800, "measured_bytes": 307232768, "wall_ns": 7}
  ]
})";

std::string problems_of(const char* json) {
  return to_string(parse_replay("r.json", json).diagnostics());
}

MeasuredCurve curve_of(const char* json) {
  const auto curves = parse_replay("r.json", json);
  EXPECT_TRUE(curves.ok()) << to_string(curves.diagnostics());
  return curves.ok() ? curves->front() : MeasuredCurve{};
}

TEST(MeasuredCurve, ReadsTheStepsOfARun) {
  const MeasuredCurve curve = curve_of(kRun);
  EXPECT_EQ(curve.model, "small");
  EXPECT_EQ(curve.strategy, "layerwise");
  ASSERT_EQ(curve.steps.size(), 2U);
  EXPECT_EQ(curve.steps[1].step, 1);
  EXPECT_EQ(curve.steps[1].predicted.count(), 314572800);
  EXPECT_EQ(curve.steps[1].measured.count(), 307232768);
}

TEST(MeasuredCurve, ReadsSeveralRuns) {
  const std::string both =
      std::string(R"({"schema": "tidemark.replay/1", "results": [)") + kRun + "," + kRun + "]}";
  const auto curves = parse_replay("r.json", QByteArray::fromStdString(both));
  ASSERT_TRUE(curves.ok()) << to_string(curves.diagnostics());
  EXPECT_EQ(curves->size(), 2U);
}

TEST(MeasuredCurve, LaysMeasuredOverPredictedByStep) {
  const ChartShapes shapes = measured_shapes(curve_of(kRun));
  ASSERT_EQ(shapes.bands.size(), 1U);
  const QList<QPointF> predicted{{0, 104857600}, {1, 104857600}, {1, 314572800}, {2, 314572800}};
  const QList<QPointF> measured{{0, 105906176}, {1, 105906176}, {1, 307232768}, {2, 307232768}};
  EXPECT_EQ(shapes.bands[0].upper, predicted);
  EXPECT_EQ(shapes.measured, measured);
  ASSERT_TRUE(shapes.peak.has_value());
  EXPECT_EQ(shapes.peak->at, QPointF(1, 307232768));
  EXPECT_EQ(shapes.right, 2);
  EXPECT_EQ(shapes.title,
            "replay of small, layerwise: measured peak 293 MiB, predicted 300 MiB, -2.33 %");
}

TEST(MeasuredCurve, SaysThatTheModelWasScaled) {
  MeasuredCurve curve = curve_of(kRun);
  curve.model_scale = "0.25";
  EXPECT_TRUE(measured_shapes(curve).title.startsWith("replay of small scaled by 0.25, layerwise"));
}

TEST(MeasuredCurve, SaysWhenOutputsDiffer) {
  MeasuredCurve curve = curve_of(kRun);
  curve.outputs_match = false;
  EXPECT_TRUE(measured_shapes(curve).title.endsWith("OUTPUTS DIFFER"));
}

TEST(MeasuredCurve, DescribesAStep) {
  const MeasuredCurve curve = curve_of(kRun);
  EXPECT_EQ(describe_step(curve, 1.5),
            "step 1\n"
            "predicted  300 MiB (314,572,800 B)\n"
            "measured  293 MiB (307,232,768 B)\n"
            "difference  -7.00 MiB");
  EXPECT_EQ(describe_step(curve, -0.5), "");
  EXPECT_EQ(describe_step(curve, 2.5), "");
}

TEST(MeasuredCurve, StepsPastAMillionHaveFewTicks) {
  MeasuredCurve curve = curve_of(kRun);
  curve.steps.back().step = 1234567;
  const ChartShapes shapes = measured_shapes(curve);
  ASSERT_EQ(shapes.x_ticks.size(), 7U);
  EXPECT_EQ(shapes.x_ticks[1].label, "200,000");
}

TEST(MeasuredCurve, RefusesWhatIsNoJson) {
  EXPECT_TRUE(problems_of("{\"a\": ").starts_with("r.json: error: is not JSON: "));
  EXPECT_TRUE(problems_of("{\"a\": ").ends_with(" at byte 6\n"));
  EXPECT_EQ(problems_of("[1]"), "r.json: error: holds no JSON object\n");
}

TEST(MeasuredCurve, RefusesAnotherDocument) {
  EXPECT_EQ(problems_of(R"({"schema": "tidemark.plan/1"})"),
            "r.json: error: schema: is \"tidemark.plan/1\", not that of a replay\n"
            "  hint: write the file with `tidemark replay ... --json -o FILE`\n");
}

TEST(MeasuredCurve, NamesEveryWrongNumber) {
  EXPECT_EQ(problems_of(R"({"schema": "tidemark.replay/1", "predicted_peak_bytes": -1,
      "measured_peak_bytes": 1.5, "steps": [{"step": 3, "predicted_bytes": 1, "measured_bytes": "2"},
      {"step": 3, "predicted_bytes": 1e300, "measured_bytes": 1}]})"),
            "r.json: error: predicted_peak_bytes: must be a whole number, not negative\n"
            "r.json: error: measured_peak_bytes: must be a whole number, not negative\n"
            "r.json: error: steps[0].measured_bytes: must be a whole number, not negative\n"
            "r.json: error: steps[1].step: does not come after 3\n"
            "r.json: error: steps[1].predicted_bytes: must be a whole number, not negative\n");
}

TEST(MeasuredCurve, RefusesARunWithoutSteps) {
  EXPECT_NE(problems_of(R"({"schema": "tidemark.replay/1", "predicted_peak_bytes": 1,
      "measured_peak_bytes": 1, "steps": []})")
                .find("steps: must be a list with at least one step"),
            std::string::npos);
  EXPECT_NE(problems_of(R"({"schema": "tidemark.replay/1", "results": []})").find("is empty"),
            std::string::npos);
}

TEST(MeasuredCurve, ListsAtMostTwentyProblems) {
  std::string json = R"({"schema": "tidemark.replay/1", "steps": [)";
  for (int i = 0; i < 1000; ++i) json += "{},";
  json += "{}]}";
  EXPECT_EQ(parse_replay("r.json", QByteArray::fromStdString(json)).diagnostics().size(), 20U);
}

}  // namespace
}  // namespace tidemark

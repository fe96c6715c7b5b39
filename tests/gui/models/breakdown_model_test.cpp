#include "gui/models/breakdown_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

namespace tidemark {
namespace {

// 800 + 600 + ... MB of weights: round numbers.
RunResult demo(const std::string& strategy) {
  return run_settings({{"model", {.text = "demo-layers", .origin = "flag MODEL"}},
                       {"device", {.text = "demo-3gb", .origin = "flag --device"}},
                       {"engine", {.text = "bare", .origin = "flag --engine"}},
                       {"strategy", {.text = strategy, .origin = "flag --strategy"}}});
}

QString cell(const BreakdownModel& model, int row, int column) {
  return model.data(model.index(row, column)).toString();
}

TEST(BreakdownModel, KeepsTheContractOfModels) {
  BreakdownModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setResult(demo("resident"));
  model.setResult(demo("layerwise"));
  model.setResult({});
  model.setResult(demo("resident"));
  EXPECT_EQ(model.rowCount(), 7);
}

TEST(BreakdownModel, ShowsTheSixPartsAndTheirTotal) {
  BreakdownModel model;
  model.setResult(demo("resident"));
  EXPECT_EQ(cell(model, 0, BreakdownModel::kPart), "weights");
  EXPECT_EQ(cell(model, 0, BreakdownModel::kBytes), "3,400,000,000");
  EXPECT_EQ(cell(model, 0, BreakdownModel::kSize), "3.17 GiB");
  EXPECT_EQ(cell(model, 6, BreakdownModel::kPart), "total");
  EXPECT_EQ(cell(model, 6, BreakdownModel::kShare), "100.0 %");
}

// 800 MB of the largest layer and its 64 MB of activations.
TEST(BreakdownModel, ShowsWhatIsResidentAtTheSimulatedPeak) {
  BreakdownModel model;
  model.setResult(demo("layerwise"));
  EXPECT_EQ(cell(model, 0, BreakdownModel::kAtPeak), "763 MiB");
  EXPECT_EQ(cell(model, 6, BreakdownModel::kAtPeak), "824 MiB");
}

TEST(BreakdownModel, IsEmptyWithoutAPlan) {
  BreakdownModel model;
  model.setResult(demo("resident"));
  model.setResult({.problems = one_error("x", "wrong")});
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(BreakdownModel, IsCopiedWithItsHeader) {
  BreakdownModel model;
  model.setResult(demo("resident"));
  const QStringList lines = table_text(model).split('\n');
  EXPECT_EQ(lines[0], "Memory\tbytes\tsize\tshare\tat the peak");
  EXPECT_TRUE(lines[1].startsWith("weights\t3,400,000,000\t3.17 GiB\t")) << lines[1].toStdString();
  EXPECT_EQ(lines.size(), 1 + 7 + 1);
}

}  // namespace
}  // namespace tidemark

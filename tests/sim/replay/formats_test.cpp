// A model in every format that the kernels multiply, under strategies that hold all or part of it.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "sim/kernels/matmul/block_rows.h"
#include "sim/kernels/rows.h"
#include "sim/replay/mapping.h"
#include "sim/replay/weight_format.h"
#include "tiny.h"

namespace tidemark {
namespace {

using testing::plan_of;
using testing::replay_all;
using testing::tiny_scenario;

constexpr std::array kTypes{DType::kInt8, DType::kInt4, DType::kQ8_0, DType::kQ4_0};

testing::Dimensions untied() {
  testing::Dimensions dimensions = testing::kTiny;
  dimensions.n_embd = 64;
  dimensions.n_ff = 160;
  dimensions.tied_embeddings = false;
  return dimensions;
}

Scenario in_format(DType type, StrategyKind strategy = StrategyKind::kResident,
                   const testing::Dimensions& dimensions = untied()) {
  Scenario scenario = tiny_scenario(strategy, dimensions);
  scenario.quant = {.kind = QuantKind::kFormat, .format = type};
  return scenario;
}

void expect_as_predicted(const Scenario& scenario) {
  const std::vector<ReplayReport> reports = replay_all(testing::under_all_strategies(scenario));
  const MemoryPlan plan = plan_of(scenario);
  const Bytes rounding = page_size() * (4 + 2 * std::ssize(plan.units)) + kLeastGuard;
  ASSERT_EQ(reports.size(), strategies().size());
  for (const ReplayReport& report : reports) {
    SCOPED_TRACE(report.strategy);
    EXPECT_TRUE(passed(report)) << to_text(std::span(&report, 1));
    EXPECT_TRUE(report.outputs_match);
    EXPECT_FALSE(report.outputs_all_equal);
    EXPECT_EQ(report.tokens, reports.front().tokens);
    for (const ReplayStep& step : report.steps) {
      EXPECT_GE(step.measured, step.predicted) << step.step << " " << step.op;
      EXPECT_LE(step.measured, step.predicted + rounding) << step.step << " " << step.op;
    }
  }
  EXPECT_EQ(reports.front().bytes_read, plan.weights.bytes);
}

TEST(ReplayFormats, EachIsReplayedUnderEveryStrategy) {
  for (const DType type : kTypes) {
    SCOPED_TRACE(name_of(type));
    expect_as_predicted(in_format(type));
  }
}

TEST(ReplayFormats, SoWithATiedHeadAndAScoresTensor) {
  for (const DType type : {DType::kInt4, DType::kQ4_0}) {
    SCOPED_TRACE(name_of(type));
    Scenario scenario = in_format(type, StrategyKind::kResident, testing::kTiny);
    scenario.flash_attention = false;
    expect_as_predicted(scenario);
  }
}

// int4 needs no whole blocks: an odd row ends in half a byte.
TEST(ReplayFormats, SoWithOddRowsOfInt4) {
  testing::Dimensions odd = testing::kTiny;
  odd.n_embd = 33;
  odd.n_ff = 51;
  const Scenario scenario = in_format(DType::kInt4, StrategyKind::kResident, odd);
  ASSERT_EQ(plan_of(scenario).weights.tensors.front().bytes, Bytes::of(300 * (17 + 2)));
  expect_as_predicted(scenario);
}

TEST(ReplayFormats, SoWithAMixOfAll) {
  Scenario scenario = in_format(DType::kInt4);
  scenario.quant.overrides = parse_overrides("attn_output=Q8_0,ffn_down=Q4_0").value();
  expect_as_predicted(scenario);
}

// The types of a model's own file, with a tensor that no op reads.
TEST(ReplayFormats, SoWithTheTypesOfAFile) {
  Scenario scenario = in_format(DType::kInt8);
  const MemoryPlan plan = plan_of(scenario);
  for (const WeightTensor& tensor : plan.weights.tensors) {
    const DType matrix = tensor.role == WeightRole::kDown ? DType::kQ8_0 : DType::kQ4_0;
    scenario.model.stored.push_back({.name = tensor.name,
                                     .dtype = tensor.rows > 1 ? matrix : DType::kF32,
                                     .columns = tensor.columns,
                                     .rows = tensor.rows});
  }
  scenario.model.stored.push_back({.name = "rope_freqs.weight", .columns = 4});
  scenario.quant = {};
  ASSERT_EQ(std::ssize(plan_of(scenario).weights.tensors), std::ssize(plan.weights.tensors) + 1);
  expect_as_predicted(scenario);
}

// The logits of the prompt's passes, which no sampled token changes.
std::vector<float> logits_of_prompt(const Scenario& scenario) {
  struct Keeper : RunObserver {
    explicit Keeper(std::vector<float>& kept) : logits(kept) {}
    bool on_logits(std::span<const std::byte> bytes) override {
      const size_t before = logits.size();
      logits.resize(before + bytes.size() / sizeof(float));
      std::memcpy(&logits[before], bytes.data(), bytes.size());
      return true;
    }
    std::vector<float>& logits;
  };
  std::vector<float> logits;
  const testing::Bench bench(scenario);
  bench.run(planned_layout(bench.plan),
            [&](const TensorMemory&) { return std::make_unique<Keeper>(logits); });
  logits.resize(static_cast<size_t>(bench.passes.prefill * 300));
  return logits;
}

// Root mean square of the difference over that of the logits.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0.0;
  double size = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += std::pow(double{a[i]} - double{b[i]}, 2);
    size += std::pow(double{a[i]}, 2);
  }
  return std::sqrt(error / size);
}

// The same made-up model in every format. A step of Q8_0 is at most one of int8: what differs is
// mostly how activations are then rounded, each by 0.29 of 25 steps a standard deviation, 1 %. A
// step of int4 is 127 / 7 steps of int8 and one of Q4_0 127 / 8, so a weight of standard deviation
// 73.3 is off by 18.1 / sqrt(12) = 5.2, 7 %. Through 14 products in a row both grow to several
// times as much; unrelated logits would differ by sqrt(2).
TEST(ReplayFormats, LogitsDifferByWhatAFormatRoundsAway) {
  const std::vector<float> int8 = logits_of_prompt(in_format(DType::kInt8));
  const double q8_0 = difference(int8, logits_of_prompt(in_format(DType::kQ8_0)));
  const double int4 = difference(int8, logits_of_prompt(in_format(DType::kInt4)));
  const double q4_0 = difference(int8, logits_of_prompt(in_format(DType::kQ4_0)));
  RecordProperty("q8_0", std::to_string(q8_0));
  RecordProperty("int4", std::to_string(int4));
  RecordProperty("q4_0", std::to_string(q4_0));
  EXPECT_GT(q8_0, 0.0);
  EXPECT_LT(q8_0, 0.12);
  for (const double four_bits : {int4, q4_0}) {
    EXPECT_GT(four_bits, q8_0 * 1.5);
    EXPECT_LT(four_bits, 0.4);
  }
}

// Every matrix in the size its role asks for, whatever its format.
TEST(ReplayFormats, MadeUpRowsKeepTheirSize) {
  for (const DType type : kTypes) {
    const MemoryPlan plan = plan_of(in_format(type));
    MadeUpWeights source(1, 2);
    for (size_t i = 0; i < plan.weights.tensors.size(); ++i) {
      const WeightTensor& tensor = plan.weights.tensors[i];
      if (tensor.dtype == DType::kF32) continue;
      ASSERT_EQ(tensor.dtype, type);
      source.begin(tensor, WeightId::of(i));
      std::vector<std::byte> row(weight_row_bytes(tensor));
      std::vector<float> values(static_cast<size_t>(tensor.columns));
      double squares = 0.0;
      for (int64_t r = 0; r < tensor.rows; ++r) {
        source.next_row(row);
        dequantize_row(row_format(tensor), row, values);
        for (const float value : values) squares += std::pow(double{value}, 2);
      }
      const double size = std::sqrt(squares / static_cast<double>(tensor.parameters()));
      const double wished = weight_scale(tensor, 2) * 127.0 / std::sqrt(3.0);
      EXPECT_NEAR(size / wished, 1.0, 0.06) << name_of(type) << ' ' << tensor.name;
    }
  }
}

}  // namespace
}  // namespace tidemark

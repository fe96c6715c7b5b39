#include "sim/strategy/offload_run.h"

#include <gtest/gtest.h>

#include "scenarios.h"
#include "sim/strategy/offload_plan.h"

namespace tidemark {
namespace {

using testing::decoder_scenario;
using testing::plan_of;
using testing::refusal;
using testing::run;

// A byte and an operation a nanosecond, everywhere.
Accelerator round_accelerator() {
  const OpsPerSecond compute = OpsPerSecond::of(1'000'000'000);
  const BytesPerSecond link = BytesPerSecond::of(1'000'000'000);
  return {.memory = Bytes::of(1'000'000),
          .prefill_products = compute,
          .prefill_attention = compute,
          .decode_products = compute,
          .decode_attention = compute,
          .host_attention = compute,
          .to_device = link,
          .cache_to_host = link,
          .hidden_to_host = link,
          .from_storage = link,
          .cache_to_storage = link,
          .hidden_to_storage = link};
}

// Two layers of width 32, two heads of 16, feed-forward 64: 4 x 32 x 32 + 3 x 32 x 64 = 10,240
// parameters in matrices. In f16 with two norms of 32: 20,608 B. Cache 2 x 32 x 2 = 128 B a cell,
// hidden state 32 x 4 = 128 B, attention 4 x 32 = 128 operations a cell and token.
Scenario offloaded() {
  Scenario scenario = decoder_scenario(2, StrategyKind::kResident);
  scenario.device.accelerator = round_accelerator();
  scenario.offload = OffloadChoices{.weights = {.on_device = 50, .in_memory = 25},
                                    .kv_cache = {.on_device = 0, .in_memory = 50},
                                    .hidden = {.on_device = 0, .in_memory = 100},
                                    .batches = 2};
  scenario.prompt = Tokens(3);
  scenario.generate = Tokens(2);
  return scenario;
}

TEST(OffloadPlanTest, WidthsOfALayer) {
  const Scenario scenario = offloaded();
  const auto layers = offload_layers(scenario, plan_of(scenario));
  ASSERT_TRUE(layers.ok());
  ASSERT_EQ(layers->size(), 2U);
  const OffloadLayer& layer = layers->front();
  EXPECT_EQ(layer.parameters, 10'240);
  EXPECT_EQ(layer.weights, Bytes::of(20'608));
  EXPECT_EQ(layer.operations_per_cell, 128);
  EXPECT_EQ(layer.cache_per_cell, Bytes::of(128));
  EXPECT_EQ(layer.hidden, Bytes::of(128));
}

// 2 sequences of 3 tokens: 768 B of states and of cache.
TEST(OffloadPlanTest, APrefillPass) {
  const Scenario scenario = offloaded();
  const auto layers = offload_layers(scenario, plan_of(scenario));
  const LayerMoves moves =
      moves_of(layers->front(), {.is_prefill = true, .sequences = 2, .tokens = 3, .cells = 3},
               *scenario.offload, round_accelerator());
  EXPECT_EQ(moves.to_device, Duration::ns(10'304 + 768));
  EXPECT_EQ(moves.from_device, Duration::ns(768 + 768));
  EXPECT_EQ(moves.read, Bytes::of(5'152));
  EXPECT_EQ(moves.written, Bytes::of(384));
  EXPECT_EQ(moves.products, Duration::ns(2 * 10'240 * 6 + 128 * 3 * 6));
  EXPECT_EQ(moves.host, Duration{});
}

// One token of 2 sequences, 4 cells: 1,024 B of cache attended, half of them read.
TEST(OffloadPlanTest, ADecodePass) {
  const Scenario scenario = offloaded();
  const auto layers = offload_layers(scenario, plan_of(scenario));
  const LayerMoves moves = moves_of(layers->front(), {.sequences = 2, .tokens = 1, .cells = 4},
                                    *scenario.offload, round_accelerator());
  EXPECT_EQ(moves.to_device, Duration::ns(10'304 + 256));
  EXPECT_EQ(moves.from_device, Duration::ns(512));
  EXPECT_EQ(moves.read, Bytes::of(5'152 + 512));
  EXPECT_EQ(moves.written, Bytes::of(128));
  EXPECT_EQ(moves.products, Duration::ns(40'960));
  EXPECT_EQ(moves.host, Duration::ns(1'024));
}

// prefill max(5,152 + 11,072, 1,536 + 384, 125,184); decode 10,560 + max(512, 5,664, 128, 41,984).
TEST(OffloadRunTest, LayersOverlapWhatTheyMove) {
  const SimReport report = run(offloaded()).report;
  EXPECT_EQ(report.strategy, "offload");
  EXPECT_EQ(report.ttft, Duration::ns(2 * 125'184));
  EXPECT_EQ(report.end, Duration::ns(2 * 125'184 + 2 * 52'544));
  EXPECT_EQ(report.tpot, Duration::ns(2 * 52'544));
  EXPECT_EQ(report.bytes_read, Bytes::of(2 * 5'152 + 2 * 5'664));
  EXPECT_EQ(report.stall, Duration::ns(2 * 10'560));
  EXPECT_EQ(report.events.back().detail, "4 tokens at 11253.151 tok/s over both phases");
}

TEST(OffloadRunTest, OrTakeThemOneAfterAnother) {
  Scenario scenario = offloaded();
  scenario.load.overlaps = false;
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.ttft, Duration::ns(2 * (5'152 + 11'072 + 125'184 + 1'536 + 384)));
  EXPECT_EQ(report.end - report.ttft, Duration::ns(2 * (5'664 + 10'560 + 41'984 + 512 + 128)));
}

// Half of two layers lives there, and half of each of the two is in flight: 20,608 + 20,608 B.
TEST(OffloadRunTest, AnAcceleratorThatIsTooSmallIsSaid) {
  Scenario scenario = offloaded();
  scenario.device.accelerator->memory = Bytes::of(41'216);
  EXPECT_EQ(run(scenario).report.outcome, SimOutcome::kCompleted);
  scenario.device.accelerator->memory = Bytes::of(40'000);
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.outcome, SimOutcome::kOverLimit);
  EXPECT_EQ(report.reason, "the accelerator would hold 40.3 KiB, it has 39.1 KiB");
}

TEST(OffloadRunTest, WhatCannotBeOffloadedIsRefused) {
  Scenario list = offloaded();
  list.model =
      testing::layer_scenario({{"a", Bytes::of(8), Bytes::of(8)}}, StrategyKind::kResident).model;
  EXPECT_EQ(refusal(list).front().path, "offload");
  Scenario silent = offloaded();
  silent.prompt = Tokens(0);
  EXPECT_EQ(refusal(silent).front().path, "--prompt");
  Scenario bare = offloaded();
  bare.device.accelerator.reset();
  EXPECT_EQ(refusal(bare).front().path, "offload");
}

}  // namespace
}  // namespace tidemark

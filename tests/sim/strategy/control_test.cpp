// Each action by hand: what it gives up, when, and what the run is like without it.
#include "sim/strategy/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios.h"

namespace tidemark {
namespace {

using ::testing::Contains;
using testing::decoder_scenario;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::layer_scenario;
using testing::plan_of;
using testing::refusal;
using testing::run;

// Without the progress of loading, which stands in load_progress_test.cpp.
std::vector<SimEvent> happened(const SimReport& report) {
  std::vector<SimEvent> events;
  for (const SimEvent& event : report.events) {
    if (event.what != "progress") events.push_back(event);
  }
  return events;
}

std::vector<std::string> told(const SimReport& report) {
  std::vector<std::string> events;
  for (const SimEvent& event : happened(report)) {
    events.push_back(event.what + ": " + event.detail);
  }
  return events;
}

// One prefill pass and two decode passes, 60 ns of compute each.
Scenario three_layers(StrategyKind strategy, int64_t line) {
  Scenario scenario = layer_scenario(
      {{"a", Bytes::of(100), {}}, {"b", Bytes::of(200), {}}, {"c", Bytes::of(300), {}}}, strategy);
  scenario.generate = Tokens(3);
  scenario.budget = Bytes::of(line);
  scenario.margin_ratio = 0.0;
  return scenario;
}

// The line is the budget less 10 % of it: 540 B.
TEST(ControlTest, ShrinkCache) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache, 600);
  scenario.margin_ratio = 0.1;
  scenario.cache.capacity = Bytes::of(600);
  scenario.adapt = {AdaptAction::kShrinkCache};
  const SimReport report = run(scenario).report;
  EXPECT_THAT(told(report),
              ElementsAre("memory state: approaching limit",
                          "action: shrink-cache: 540 B instead of 600 B", "memory state: ok"));
  // 600 B and 60 ns: the end of the first pass.
  EXPECT_EQ(happened(report)[1].time, Duration::ns(660));
  // a goes at once. Then a misses and b goes, b misses and c goes, c misses and a goes: 500 B.
  EXPECT_EQ(report.curve.back().weights, Bytes::of(500));
  EXPECT_EQ(report.peak, Bytes::of(600));
  EXPECT_EQ(report.bytes_read, Bytes::of(3 * 600));
  scenario.adapt.clear();
  EXPECT_EQ(run(scenario).report.bytes_read, Bytes::of(600));
}

TEST(ControlTest, ACacheShrinksNoFurtherThanItsLargestBlock) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache, 200);
  scenario.cache.capacity = Bytes::of(600);
  scenario.adapt = {AdaptAction::kShrinkCache};
  EXPECT_THAT(told(run(scenario).report),
              ElementsAre("memory state: critical", "action: shrink-cache: 300 B instead of 600 B",
                          // a; b beside it is too much; c alone is, too
                          "memory state: ok", "memory state: critical", "memory state: ok",
                          "memory state: critical", "action: none of those stated can be taken",
                          "memory state: ok", "memory state: critical", "memory state: ok",
                          "memory state: critical"));
}

//   pass 0   read a 0-100, b 100-300, c 300-600, a again 600-700; c is computed until 630
//   pass 1   a -710   read b 710-910, -930   c 930-1230, -1260
//   pass 2   a 1260-1360, -1370   b -1570, -1590   c -1890, -1920
TEST(ControlTest, DropPrefetch) {
  Scenario scenario = three_layers(StrategyKind::kDoubleBuffer, 450);
  scenario.adapt = {AdaptAction::kDropPrefetch};
  const SimReport report = run(scenario).report;
  EXPECT_THAT(told(report), ElementsAre("memory state: critical", "memory state: ok",
                                        "action: drop-prefetch: one slot instead of two"));
  EXPECT_EQ(happened(report).back().time, Duration::ns(630));
  EXPECT_EQ(report.end, Duration::ns(1920));
  EXPECT_EQ(report.bytes_read, Bytes::of(3 * 600));
  for (const CurvePoint& point : report.curve) {
    EXPECT_LE(point.weights, Bytes::of(point.time > Duration::ns(630) ? 300 : 500));
  }
}

TEST(ControlTest, ATiedEmbeddingStaysInTheOneSlotForTheNextVisit) {
  Scenario scenario = decoder_scenario(3, StrategyKind::kDoubleBuffer);
  const SimReport two = run(scenario).report;
  scenario.budget = two.peak - Bytes::of(1);
  scenario.margin_ratio = 0.0;
  scenario.adapt = {AdaptAction::kDropPrefetch};
  const SimReport report = run(scenario).report;
  EXPECT_THAT(told(report), ::testing::Contains("action: drop-prefetch: one slot instead of two"));
  EXPECT_EQ(report.bytes_read, two.bytes_read);
  EXPECT_GT(report.end, two.end);
}

// One byte too much once the weights are there. Half the ubatch is a smaller arena; a prompt of 200
// is then 7 passes instead of 4.
TEST(ControlTest, ShrinkUbatch) {
  Scenario scenario = decoder_scenario(2, StrategyKind::kResident);
  scenario.prompt = Tokens(200);
  scenario.margin_ratio = 0.0;
  scenario.budget = plan_of(scenario).breakdown.total() - Bytes::of(1);
  Scenario half = scenario;
  half.n_ubatch = Tokens(32);
  const Bytes arena = plan_of(half).breakdown.compute;
  ASSERT_LT(arena, plan_of(scenario).breakdown.compute);
  scenario.adapt = {AdaptAction::kDropPrefetch, AdaptAction::kShrinkUbatch};
  const SimResult result = run(scenario, {.trace = true});
  const SimReport& report = result.report;
  ASSERT_EQ(happened(report).size(), 3U);
  EXPECT_THAT(happened(report)[1].detail, HasSubstr("shrink-ubatch: 32 tokens, an arena of "));
  EXPECT_EQ(report.curve.back().compute, arena);
  int64_t passes = 0;
  for (const TraceSpan& span : result.trace.spans) passes += span.name.starts_with("prefill ");
  EXPECT_EQ(passes, 7);
}

// 32 cells of 256 B are on the line. The 33rd takes a block more: it comes with decode pass 12,
// the 14th token.
TEST(ControlTest, ShortenContext) {
  Scenario scenario = decoder_scenario(2, StrategyKind::kResident);
  scenario.prompt = Tokens(20);
  scenario.generate = Tokens(40);
  scenario.kv_in_blocks = true;
  scenario.kv_block = 16;
  scenario.margin_ratio = 0.0;
  const Breakdown breakdown = plan_of(scenario).breakdown;
  scenario.budget = breakdown.total() - breakdown.kv_cache + Bytes::of(32 * 256);
  scenario.adapt = {AdaptAction::kShortenContext};
  const SimResult result = run(scenario, {.trace = true});
  const SimReport& report = result.report;
  EXPECT_THAT(told(report),
              ElementsAre("memory state: critical",
                          "action: shorten-context: generation stops after 14 tokens"));
  EXPECT_EQ(report.curve.back().kv_cache, Bytes::of(48 * 256));
  std::vector<SimTime> traced;
  for (const TraceInstant& instant : result.trace.instants) {
    if (instant.name == "action") traced.push_back(instant.time);
  }
  EXPECT_THAT(traced, ElementsAre(happened(report).back().time));
  scenario.generate = Tokens(14);
  scenario.adapt.clear();
  const SimReport shorter = run(scenario).report;
  EXPECT_EQ(report.end, shorter.end);
  EXPECT_EQ(report.tpot, shorter.tpot);
}

// Four equal layers, 512 B a cell; the line leaves 100 cells, 51,200 B.
//   100 cells of the prompt are 7 blocks, 57,344 B: kept k, and 2/4 of the rest as slots,
//   k + (57,344 - k) / 2 = 51,200: k = 45,056
//   cell 113 takes the 8th block, 65,536 B: 45,056 + 10,240 = 55,296, 4,096 too much;
//   k + (65,536 - k) / 2 = 51,200: k = 36,864
// Three layers of 8 experts of 32 x 16 in f16, gate, up and down: 3,072 B each; 2 used, and of the
// 24 as many kept as four slots a layer hold, 36,864 B.
Scenario mixture(ResidencyChoices kept) {
  const LayerSpec layer{.mixer = AttentionSpec{.n_head = 2, .n_head_kv = 2, .head_dim = 16},
                        .moe = {.n_expert = 8, .n_expert_used = 2, .n_ff_exp = 16}};
  Scenario scenario = decoder_scenario(1, StrategyKind::kResident);
  std::get<TransformerSpec>(scenario.model.dims).layers = {layer, layer, layer};
  scenario.prompt = Tokens(1);
  scenario.generate = Tokens(40);
  scenario.residency = kept;
  scenario.margin_ratio = 0.0;
  scenario.adapt = {AdaptAction::kShrinkCache};
  return scenario;
}

// A byte too much costs a slot of each layer: 3 x 3 x 3,072 B = 27.0 KiB stay. At two slots, what a
// token uses, there is nothing to give. One cache gives what is asked for: 3,072 B, an expert.
TEST(ControlTest, ShrinkCacheOfExperts) {
  Scenario scenario = mixture({.expert_slots = 4});
  scenario.budget = run(scenario).report.peak - Bytes::of(1);
  SimReport report = run(scenario).report;
  EXPECT_THAT(told(report),
              ElementsAre("memory state: critical",
                          "action: shrink-cache: 27.0 KiB of experts instead of 36.0 KiB",
                          "memory state: ok"));
  EXPECT_EQ(report.peak - report.curve.back().total(), Bytes::of(3 * 3072));
  EXPECT_EQ(report.experts->slots, 3);
  EXPECT_EQ(report.experts->capacity, Bytes::of(27 * 1024));

  scenario = mixture({.expert_slots = 2});
  scenario.budget = run(scenario).report.peak - Bytes::of(1);
  EXPECT_EQ(told(run(scenario).report)[1], "action: none of those stated can be taken");

  scenario = mixture({.expert_bytes = Bytes::of(36 * 1024)});
  scenario.budget = run(scenario).report.peak - Bytes::of(3072);
  report = run(scenario).report;
  EXPECT_THAT(told(report),
              Contains("action: shrink-cache: 33.0 KiB of experts instead of 36.0 KiB"));
  EXPECT_EQ(report.peak - report.curve.back().total(), Bytes::of(3072));
}

TEST(ControlTest, SpillKv) {
  Scenario scenario = decoder_scenario(4, StrategyKind::kResident);
  scenario.engine.kv_spill = KvSpill::kReadAhead;
  scenario.generate = Tokens(20);
  scenario.kv_in_blocks = true;
  scenario.kv_block = 16;
  scenario.margin_ratio = 0.0;
  const Breakdown breakdown = plan_of(scenario).breakdown;
  scenario.budget = breakdown.total() - breakdown.kv_cache + Bytes::of(51'200);
  scenario.adapt = {AdaptAction::kSpillKv};
  const SimReport report = run(scenario).report;
  EXPECT_THAT(told(report),
              ElementsAre("memory state: critical", "action: spill-kv: 44.0 KiB of the cache stay",
                          "memory state: ok", "memory state: critical",
                          "action: spill-kv: 36.0 KiB of the cache stay", "memory state: ok"));
  EXPECT_EQ(report.curve.back().kv_cache, Bytes::of(51'200));
  EXPECT_GT(report.bytes_read, plan_of(scenario).breakdown.weights);
}

// A cache that is there from the start gives up cells that hold nothing yet.
TEST(ControlTest, AWholeCacheSpillsBeforeThePrompt) {
  Scenario scenario = decoder_scenario(4, StrategyKind::kResident);
  scenario.engine.kv_spill = KvSpill::kReadAhead;
  scenario.margin_ratio = 0.0;
  scenario.budget = plan_of(scenario).breakdown.total() - Bytes::of(10'000);
  scenario.adapt = {AdaptAction::kSpillKv};
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.curve.back().kv_cache, Bytes::of(256 * 512 - 10'000));
  EXPECT_EQ(report.stalls.kv_cache, Duration{});
  scenario.engine.kv_spill = KvSpill::kNone;
  EXPECT_THAT(told(run(scenario).report),
              ElementsAre("memory state: critical", "action: none of those stated can be taken"));
}

TEST(ControlTest, TheFirstOfTheListThatCanBeTakenIs) {
  Scenario scenario = decoder_scenario(4, StrategyKind::kResident);
  scenario.engine.kv_spill = KvSpill::kReadAhead;
  scenario.margin_ratio = 0.0;
  scenario.budget = plan_of(scenario).breakdown.total() - Bytes::of(1);
  scenario.adapt = {AdaptAction::kSpillKv, AdaptAction::kShrinkUbatch};
  EXPECT_THAT(happened(run(scenario).report)[1].detail, HasSubstr("spill-kv"));
  scenario.adapt = {AdaptAction::kShrinkUbatch, AdaptAction::kSpillKv};
  EXPECT_THAT(happened(run(scenario).report)[1].detail, HasSubstr("shrink-ubatch"));
}

TEST(ControlTest, WithoutActionsNothingIsTold) {
  Scenario scenario = three_layers(StrategyKind::kDoubleBuffer, 450);
  EXPECT_TRUE(happened(run(scenario).report).empty());
}

TEST(ControlTest, AListOfAccessesHasNoPasses) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache, 450);
  scenario.cache.capacity = Bytes::of(600);
  scenario.trace = {"a"};
  scenario.adapt = {AdaptAction::kShrinkCache};
  EXPECT_THAT(to_string(refusal(scenario)), HasSubstr("a list of accesses has none"));
}

}  // namespace
}  // namespace tidemark

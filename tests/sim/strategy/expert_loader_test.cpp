// Experts that come and go: counts and bytes by hand, and beside the cache without a clock.
#include "sim/strategy/expert_loader.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "scenarios.h"

namespace tidemark {
namespace {

using testing::plan_of;
using testing::refusal;
using testing::run;

TEST(ExpertCachesTest, WorkedInTheHeader) {
  ExpertUnits units{.routing = {.n_layer = 1, .n_expert = 4, .n_used = 2},
                    .units = std::vector<WeightUnit>(5, {"u", Bytes::of(100), {}}),
                    .dense = 1,
                    .layer_of = {0},
                    .expert = {Bytes::of(100)}};
  Scenario scenario;
  scenario.residency.expert_slots = 2;
  ExpertCaches caches(scenario, units, {});
  const UnitId a{0};
  const UnitId b{1};
  const UnitId c{2};
  for (const UnitId expert : {a, b}) {
    EXPECT_EQ(caches.access(0, expert, Phase::kPrefill).outcome, AccessOutcome::kMiss);
  }
  for (const UnitId expert : {a, b}) {
    EXPECT_EQ(caches.access(0, expert, Phase::kDecode).outcome, AccessOutcome::kHit);
  }
  EXPECT_EQ(caches.access(0, c, Phase::kDecode).evicted, std::vector<UnitId>{units.unit_of(0, a)});
  EXPECT_EQ(caches.access(0, b, Phase::kDecode).outcome, AccessOutcome::kHit);
  SimReport report;
  caches.add_to(report, 2);
  EXPECT_EQ(report.experts->hits, 3);
  EXPECT_EQ(report.experts->misses, 1);
  EXPECT_EQ(report.experts->read_per_token, Bytes::of(50));
  EXPECT_EQ(report.experts->capacity, Bytes::of(200));
  EXPECT_EQ(report.cache_hits, 3);
  EXPECT_EQ(report.cache_misses, 3);
}

// Three layers of 8 experts of 32 x 16 in f16, gate, up and down: 3,072 B each; 2 used.
Scenario mixture(int64_t slots) {
  const LayerSpec layer{.mixer = AttentionSpec{.n_head = 2, .n_head_kv = 2, .head_dim = 16},
                        .moe = {.n_expert = 8, .n_expert_used = 2, .n_ff_exp = 16}};
  Scenario scenario = testing::decoder_scenario(1, StrategyKind::kResident);
  std::get<TransformerSpec>(scenario.model.dims).layers = {layer, layer, layer};
  scenario.prompt = Tokens(1);
  scenario.generate = Tokens(40);
  scenario.residency.expert_slots = slots;
  return scenario;
}

constexpr int64_t kExpert = 3 * 32 * 16 * 2;

TEST(ExpertLoaderTest, ADenseRestIsThereAndExpertsAreReadOneByOne) {
  const Scenario scenario = mixture(2);
  const MemoryPlan plan = plan_of(scenario);
  const ExpertUnits units = *expert_units(scenario, plan);
  EXPECT_EQ(units.expert, std::vector<Bytes>(3, Bytes::of(kExpert)));
  EXPECT_EQ(units.units.size(), plan.units.size() + 24);
  Bytes dense;
  for (size_t i = 0; i < units.dense; ++i) dense += units.units[i].bytes;
  const SimReport report = run(scenario).report;
  // 40 tokens x 3 layers x 2 experts.
  EXPECT_EQ(report.cache_hits + report.cache_misses, 240);
  EXPECT_EQ(report.bytes_read, dense + Bytes::of(kExpert) * report.cache_misses);
  EXPECT_EQ(report.stall.count(), report.bytes_read.count()) << "1 B/ns, nothing is hidden";
  EXPECT_EQ(report.curve.back().weights, dense + Bytes::of(kExpert * 2 * 3));
  EXPECT_EQ(plan.breakdown.weights, dense + Bytes::of(kExpert * 2 * 3)) << "the caches are full";
  EXPECT_EQ(report.experts->read_per_token->count(), report.experts->misses * kExpert / 39);
  EXPECT_EQ(report.events[0].what, "progress");
  EXPECT_EQ(report.cache_policy, "lru");
}

// A prefill of 64 tokens asks for more experts than are kept.
TEST(ExpertLoaderTest, APrefillStreamsWhatIsNotKept) {
  Scenario scenario = mixture(2);
  scenario.prompt = Tokens(64);
  scenario.generate = Tokens(1);
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.cache_misses, 3 * 8) << "64 tokens meet every expert";
  EXPECT_EQ(report.cache_evictions, 3 * 6);
  EXPECT_FALSE(report.experts->read_per_token.has_value());
}

TEST(ExpertLoaderTest, AllKeptIsReadOnceAndComputesAlike) {
  Scenario scenario = mixture(8);
  const SimReport kept = run(scenario).report;
  scenario.residency.expert_slots = 0;
  const SimReport resident = run(scenario).report;
  EXPECT_LE(kept.bytes_read, resident.bytes_read);
  EXPECT_EQ(kept.stages.compute, resident.stages.compute);
  EXPECT_EQ(kept.cache_evictions, 0);
}

TEST(ExpertLoaderTest, RefusedWithAHint) {
  const auto path_of = [](const Scenario& scenario) {
    const Diagnostics problems = refusal(scenario);
    return problems.empty() ? std::string() : problems.front().path;
  };
  EXPECT_EQ(path_of(mixture(1)), "--expert-cache");
  EXPECT_EQ(path_of(mixture(9)), "--expert-cache");
  Scenario scenario = mixture(2);
  scenario.cache.policy = CachePolicy::kPinned;
  EXPECT_EQ(path_of(scenario), "--expert-cache");
  scenario = mixture(0);
  scenario.residency.expert_bytes = Bytes::of(2 * kExpert - 1);
  EXPECT_EQ(path_of(scenario), "--expert-cache");
  scenario.residency.expert_bytes = Bytes::of(2 * kExpert);
  run(scenario);
  scenario = testing::decoder_scenario(2, StrategyKind::kResident);
  scenario.residency.expert_slots = 2;
  EXPECT_EQ(path_of(scenario), "--expert-cache");
  scenario = mixture(2);
  scenario.strategy = StrategyKind::kLayerwise;
  EXPECT_EQ(path_of(scenario), "--expert-cache");
}

// The table of `--experts` has the same caches and no clock.
TEST(ExpertLoaderLaws, CountsAreThoseOfTheCacheAlone) {
  EXPECT_TRUE(rc::check("hits and misses, token by token", [] {
    Scenario scenario = mixture(*rc::gen::inRange(2, 9));
    scenario.generate = Tokens(*rc::gen::inRange(1, 60));
    scenario.seed = *rc::gen::inRange<uint64_t>(0, 1000);
    scenario.cache.policy = *rc::gen::element(
        CachePolicy::kLru, CachePolicy::kMru, CachePolicy::kNextUse, CachePolicy::kFifo,
        CachePolicy::kClock, CachePolicy::kLfu, CachePolicy::kRandom);
    const SimReport report = run(scenario).report;
    const ExpertUnits units = *expert_units(scenario, plan_of(scenario));
    const ExpertCacheUse alone =
        run_expert_cache(units.routing, {.slots = scenario.residency.expert_slots,
                                         .policy = name_of(scenario.cache.policy),
                                         .tokens = scenario.generate.count()});
    RC_ASSERT(report.cache_hits == alone.hits);
    RC_ASSERT(report.cache_misses == alone.misses);
    RC_ASSERT(report.peak <= plan_of(scenario).breakdown.total());
  }));
}

TEST(ExpertLoaderLaws, OneCacheForAllLayersStaysWithinItsSize) {
  EXPECT_TRUE(rc::check("weights <= dense + SIZE", [] {
    Scenario scenario = mixture(0);
    scenario.residency.expert_bytes = Bytes::of(*rc::gen::inRange<int64_t>(2, 30) * kExpert);
    scenario.prompt = Tokens(*rc::gen::inRange(1, 100));
    const SimReport report = run(scenario).report;
    const ExpertUnits units = *expert_units(scenario, plan_of(scenario));
    Bytes dense;
    for (size_t i = 0; i < units.dense; ++i) dense += units.units[i].bytes;
    for (const CurvePoint& point : report.curve) {
      RC_ASSERT(point.weights <= dense + scenario.residency.expert_bytes);
    }
    RC_ASSERT(report.peak <= plan_of(scenario).breakdown.total());
    RC_ASSERT(report.stages.compute + report.stall == report.end);
  }));
}

}  // namespace
}  // namespace tidemark

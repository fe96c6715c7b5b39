// Laws of a run under random models, each against a formula or a judge written from the definition.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <limits>

#include "scenarios.h"
#include "sim/device/device_model.h"

namespace tidemark {
namespace {

using testing::decoder_scenario;
using testing::layer_scenario;
using testing::plan_of;
using testing::run;

constexpr std::array kStrategies{StrategyKind::kResident, StrategyKind::kLayerwise,
                                 StrategyKind::kDoubleBuffer, StrategyKind::kBlockCache};

// Three to seven layers, one or two prefill passes, up to three decode passes, either way of
// counting activations.
Scenario random_scenario(StrategyKind strategy) {
  std::vector<PlainLayer> layers;
  const auto count = *rc::gen::inRange(3, 8);
  for (int i = 0; i < count; ++i) {
    layers.push_back({"layer" + std::to_string(i), Bytes::of(*rc::gen::inRange(0, 1000)),
                      Bytes::of(*rc::gen::inRange(0, 300))});
  }
  Scenario scenario = layer_scenario(std::move(layers), strategy);
  scenario.n_ubatch = Tokens(8);
  scenario.prompt = Tokens(*rc::gen::inRange(1, 17));
  scenario.generate = Tokens(*rc::gen::inRange(0, 5));
  scenario.device.flash_latency = Duration::ns(*rc::gen::inRange(0, 50));
  scenario.device.memory_bandwidth =
      BytesPerSecond::of(*rc::gen::inRange<int64_t>(500'000'000, 20'000'000'000));
  if (*rc::gen::arbitrary<bool>()) scenario.engine = testing::arena_engine();
  return scenario;
}

// Read and compute times of every visit, from the graphs and nothing else.
struct Visits {
  std::vector<Duration> read{};
  std::vector<Duration> compute{};
  std::vector<UnitId> unit{};
};

Visits visits_of(const Scenario& scenario, const MemoryPlan& plan) {
  Visits visits;
  const int64_t prefill_passes =
      ceil_div(std::max<int64_t>(scenario.prompt.count(), 1), scenario.n_ubatch.count());
  const int64_t passes = prefill_passes + std::max<int64_t>(scenario.generate.count() - 1, 0);
  for (int64_t pass = 0; pass < passes; ++pass) {
    const PhasePlan& phase = pass < prefill_passes ? plan.prefill : plan.decode;
    for (const UnitUse& use : phase.uses) {
      Duration compute;
      for (int64_t step = use.steps.lower.value(); step < use.steps.upper.value(); ++step) {
        const Op& op = phase.graph.op(phase.schedule.order.at(static_cast<size_t>(step)));
        compute += op_time(scenario.device, phase.graph, op, 0);
      }
      visits.read.push_back(read_time(scenario.device, plan.units.at(use.unit.index()).bytes));
      visits.compute.push_back(compute);
      visits.unit.push_back(use.unit);
    }
  }
  return visits;
}

Duration sum(const std::vector<Duration>& list) {
  Duration total;
  for (const Duration& each : list) total += each;
  return total;
}

TEST(SimulateLawsTest, ResidentEndsAfterOneReadOfEachUnitAndAllComputation) {
  EXPECT_TRUE(rc::check("sum of reads, then sum of computes", [] {
    const Scenario scenario = random_scenario(StrategyKind::kResident);
    const MemoryPlan plan = plan_of(scenario);
    Duration reads;
    for (const WeightUnit& unit : plan.units) reads += read_time(scenario.device, unit.bytes);
    const SimReport report = run(scenario).report;
    RC_ASSERT(report.end == reads + sum(visits_of(scenario, plan).compute));
    RC_ASSERT(report.stall == reads);
  }));
}

TEST(SimulateLawsTest, LayerwiseEndsAfterTheSumOfAllReadsAndComputes) {
  EXPECT_TRUE(rc::check("nothing overlaps", [] {
    const Scenario scenario = random_scenario(StrategyKind::kLayerwise);
    const Visits visits = visits_of(scenario, plan_of(scenario));
    const SimReport report = run(scenario).report;
    RC_ASSERT(report.end == sum(visits.read) + sum(visits.compute));
    RC_ASSERT(report.stall == sum(visits.read));
  }));
}

TEST(SimulateLawsTest, DoubleBufferEndsAfterTheFirstReadAndTheLongerOfEachPair) {
  EXPECT_TRUE(rc::check("first read + sum of max(compute of i, read of i + 1)", [] {
    const Scenario scenario = random_scenario(StrategyKind::kDoubleBuffer);
    const Visits visits = visits_of(scenario, plan_of(scenario));
    Duration expected = visits.read.front();
    for (size_t i = 0; i < visits.read.size(); ++i) {
      const Duration next_read = i + 1 < visits.read.size() ? visits.read[i + 1] : Duration{};
      expected += std::max(visits.compute[i], next_read);
    }
    RC_ASSERT(run(scenario).report.end == expected);
  }));
}

TEST(SimulateLawsTest, OverlapNeverTakesLongerThanTakingTurnsAndOneReadNeverLongerThanMany) {
  EXPECT_TRUE(rc::check("double-buffer <= layerwise, resident <= layerwise", [] {
    Scenario scenario = random_scenario(StrategyKind::kLayerwise);
    const Duration layerwise = run(scenario).report.end;
    scenario.strategy = StrategyKind::kDoubleBuffer;
    RC_ASSERT(run(scenario).report.end <= layerwise);
    scenario.strategy = StrategyKind::kResident;
    RC_ASSERT(run(scenario).report.end <= layerwise);
  }));
}

TEST(SimulateLawsTest,
     ABlockCacheOfEverythingTakesAsLongAsResidentAndOneOfOneBlockAsLongAsLayerwise) {
  EXPECT_TRUE(rc::check("the two ends of the cache", [] {
    Scenario scenario = random_scenario(StrategyKind::kBlockCache);
    for (PlainLayer& layer : std::get<LayerListSpec>(scenario.model.dims).layers)
      layer.weights += Bytes::of(1000);
    Bytes all;
    Bytes largest;
    for (const PlainLayer& layer : scenario.model.layer_list()->layers) {
      all += layer.weights;
      largest = std::max(largest, layer.weights);
    }
    const auto end_with = [&scenario](StrategyKind strategy, Bytes capacity) {
      scenario.strategy = strategy;
      scenario.cache.capacity = capacity;
      return run(scenario).report.end;
    };
    RC_ASSERT(end_with(StrategyKind::kBlockCache, all) == end_with(StrategyKind::kResident, {}));
    RC_ASSERT(end_with(StrategyKind::kBlockCache, largest) ==
              end_with(StrategyKind::kLayerwise, {}));
  }));
}

TEST(SimulateLawsTest, WithFlashOfAnyRateTheRunIsBoundByComputation) {
  EXPECT_TRUE(rc::check("reads of a nanosecond", [] {
    Scenario scenario = random_scenario(*rc::gen::elementOf(kStrategies));
    scenario.device.flash_read = BytesPerSecond::of(1'000'000'000'000'000'000);
    scenario.device.flash_latency = {};
    const Visits visits = visits_of(scenario, plan_of(scenario));
    const SimReport report = run(scenario).report;
    RC_ASSERT(report.end >= sum(visits.compute));
    // Rounded up, a read takes a nanosecond.
    RC_ASSERT(report.end <=
              sum(visits.compute) + Duration::ns(static_cast<int64_t>(visits.read.size())));
  }));
}

void check_curve(const SimReport& report) {
  RC_ASSERT(!report.curve.empty());
  RC_ASSERT(report.curve.front().time == SimTime{});
  Bytes highest;
  for (size_t i = 0; i < report.curve.size(); ++i) {
    highest = std::max(highest, report.curve[i].total());
    if (i == 0) continue;
    RC_ASSERT(report.curve[i - 1].time <= report.curve[i].time);
    CurvePoint same_time = report.curve[i - 1];
    same_time.time = report.curve[i].time;
    RC_ASSERT(!(same_time == report.curve[i]));
  }
  RC_ASSERT(highest == report.peak);
  RC_ASSERT(report.curve.back().time <= report.end);
}

TEST(SimulateLawsTest, TheCurveMovesForwardChangesAtEachPointAndReachesThePeak) {
  EXPECT_TRUE(rc::check("shape of a curve", [] {
    check_curve(run(random_scenario(*rc::gen::elementOf(kStrategies))).report);
  }));
}

TEST(SimulateLawsTest, ThePeakIsWhatThePlanSays) {
  EXPECT_TRUE(rc::check("peak <= planned total; equal with an arena, from the second pass on", [] {
    Scenario scenario = random_scenario(*rc::gen::elementOf(kStrategies));
    if (*rc::gen::arbitrary<bool>()) {
      const EngineProfile engine = scenario.engine;
      scenario = decoder_scenario(2, scenario.strategy);
      scenario.engine = engine;
    }
    const Bytes planned = plan_of(scenario).breakdown.total();
    const SimReport report = run(scenario).report;
    RC_ASSERT(report.peak <= planned);
    const bool arena = scenario.engine.activations == ActivationPolicy::kArena;
    if (arena && scenario.generate.count() > 1) RC_ASSERT(report.peak == planned);
  }));
}

TEST(SimulateLawsTest, AColdRunReadsAtLeastEveryUnitOnce) {
  EXPECT_TRUE(rc::check("bytes read >= working set", [] {
    const Scenario scenario = random_scenario(*rc::gen::elementOf(kStrategies));
    Bytes working_set;
    for (const WeightUnit& unit : plan_of(scenario).units) working_set += unit.bytes;
    RC_ASSERT(run(scenario).report.bytes_read >= working_set);
  }));
}

TEST(SimulateLawsTest, TimeToFirstTokenAndTheTokensAfterItMakeTheWholeRun) {
  EXPECT_TRUE(rc::check("ttft + (N - 1) tpot, to the rounding of the mean", [] {
    Scenario scenario = random_scenario(*rc::gen::elementOf(kStrategies));
    scenario.generate = Tokens(*rc::gen::inRange(2, 6));
    const SimReport report = run(scenario).report;
    const int64_t gaps = scenario.generate.count() - 1;
    RC_ASSERT(report.ttft + *report.tpot * gaps <= report.end);
    RC_ASSERT(report.end < report.ttft + (*report.tpot + Duration::ns(1)) * gaps);
  }));
}

TEST(SimulateLawsTest, MoreMemoryNeverMakesARunFail) {
  EXPECT_TRUE(rc::check("completed stays completed", [] {
    Scenario scenario = random_scenario(*rc::gen::elementOf(kStrategies));
    scenario.budget = Bytes::of(*rc::gen::inRange(0, 8000));
    const SimOutcome before = run(scenario).report.outcome;
    *scenario.budget += Bytes::of(*rc::gen::inRange(0, 4000));
    if (before == SimOutcome::kCompleted)
      RC_ASSERT(run(scenario).report.outcome == SimOutcome::kCompleted);
  }));
}

TEST(SimulateLawsTest, ARunIsOverTheLimitExactlyWhenItsPeakIs) {
  EXPECT_TRUE(rc::check("peak > limit", [] {
    Scenario scenario = random_scenario(*rc::gen::elementOf(kStrategies));
    scenario.budget = Bytes::of(*rc::gen::inRange(0, 8000));
    const SimReport report = run(scenario).report;
    RC_ASSERT((report.outcome == SimOutcome::kOverLimit) == (report.peak > *scenario.budget));
    RC_ASSERT(report.reason.empty() == (report.outcome == SimOutcome::kCompleted));
  }));
}

TEST(SimulateLawsTest, TwoRunsAreTheSameToTheByte) {
  EXPECT_TRUE(rc::check("report, curve and trace", [] {
    const Scenario scenario = random_scenario(*rc::gen::elementOf(kStrategies));
    const SimResult first = run(scenario, {.trace = true});
    const SimResult second = run(scenario, {.trace = true});
    RC_ASSERT(first.report.curve == second.report.curve);
    RC_ASSERT(to_perfetto(first.trace) == to_perfetto(second.trace));
    RC_ASSERT(first.report.end == second.report.end);
    RC_ASSERT(first.report.peak_at == second.report.peak_at);
  }));
}

TEST(SimulateLawsTest, AskingForATraceChangesNothingElse) {
  EXPECT_TRUE(rc::check("the same curve with and without", [] {
    const Scenario scenario = random_scenario(*rc::gen::elementOf(kStrategies));
    const SimResult with = run(scenario, {.trace = true});
    const SimResult without = run(scenario);
    RC_ASSERT(with.report.curve == without.report.curve);
    RC_ASSERT(without.trace == Trace{});
    RC_ASSERT(!with.trace.spans.empty());
  }));
}

// Attention reads one more cell in each pass, so no decode pass is shorter than the one before it.
TEST(SimulateLawsTest, DecodePassesOfADecoderGetNoShorter) {
  Scenario scenario = decoder_scenario(2, StrategyKind::kResident);
  scenario.generate = Tokens(100);
  const SimResult result = run(scenario, {.trace = true});
  Duration before;
  Duration first;
  for (const TraceSpan& span : result.trace.spans) {
    if (span.lane != "pass" || span.name.rfind("decode", 0) != 0) continue;
    if (before == Duration{}) first = span.duration;
    EXPECT_GE(span.duration, before) << span.name;
    before = span.duration;
  }
  EXPECT_GT(before, first);
}

// One event a step or one event a visit: the time is the same.
TEST(SimulateLawsTest, CountingLiveActivationsDoesNotChangeTheTime) {
  for (const StrategyKind strategy : kStrategies) {
    Scenario scenario = decoder_scenario(3, strategy);
    const SimReport arena = run(scenario).report;
    scenario.engine = testing::live_engine();
    scenario.cache.capacity = plan_of(scenario).cache_capacity;
    const SimReport live = run(scenario).report;
    EXPECT_EQ(live.end, arena.end) << name_of(strategy);
    EXPECT_EQ(live.ttft, arena.ttft) << name_of(strategy);
    EXPECT_GT(live.curve.size(), arena.curve.size()) << name_of(strategy);
  }
}

// Nothing but the curve is left out when nobody wants it.
TEST(SimulateLawsTest, WithoutTheCurveTheRestIsTheSame) {
  for (const StrategyKind strategy : strategies()) {
    Scenario scenario = decoder_scenario(3, strategy);
    scenario.device.page_size = Bytes::of(4096);
    const SimReport whole = run(scenario).report;
    const SimReport bare = run(scenario, {.curve = false}).report;
    EXPECT_TRUE(bare.curve.empty());
    EXPECT_EQ(bare.peak, whole.peak) << name_of(strategy);
    EXPECT_EQ(bare.peak_time, whole.peak_time) << name_of(strategy);
    EXPECT_EQ(bare.peak_at, whole.peak_at) << name_of(strategy);
    EXPECT_EQ(bare.end, whole.end) << name_of(strategy);
  }
}

// Storage without latency that delivers anything in no time: what is left is the computing.
TEST(SimulateLawsTest, InfiniteBandwidthGivesTheComputingTime) {
  for (const StrategyKind strategy : strategies()) {
    Scenario scenario = decoder_scenario(3, strategy);
    scenario.device.page_size = Bytes::of(4096);
    scenario.device.flash_latency = {};
    scenario.device.flash_read =
        BytesPerSecond::of(std::numeric_limits<int64_t>::max());  // 1 ns a read, rounded up
    const SimReport report = run(scenario).report;
    EXPECT_EQ(report.stages.compute + report.stall, report.end) << name_of(strategy);
    EXPECT_LE(report.stall.count(), report.stages.read.count()) << name_of(strategy);
    EXPECT_LE(report.stall.count(), 100) << name_of(strategy);
  }
}

// Also a run that was ended in the middle of something: it computed or it waited.
TEST(SimulateLawsTest, AKilledRunComputedOrWaitedUntilItsEnd) {
  EXPECT_TRUE(rc::check("stall + compute == end", [] {
    const StrategyKind strategy = *rc::gen::element(
        StrategyKind::kResident, StrategyKind::kLayerwise, StrategyKind::kDoubleBuffer);
    Scenario scenario = random_scenario(strategy);
    scenario.enforce = true;
    scenario.device.app_available = Bytes::of(*rc::gen::inRange(1, 4000));
    const SimReport report = run(scenario).report;
    RC_ASSERT(report.stages.compute + report.stall == report.end);
    RC_ASSERT(report.stalls.loading + report.stalls.weights + report.stalls.kv_cache ==
              report.stall);
    RC_ASSERT(report.stages.read <= report.end);
  }));
}

// A resident run that completes still does with more memory on the device.
TEST(SimulateLawsTest, MoreMemoryNeverMakesResidentFail) {
  EXPECT_TRUE(rc::check("completed stays completed", [] {
    Scenario scenario = random_scenario(StrategyKind::kResident);
    scenario.enforce = *rc::gen::arbitrary<bool>();
    scenario.device.os = *rc::gen::element(SystemKind::kLinux, SystemKind::kAndroid,
                                           SystemKind::kIos, SystemKind::kMacos);
    scenario.device.app_available = Bytes::of(*rc::gen::inRange(1, 8000));
    const bool completed = run(scenario).report.outcome == SimOutcome::kCompleted;
    scenario.device.app_available += Bytes::of(*rc::gen::inRange(0, 8000));
    const bool still = run(scenario).report.outcome == SimOutcome::kCompleted;
    RC_ASSERT(!completed || still);
  }));
}

}  // namespace
}  // namespace tidemark

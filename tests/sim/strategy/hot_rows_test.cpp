// Rows that are kept and rows that are read: counts, bytes and time by hand.
#include "sim/strategy/hot_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "scenarios.h"

namespace tidemark {
namespace {

using testing::decoder_scenario;
using testing::plan_of;
using testing::run;

// A layer of 64 neurons of 32 x f16 a row: gate, up and down 64 B each.
Scenario sparse(int64_t layers, HotRows rows) {
  Scenario scenario = decoder_scenario(layers, StrategyKind::kResident);
  scenario.residency.rows = rows;
  scenario.prompt = Tokens(1);
  return scenario;
}

constexpr HotRows kQuarter{.kept_ppm = 250'000, .read_ppm = 100'000};

TEST(HotRowsTest, WorkedInTheHeader) {
  const Scenario scenario = sparse(1, kQuarter);
  const MemoryPlan plan = plan_of(scenario);
  const RowUnits units = row_units(scenario, plan);
  ASSERT_EQ(units.layers.size(), 1U);
  EXPECT_EQ(units.layers[0].neurons, 64);
  EXPECT_EQ(units.layers[0].kept, 16);
  EXPECT_EQ(units.layers[0].read, 5);
  EXPECT_EQ(units.layers[0].rows, std::vector<Bytes>(3, Bytes::of(64)));
  EXPECT_EQ(plan.units[1].bytes - units.units[1].bytes, Bytes::of(48 * 192));
  EXPECT_EQ(units.units[units.of_token(0).index()].bytes, Bytes::of(960));
  EXPECT_EQ(units.units[units.whole(0).index()].bytes, Bytes::of(9216));

  const ColdRowFacts bundled = cold_row_facts(units, true);
  EXPECT_EQ(bundled.requests_per_token, 5);
  EXPECT_EQ(bundled.request, Bytes::of(192));
  EXPECT_EQ(bundled.read_per_token, Bytes::of(960));
  const ColdRowFacts apart = cold_row_facts(units, false);
  EXPECT_EQ(apart.requests_per_token, 15);
  EXPECT_EQ(apart.request, Bytes::of(64));
  EXPECT_EQ(apart.read_per_token, Bytes::of(960));
}

// 1,000 ns a request: five of them, or fifteen, for each of two layers and each token.
TEST(HotRowsTest, BundlesSaveRequests) {
  Scenario scenario = sparse(2, kQuarter);
  scenario.device.flash_latency = Duration::ns(1000);
  const SimReport bundled = run(scenario).report;
  scenario.residency.rows->bundled = false;
  const SimReport apart = run(scenario).report;
  scenario.residency.rows.reset();
  const SimReport dense = run(scenario).report;
  EXPECT_EQ(*bundled.tpot - *dense.tpot, Duration::ns(2 * (5 * 1000 + 960)));
  EXPECT_EQ(*apart.tpot - *dense.tpot, Duration::ns(2 * (15 * 1000 + 960)));
  EXPECT_EQ(bundled.bytes_read, apart.bytes_read);
  EXPECT_EQ(bundled.rows->read_per_token, Bytes::of(2 * 960));
}

// Memory of 10 B/ns, so 1.25 B/ns from a page cache, in which a request costs nothing of its own:
// 960 B are 768 ns for each of two layers and each token, bundled or not.
TEST(HotRowsTest, AWarmPageCacheServesThem) {
  Scenario scenario = sparse(2, kQuarter);
  scenario.device.flash_latency = Duration::ns(1000);
  scenario.load.is_cached = true;
  scenario.device.energy = DeviceEnergy{.storage_femtojoules = 1'000'000};
  const SimReport bundled = run(scenario).report;
  scenario.residency.rows->bundled = false;
  const SimReport apart = run(scenario).report;
  scenario.residency.rows.reset();
  const SimReport dense = run(scenario).report;
  EXPECT_EQ(*bundled.tpot - *dense.tpot, Duration::ns(2 * 768));
  EXPECT_EQ(*apart.tpot - *dense.tpot, Duration::ns(2 * 3 * 256));
  EXPECT_GT(bundled.bytes_read, Bytes{});
  EXPECT_EQ(bundled.energy->storage_microjoules, 0);
}

// Of a prompt of 100 both ubatches read all cold rows, in one stretch a layer.
TEST(HotRowsTest, APrefillReadsAllColdRows) {
  Scenario scenario = sparse(2, kQuarter);
  scenario.prompt = Tokens(100);
  const SimReport report = run(scenario).report;
  const Bytes planned = plan_of(scenario).breakdown.total();
  scenario.residency.rows.reset();
  const SimReport dense = run(scenario).report;
  EXPECT_EQ(planned - report.peak, plan_of(scenario).breakdown.total() - dense.peak);
  const int64_t cold = 2 * 9216;
  EXPECT_EQ(report.bytes_read,
            dense.bytes_read - Bytes::of(cold) + Bytes::of(2 * cold) + Bytes::of(4 * 2 * 960));
  EXPECT_EQ(report.peak, dense.peak - Bytes::of(cold) + Bytes::of(9216));
}

TEST(HotRowsTest, RefusedWithAHint) {
  Scenario scenario = testing::layer_scenario({{"a", Bytes::of(1), {}}}, StrategyKind::kResident);
  scenario.residency.rows = kQuarter;
  EXPECT_EQ(testing::refusal(scenario).front().path, "--hot-rows");
  scenario = sparse(1, kQuarter);
  scenario.strategy = StrategyKind::kBlockCache;
  EXPECT_EQ(testing::refusal(scenario).front().message,
            "is for strategy resident, not for block-cache");
}

TEST(HotRowsLaws, MoreKeptReadsLessAndNothingIsLost) {
  EXPECT_TRUE(rc::check("kept + cold = all; a token's rows <= cold", [] {
    const HotRows rows{.kept_ppm = *rc::gen::inRange(0, 1'000'001),
                       .read_ppm = *rc::gen::inRange(0, 1'000'001),
                       .bundled = *rc::gen::arbitrary<bool>()};
    Scenario scenario = sparse(*rc::gen::inRange(1, 4), rows);
    const MemoryPlan plan = plan_of(scenario);
    const RowUnits units = row_units(scenario, plan);
    Bytes all;
    for (const WeightUnit& unit : plan.units) all += unit.bytes;
    for (size_t i = 0; i < units.kept; ++i) all -= units.units[i].bytes;
    const ColdRowFacts facts = cold_row_facts(units, rows.bundled);
    RC_ASSERT(all == facts.cold);
    RC_ASSERT(facts.read_per_token <= facts.cold);
    const SimReport report = run(scenario).report;
    RC_ASSERT(report.stages.compute + report.stall == report.end);
    RC_ASSERT(report.peak <= plan.breakdown.total());
    scenario.residency.rows->kept_ppm = *rc::gen::inRange<int64_t>(rows.kept_ppm, 1'000'001);
    RC_ASSERT(run(scenario).report.bytes_read - report.bytes_read <= facts.cold);
    RC_ASSERT(*run(scenario).report.tpot <= *report.tpot);
  }));
}

}  // namespace
}  // namespace tidemark

#include "sim/strategy/memory_ledger.h"

#include <gtest/gtest.h>

#include "planner/base/check.h"

namespace tidemark {
namespace {

class MemoryLedgerTest : public ::testing::Test {
 protected:
  static CurvePoint reserved() { return {.kv_cache = Bytes::of(10), .runtime = Bytes::of(5)}; }
  void pass_time(int64_t ns) { simulation_.run_until(simulation_.now() + Duration::ns(ns)); }
  std::vector<std::pair<int64_t, int64_t>> curve() {
    std::vector<std::pair<int64_t, int64_t>> points;
    for (const CurvePoint& point : ledger_.take_curve()) {
      points.emplace_back(point.time.count(), point.total().count());
    }
    return points;
  }
  using Points = std::vector<std::pair<int64_t, int64_t>>;

  Simulation simulation_{};
  MemoryLedger ledger_{simulation_, reserved()};
};

TEST_F(MemoryLedgerTest, StartsWithWhatIsReserved) {
  EXPECT_EQ(ledger_.peak().total, Bytes::of(15));
  EXPECT_EQ(curve(), (Points{{0, 15}}));
}

TEST_F(MemoryLedgerTest, ChangesAtOneInstantAreOnePoint) {
  ledger_.load_weights(Bytes::of(100));
  ledger_.set_compute(Bytes::of(7));
  pass_time(5);
  ledger_.release_weights(Bytes::of(100));
  ledger_.load_weights(Bytes::of(60));
  EXPECT_EQ(curve(), (Points{{0, 122}, {5, 82}}));
}

TEST_F(MemoryLedgerTest, NoChangeIsNoPoint) {
  pass_time(5);
  ledger_.set_compute(Bytes{});
  ledger_.load_weights(Bytes{});
  pass_time(5);
  ledger_.load_weights(Bytes::of(1));
  EXPECT_EQ(curve(), (Points{{0, 15}, {10, 16}}));
}

TEST_F(MemoryLedgerTest, AReleaseAndAReadOfTheSameSizeLeaveNoTrace) {
  ledger_.load_weights(Bytes::of(100));
  pass_time(5);
  ledger_.release_weights(Bytes::of(100));
  ledger_.load_weights(Bytes::of(100));
  pass_time(5);
  ledger_.release_weights(Bytes::of(100));
  EXPECT_EQ(curve(), (Points{{0, 115}, {10, 15}}));
}

TEST_F(MemoryLedgerTest, ThePeakIsWhereItsTotalWasFirstReached) {
  ledger_.at({.kind = Place::Kind::kPass,
              .phase = Phase::kDecode,
              .index = 4,
              .unit = UnitId(1),
              .step = 77});
  pass_time(3);
  ledger_.load_weights(Bytes::of(100));
  ledger_.at({.kind = Place::Kind::kPass, .step = 78});
  pass_time(3);
  ledger_.release_weights(Bytes::of(50));
  pass_time(3);
  ledger_.load_weights(Bytes::of(50));
  const Peak& peak = ledger_.peak();
  EXPECT_EQ(peak.total, Bytes::of(115));
  EXPECT_EQ(peak.time, Duration::ns(3));
  EXPECT_EQ(peak.place.step, 77);
  EXPECT_EQ(peak.parts.weights, Bytes::of(100));
  const std::vector<WeightUnit> units{{.name = "token_embd"}, {.name = "blk.0"}};
  EXPECT_EQ(describe(peak.place, units), "decode 4, blk.0");
}

TEST_F(MemoryLedgerTest, APeakThatLastedNoTimeStaysOnTheCurve) {
  pass_time(3);
  ledger_.set_compute(Bytes::of(50));
  ledger_.set_compute(Bytes::of(20));
  EXPECT_EQ(ledger_.peak().total, Bytes::of(65));
  EXPECT_EQ(curve(), (Points{{0, 15}, {3, 65}, {3, 35}}));
}

TEST_F(MemoryLedgerTest, ALowerStateThatLastedNoTimeDoesNot) {
  ledger_.load_weights(Bytes::of(100));
  pass_time(3);
  ledger_.set_compute(Bytes::of(50));
  pass_time(3);
  ledger_.set_compute(Bytes::of(40));
  ledger_.set_compute(Bytes::of(20));
  EXPECT_EQ(curve(), (Points{{0, 115}, {3, 165}, {6, 135}}));
}

TEST_F(MemoryLedgerTest, ReleasingMoreThanWasLoadedIsABug) {
  ledger_.load_weights(Bytes::of(10));
  EXPECT_THROW(ledger_.release_weights(Bytes::of(11)), InternalError);
}

TEST(DescribeTest, NamesWhatTheRunWasDoing) {
  const std::vector<WeightUnit> units{{.name = "embed"}};
  EXPECT_EQ(describe({.kind = Place::Kind::kLoading}, units), "loading weights");
  EXPECT_EQ(describe({.kind = Place::Kind::kPass}, units), "prefill 0, embed");
  EXPECT_EQ(describe({.kind = Place::Kind::kAccess, .index = 7}, units), "access 7, embed");
}

}  // namespace
}  // namespace tidemark

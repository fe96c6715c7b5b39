#include "planner/engine/ggml_replay.h"

#include <gtest/gtest.h>

#include <limits>

#include "ggml_graphs.h"

namespace tidemark {
namespace {

using Offsets = std::vector<std::optional<Bytes>>;

// -1: no place.
Offsets at(std::initializer_list<int64_t> list) {
  Offsets offsets;
  for (const int64_t offset : list) {
    offsets.push_back(offset == -1 ? std::nullopt : std::optional(Bytes::of(offset)));
  }
  return offsets;
}

struct Case {
  std::string name{};
  Offsets offsets{};  // of x, a, b, c below
  int64_t arena = 0;
  std::optional<GgmlReplayRule> rule{};
  TensorId node{};
  TensorId tensor{};
};

// 0: x 64 (leaf)   1: a = MUL_MAT(x) 64   2: b = ADD(a, x) 64   3: c = MUL_MAT(b) 96, an output
GgmlGraph four() {
  SmallGraph g;
  const auto x = g.leaf("x", 64);
  const auto a = g.node("a", "MUL_MAT", 64, {x});
  const auto b = g.node("b", "ADD", 64, {a, x});
  g.output("c", "MUL_MAT", 96, {b});
  return g.graph;
}

class GgmlReplayTest : public testing::TestWithParam<Case> {};

TEST_P(GgmlReplayTest, FindsWhatIsWrong) {
  const Case& c = GetParam();
  const auto faults = replay(four(), c.offsets, Bytes::of(c.arena), GgmlInPlace::kEngine);
  if (!c.rule) {
    EXPECT_TRUE(faults.empty()) << faults.front().message;
    return;
  }
  ASSERT_FALSE(faults.empty());
  EXPECT_EQ(faults.front().rule, *c.rule) << faults.front().message;
  EXPECT_EQ(faults.front().node, c.node);
  EXPECT_EQ(faults.front().tensor, c.tensor);
}

using enum GgmlReplayRule;
constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 32 * 32;

INSTANTIATE_TEST_SUITE_P(
    Cases, GgmlReplayTest,
    testing::Values(
        Case{"Apart", at({0, 64, 128, 192}), 288},
        Case{"OverTheFirstSource", at({0, 64, 64, 128}), 224},
        Case{"OverTheSecondSource", at({64, 0, 64, 128}), 224},
        // x is dead when c is written, but a and b are where it does not reach.
        Case{"OverADeadTensor", at({0, 96, 96, 0}), 160},
        // a over x, which b reads.
        Case{"OverALiveTensor", at({0, 0, 64, 128}), 224, kOverlaps, TensorId(1), TensorId(0)},
        Case{"PartlyOverItsSource", at({0, 64, 96, 160}), 256, kOverlaps, TensorId(2), TensorId(1)},
        Case{"AboveTheArena", at({0, 64, 64, 128}), 223, kOutside, TensorId(3), TensorId(3)},
        Case{"OffTheGrid", at({0, 80, 80, 160}), 256, kOutside, TensorId(1), TensorId(1)},
        Case{"BelowZero", at({-32, 64, 64, 128}), 256, kOutside, TensorId(0), TensorId(0)},
        Case{"FarAway", at({0, 64, 64, kFar}), kFar, kOutside, TensorId(3), TensorId(3)},
        Case{"WithoutAPlace", at({0, -1, 64, 128}), 256, kNoPlace, TensorId(1), TensorId(1)},
        Case{"ReadWithoutAPlace", at({-1, 0, 64, 128}), 256, kNoPlace, TensorId(1), TensorId(0)}),
    [](const auto& row) { return row.param.name; });

TEST(GgmlReplayRuleTest, InPlaceWhereItIsAllowedAlone) {
  const auto faults = replay(four(), at({0, 64, 64, 128}), Bytes::of(224), GgmlInPlace::kNone);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].message, "at \"b\" (2): \"a\" (1) is written over by its reader");
}

// gate at 0, up at 64, the GLU over gate.
TEST(GgmlReplayRuleTest, GluOnlyWhereItIsAllowed) {
  SmallGraph g;
  const auto gate = g.node("gate", "MUL_MAT", 64, {});
  const auto up = g.node("up", "MUL_MAT", 64, {});
  g.output("y", "GLU", 64, {gate, up});
  EXPECT_EQ(replay(g.graph, at({0, 64, 0}), Bytes::of(128), GgmlInPlace::kThroughViews).size(), 1U);
  EXPECT_TRUE(replay(g.graph, at({0, 64, 0}), Bytes::of(128), GgmlInPlace::kWithGlu).empty());
}

// a at 0 is overwritten by b, and c reads the second half of a through a view, which b left alone.
TEST(GgmlReplayRuleTest, AViewNeedsOnlyWhatItSees) {
  SmallGraph g;
  const auto a = g.node("a", "MUL_MAT", 64, {});
  GgmlTensor half = view_of(g.graph, a, "VIEW", {8, 1, 1, 1});
  half.bytes = Bytes::of(32);
  half.offset_in_owner = Bytes::of(32);
  const auto v = add(g.graph, half);
  g.node("b", "MUL_MAT", 32, {});
  g.output("c", "MUL_MAT", 32, {v});
  EXPECT_TRUE(replay(g.graph, at({0, 32, 0, 64}), Bytes::of(96), GgmlInPlace::kNone).empty());
  const auto faults = replay(g.graph, at({0, 32, 32, 64}), Bytes::of(96), GgmlInPlace::kNone);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].message, "at \"c\" (3): \"a\" (0) was overwritten before it was read");
}

TEST(GgmlReplayRuleTest, AnOutputIsReadAtTheEnd) {
  SmallGraph g;
  g.output("a", "MUL_MAT", 64, {});
  g.node("b", "MUL_MAT", 32, {});
  const auto faults = replay(g.graph, at({0, 32}), Bytes::of(64), GgmlInPlace::kNone);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].rule, kLost);
  EXPECT_EQ(faults[0].node, TensorId(0));
}

}  // namespace
}  // namespace tidemark

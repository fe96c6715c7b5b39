#include "planner/engine/ggml_alloc.h"

#include <gtest/gtest.h>

#include "ggml_graphs.h"

namespace tidemark {
namespace {

int64_t offset(const GgmlReservation& made, TensorId id) {
  return made.offsets[id.index()] ? made.offsets[id.index()]->count() : -1;
}

// The example at the head of ggml_alloc.h.
TEST(GgmlAllocTest, WorkedInTheHeader) {
  SmallGraph g;
  const auto x = g.leaf("x", 64);
  const auto a = g.node("a", "MUL_MAT", 64, {x});
  const auto b = g.node("b", "ADD", 64, {a, x});
  const auto c = g.output("c", "MUL_MAT", 96, {b});
  const GgmlReservation made = reserve(g.graph);
  EXPECT_EQ(offset(made, x), 0);
  EXPECT_EQ(offset(made, a), 64);
  EXPECT_EQ(offset(made, b), 64);
  EXPECT_EQ(made.overwrites[b.index()], a);
  EXPECT_EQ(offset(made, c), 128);
  EXPECT_EQ(made.reserved.count(), 224);
  EXPECT_EQ(made.high_water, c);
}

// a 32, b 96, c 32, d 64, e 32 are placed side by side as leaves:
//   a [0,32)  b [32,128)  c [128,160)  d [160,224)  e [224,256)
// One node reads b and d, which frees two blocks, of 96 at 32 and of 64 at 160; c and e stay.
class FreeBlocksTest : public testing::Test {
 protected:
  FreeBlocksTest() {
    const auto a = g_.leaf("a", 32);
    const auto b = g_.leaf("b", 96);
    const auto c = g_.leaf("c", 32);
    const auto d = g_.leaf("d", 64);
    const auto e = g_.leaf("e", 32);
    kept_ = {a, c, e};
    g_.node("nothing", "MUL_MAT", 0, {b, d});
  }
  int64_t placed(int64_t bytes) {
    const auto made = g_.node("new", "MUL_MAT", bytes, {});
    news_.push_back(made);
    return offset(reserve(g_.graph), made);
  }
  // Without a reader what is placed is freed never; the leaves are read once more at the end.
  SmallGraph g_;
  std::vector<TensorId> kept_, news_;
};

TEST_F(FreeBlocksTest, TheSmallestThatFits) { EXPECT_EQ(placed(50), 160); }  // 64 of 64

TEST_F(FreeBlocksTest, FromItsStart) {
  EXPECT_EQ(placed(32), 160);
  EXPECT_EQ(placed(32), 192);
  EXPECT_EQ(placed(32), 32);
}

TEST_F(FreeBlocksTest, TheLaterOneOfEquals) {
  EXPECT_EQ(placed(96), 32);  // none but this: left are 64 at 160
  EXPECT_EQ(placed(64), 160);
  g_.node("free", "MUL_MAT", 0, {news_[0], news_[1]});
  EXPECT_EQ(placed(32), 160);
  EXPECT_EQ(placed(64), 32);  // [64,96) would do for 32 later: now 32 at 96 and 32 at 192
  EXPECT_EQ(placed(32), 192);
  EXPECT_EQ(placed(32), 96);
}

TEST_F(FreeBlocksTest, TheOpenEndOnlyIfNoneFits) {
  EXPECT_EQ(placed(97), 256);
  EXPECT_EQ(reserve(g_.graph).reserved.count(), 256 + 128);
  EXPECT_EQ(reserve(g_.graph).high_water, news_[0]);
  EXPECT_EQ(placed(96), 32);
  EXPECT_EQ(reserve(g_.graph).reserved.count(), 256 + 128);
}

TEST_F(FreeBlocksTest, NeighboursMerge) {
  g_.node("free c", "MUL_MAT", 0, {kept_[1]});  // [32,128) + [128,160) + [160,224)
  EXPECT_EQ(placed(192), 32);
}

// e's freeing lets the open end come down to 160: 128 bytes there end at 288.
TEST_F(FreeBlocksTest, TheOpenEndComesDown) {
  g_.node("free e", "MUL_MAT", 0, {kept_[2]});
  EXPECT_EQ(placed(128), 160);
  EXPECT_EQ(reserve(g_.graph).reserved.count(), 288);
}

struct InPlaceCase {
  std::string name{};
  SmallGraph (*graph)() = nullptr;
  std::optional<TensorId> overwritten{};  // by the last node
};

class EngineInPlaceTest : public testing::TestWithParam<InPlaceCase> {};

TEST_P(EngineInPlaceTest, FollowsTheRule) {
  const GgmlGraph graph = GetParam().graph().graph;
  EXPECT_EQ(reserve(graph).overwrites.back(), GetParam().overwritten);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, EngineInPlaceTest,
    testing::Values(InPlaceCase{"Chain",
                                [] {
                                  SmallGraph g;
                                  const auto a = g.node("a", "MUL_MAT", 64, {});
                                  const auto b = g.node("b", "RMS_NORM", 64, {a});
                                  g.node("c", "SCALE", 64, {b});
                                  return g;
                                },
                                TensorId(1)},
                    InPlaceCase{"FirstSourceThatFits",
                                [] {
                                  SmallGraph g;
                                  const auto small = g.leaf("small", 32);
                                  const auto a = g.leaf("a", 64);
                                  const auto b = g.leaf("b", 64);
                                  g.node("c", "ADD", 64, {small, a, b});
                                  return g;
                                },
                                TensorId(1)},
                    InPlaceCase{
                        "NotWhatIsReadLater",
                        [] {
                          SmallGraph g;
                          const auto a = g.leaf("a", 64);
                          g.node("b", "ADD", 64, {a, a});  // read twice: two readers are left
                          return g;
                        },
                        std::nullopt},
                    InPlaceCase{"NotAView",
                                [] {
                                  SmallGraph g;
                                  const auto a = g.leaf("a", 64);
                                  g.node("c", "ROPE", 64, {g.view(a)});
                                  return g;
                                },
                                std::nullopt},
                    InPlaceCase{"NotWhatAViewStillSees",
                                [] {
                                  SmallGraph g;
                                  const auto a = g.leaf("a", 64);
                                  const auto v = g.view(a);
                                  g.node("c", "ADD", 64, {a, v});
                                  return g;
                                },
                                std::nullopt},
                    InPlaceCase{"WhatAViewHasSeen",
                                [] {
                                  SmallGraph g;
                                  const auto a = g.leaf("a", 64);
                                  const auto v = g.view(a);
                                  g.node("b", "MUL_MAT", 96, {v});
                                  g.node("c", "SQR", 64, {a});
                                  return g;
                                },
                                TensorId(0)},
                    InPlaceCase{"NotAnOutput",
                                [] {
                                  SmallGraph g;
                                  const auto a = g.output("a", "MUL_MAT", 64, {});
                                  g.node("c", "SQR", 64, {a});
                                  return g;
                                },
                                std::nullopt},
                    InPlaceCase{"NotAWeight",
                                [] {
                                  SmallGraph g;
                                  g.node("c", "SQR", 64, {g.weight("w", 64)});
                                  return g;
                                },
                                std::nullopt},
                    InPlaceCase{"NotByEveryOp",
                                [] {
                                  SmallGraph g;
                                  g.node("c", "GLU", 64, {g.leaf("a", 64), g.leaf("b", 64)});
                                  return g;
                                },
                                std::nullopt}),
    [](const auto& row) { return row.param.name; });

// x and a view of it are read by turns; only after the last reader of the view is x's block free.
//   x [0,64)  b at 64  c at 128: x is still seen by v;  d at 0
TEST(GgmlAllocTest, AViewKeepsItsOwner) {
  SmallGraph g;
  const auto x = g.leaf("x", 64);
  const auto v = g.view(x);
  const auto b = g.node("b", "MUL_MAT", 64, {x});
  const auto c = g.node("c", "MUL_MAT", 64, {v});
  const auto d = g.node("d", "MUL_MAT", 64, {b, c});
  const GgmlReservation made = reserve(g.graph);
  EXPECT_EQ(offset(made, v), -1);
  EXPECT_EQ(offset(made, b), 64);
  EXPECT_EQ(offset(made, c), 128);
  EXPECT_EQ(offset(made, d), 0);
}

TEST(GgmlAllocTest, AnInputNobodyReadsStaysForGood) {
  SmallGraph g;
  g.leaf("idle", 640);
  const auto a = g.node("a", "MUL_MAT", 32, {});
  EXPECT_EQ(offset(reserve(g.graph), a), 640);
  EXPECT_EQ(reserve(g.graph).reserved.count(), 672);
}

TEST(GgmlAllocTest, NothingForNothing) {
  EXPECT_EQ(reserve({}).reserved.count(), 0);
  EXPECT_FALSE(reserve({}).high_water);
}

}  // namespace
}  // namespace tidemark

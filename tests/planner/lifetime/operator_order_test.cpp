// Tensors are t0, t1, ... and ops 0, 1, ... in the order in which a test makes them.
#include "planner/lifetime/operator_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "planner/lifetime/operator_order_search.h"
#include "random_graphs.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

constexpr OpKind kPlain = OpKind::kPlainLayer;  // never in place

std::vector<int64_t> ops_of(const OrderResult& result) {
  std::vector<int64_t> ops;
  for (const OpId id : result.schedule.order) ops.push_back(id.value());
  return ops;
}

// The worked example of operator_order.h. Ops 0 to 4 are a, b, c, d, e.
//   a b c d e   a 2+8 = 10   b 2+8+8 = 18   c 8+8+1 = 17   d 1+8+1 = 10   e 1+1+1 = 3
//   a c b d e   a 2+8 = 10   c 2+8+1 = 11   b 2+1+8 = 11   d 1+8+1 = 10   e 3
// Less than 11 is impossible: the branch that ends first leaves 1, and while the other is written x
// 2, that 1 and the 8 are live.
TEST(OperatorOrderTest, TwoWideBranches) {
  SmallGraph small;
  const TensorId x = small.input(2);
  const TensorId a = small.op(kPlain, {x}, 8);
  const TensorId b = small.op(kPlain, {x}, 8);
  const TensorId c = small.op(kPlain, {a}, 1);
  const TensorId d = small.op(kPlain, {b}, 1);
  small.op(kPlain, {c, d}, 1);
  const OrderResult result = order_for_memory(small.build());
  EXPECT_EQ(result.program_peak, Bytes::of(18));
  EXPECT_EQ(result.peak, Bytes::of(11));
  EXPECT_TRUE(result.proved_optimal);
  EXPECT_THAT(ops_of(result), ElementsAre(0, 2, 1, 3, 4));
}

// A cell with two branches, sizes of our own: in program order 5,216 bytes, in the best 4,960.
//   0 (1568) -> A 3136 ; A -> B 1568 -> C 512 ; A -> D 512 -> E 256, F 256 ; join
//   A 1568+3136 = 4704   B 3136+1568 = 4704   C 3136+1568+512 = 5216 (A is kept for D)
//   A 4704   D 3136+512 = 3648   E 3136+512+256 = 3904   B 3136+256+1568 = 4960   C 256+1568+512
TEST(OperatorOrderTest, ABranchOfACellFirst) {
  SmallGraph small;
  const TensorId x = small.input(1568);
  const TensorId a = small.op(kPlain, {x}, 3136);
  const TensorId b = small.op(kPlain, {a}, 1568);
  const TensorId c = small.op(kPlain, {b}, 512);
  const TensorId d = small.op(kPlain, {a}, 512);
  const TensorId e = small.op(kPlain, {d}, 256);
  const TensorId f = small.op(kPlain, {c}, 256);
  small.op(kPlain, {e, f}, 512);
  const OrderResult result = order_for_memory(small.build());
  EXPECT_EQ(result.program_peak, Bytes::of(5216));
  EXPECT_EQ(result.peak, Bytes::of(4960));
  EXPECT_TRUE(result.proved_optimal);
}

// x 4 is read by the sum and by the product. Product first: silu may write over x, 4 and the 9 of
// the product are the most. In program order silu needs room of its own: 4 + 4 + 9 = 17.
TEST(OperatorOrderTest, RunsLastWhatMayThenWriteOverItsInput) {
  SmallGraph small;
  const TensorId x = small.op(kPlain, {}, 4);
  const TensorId silu = small.op(OpKind::kSilu, {x}, 4);
  const TensorId wide = small.op(kPlain, {x}, 9);
  small.reader({wide});
  small.reader({silu});
  const OrderResult result = order_for_memory(small.build());
  EXPECT_EQ(result.program_peak, Bytes::of(17));
  EXPECT_EQ(result.peak, Bytes::of(13));
  EXPECT_TRUE(result.proved_optimal);
}

TEST(OperatorOrderTest, AnOrderThatCannotBeBetterIsKeptWithoutSearch) {
  SmallGraph small;
  TensorId x = small.input(3);
  for (int i = 0; i < 5; ++i) x = small.op(kPlain, {x}, 4);
  const OrderResult result = order_for_memory(small.build());
  EXPECT_THAT(ops_of(result), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(result.peak, Bytes::of(8));
  EXPECT_TRUE(result.proved_optimal);
  EXPECT_EQ(result.states, 0);
  EXPECT_EQ(result.pieces, 5);
}

TEST(OperatorOrderTest, AGraphWithoutOpsHasNothingToOrder) {
  const OrderResult result = order_for_memory(Graph());
  EXPECT_TRUE(result.schedule.order.empty());
  EXPECT_EQ(result.peak, Bytes{});
  EXPECT_TRUE(result.proved_optimal);
}

// Inputs that nobody reads stand in the arena in step 0 alone: 7 + 5 read later + 1.
TEST(OperatorOrderTest, UnreadInputsCountInTheFirstStep) {
  SmallGraph small;
  small.input(7);
  const TensorId read = small.input(5);
  small.op(kPlain, {}, 1);
  small.op(kPlain, {read}, 6);
  const OrderResult result = order_for_memory(small.build());
  EXPECT_EQ(result.program_peak, Bytes::of(13));
  EXPECT_EQ(result.peak, Bytes::of(13));
  EXPECT_TRUE(result.proved_optimal);
}

// `count` copies of the two wide branches, one behind the other.
Graph chain_of_branches(int count) {
  SmallGraph small;
  TensorId x = small.input(2);
  for (int i = 0; i < count; ++i) {
    const TensorId a = small.op(kPlain, {x}, 8);
    const TensorId b = small.op(kPlain, {x}, 8);
    const TensorId c = small.op(kPlain, {a}, 1);
    const TensorId d = small.op(kPlain, {b}, 1);
    x = small.op(kPlain, {c, d}, 2);
  }
  return small.build();
}

TEST(OperatorOrderTest, EqualPiecesAreSolvedOnce) {
  const OrderResult one = order_for_memory(chain_of_branches(1));
  const OrderResult many = order_for_memory(chain_of_branches(2000));
  EXPECT_EQ(many.peak, Bytes::of(11));
  EXPECT_TRUE(many.proved_optimal);
  EXPECT_EQ(many.pieces, 2000);
  // The first reads the caller's data, which is no different to a piece; the last tensor of all has
  // no reader, which is.
  EXPECT_EQ(many.searched, 2);
  EXPECT_LE(many.states, 2 * one.states);
}

// Three small pieces before a large one: what does not reach the peak stays as it is written.
TEST(OperatorOrderTest, OnlyPiecesThatReachThePeakAreChanged) {
  SmallGraph small;
  TensorId x = small.input(2);
  for (const int64_t wide : {4, 80}) {
    const TensorId a = small.op(kPlain, {x}, wide);
    const TensorId b = small.op(kPlain, {x}, wide);
    const TensorId c = small.op(kPlain, {a}, 1);
    const TensorId d = small.op(kPlain, {b}, 1);
    x = small.op(kPlain, {c, d}, 2);
  }
  const OrderResult result = order_for_memory(small.build());
  EXPECT_THAT(ops_of(result), ElementsAre(0, 1, 2, 3, 4, 5, 7, 6, 8, 9));
}

// Independent wide ops, each with a narrow end: 2^n sets for a search that may keep ten.
Graph fan(int width) {
  SmallGraph small;
  const TensorId x = small.input(2);
  std::vector<TensorId> wide;
  for (int i = 0; i < width; ++i) wide.push_back(small.op(kPlain, {x}, 8 + i % 3));
  std::vector<TensorId> ends;
  for (const TensorId tensor : wide) ends.push_back(small.op(kPlain, {tensor}, 1));
  small.op(kPlain, ends, 1);
  return small.build();
}

TEST(OperatorOrderTest, ALimitLeavesAnOrderThatIsNoWorseAndABound) {
  const Graph graph = fan(12);
  for (const int64_t most : {0, 1, 10}) {
    const OrderResult result =
        order_for_memory(graph, {.max_states = most, .take_free_ops = false, .use_bounds = false});
    EXPECT_LE(result.states, std::max<int64_t>(most, 1));
    EXPECT_LE(result.peak, result.program_peak);
    EXPECT_LE(result.lower_bound, result.peak);
    EXPECT_FALSE(result.proved_optimal);
  }
  const OrderResult whole = order_for_memory(graph);
  EXPECT_TRUE(whole.proved_optimal);
  // 2 for x, 11 narrow ends, and the widest last: 2 + 11 + 8, or a wider one earlier.
  EXPECT_EQ(whole.peak, Bytes::of(2 + 11 + 8));
}

TEST(OperatorOrderTest, APieceTooLargeIsCutIntoWindows) {
  const Graph graph = fan(40);
  const OrderResult result = order_for_memory(graph, {.max_piece = 16});
  EXPECT_LE(result.peak, result.program_peak);
  EXPECT_EQ(result.largest_piece, 81);
  EXPECT_EQ(load_of(graph, result.schedule).peak, result.peak);
}

TEST(OperatorOrderTest, SizesBeyondSixtyThreeBitsInSumKeepTheProgramOrder) {
  SmallGraph small;
  constexpr int64_t kHuge = INT64_MAX / 3;
  TensorId x = small.input(1);
  for (int i = 0; i < 4; ++i) x = small.op(kPlain, {x}, kHuge);
  const OrderResult result = order_for_memory(small.build());
  EXPECT_EQ(result.peak, Bytes::of(2 * kHuge));
  EXPECT_FALSE(result.proved_optimal);
}

int64_t best_of_all_orders(const Graph& graph, int64_t most, bool& is_complete) {
  int64_t best = INT64_MAX;
  is_complete = for_each_order(graph, most, [&](const std::vector<OpId>& order) {
    best = std::min(best, naive_peak(graph, order));
  });
  return best;
}

// Every order of every graph, by a judge that knows neither ranges nor buffers nor sets.
TEST(OperatorOrderLaws, TheOptimumIsThatOfAllOrders) {
  int compared = 0;
  int improved = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const Graph graph = random_graph(seed, 2 + static_cast<int>(seed % 7));
    bool is_complete = false;
    const int64_t best = best_of_all_orders(graph, 400, is_complete);
    if (!is_complete) continue;
    const OrderResult result = order_for_memory(graph);
    ASSERT_EQ(result.peak.count(), best) << "seed " << seed;
    ASSERT_TRUE(result.proved_optimal) << "seed " << seed;
    ASSERT_EQ(naive_peak(graph, result.schedule.order), best) << "seed " << seed;
    ++compared;
    if (result.peak < result.program_peak) ++improved;
  }
  EXPECT_GT(compared, 2000);
  EXPECT_GT(improved, 200);
}

TEST(OperatorOrderLaws, TheNaiveJudgeAndTheLoadProfileAgree) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    const Graph graph = random_graph(seed, 2 + static_cast<int>(seed % 9));
    int left = 5;
    for_each_order(graph, 50, [&](const std::vector<OpId>& order) {
      if (left-- <= 0) return;
      ASSERT_EQ(load_of(graph, schedule_of(graph, order)).peak.count(), naive_peak(graph, order));
    });
  }
}

std::vector<OrderOptions> all_switches() {
  std::vector<OrderOptions> options;
  for (const bool divide : {false, true}) {
    for (const bool take_free_ops : {false, true}) {
      for (const bool use_bounds : {false, true}) {
        options.push_back(
            {.divide = divide, .take_free_ops = take_free_ops, .use_bounds = use_bounds});
      }
    }
  }
  return options;
}

// A switch changes the number of states, never the answer.
RC_GTEST_PROP(OperatorOrderLaws, EverySwitchGivesTheSamePeak, ()) {
  const auto seed = *rc::gen::arbitrary<uint32_t>();
  const Graph graph = random_graph(seed, *rc::gen::inRange(0, 12));
  const OrderResult plain = order_for_memory(graph);
  RC_ASSERT(plain.proved_optimal);
  for (const OrderOptions& options : all_switches()) {
    const OrderResult result = order_for_memory(graph, options);
    RC_ASSERT(result.peak == plain.peak);
    RC_ASSERT(result.proved_optimal);
    RC_ASSERT(load_of(graph, result.schedule).peak == result.peak);
  }
}

// Limits never make an order worse than the program's, and bounds hold.
RC_GTEST_PROP(OperatorOrderLaws, LimitsCostQualityAlone, ()) {
  const auto seed = *rc::gen::arbitrary<uint32_t>();
  const Graph graph = random_graph(seed, *rc::gen::inRange(1, 40));
  const OrderResult free = order_for_memory(graph);
  const OrderOptions tight{.max_states = *rc::gen::inRange(0, 30),
                           .max_piece = *rc::gen::inRange(1, 20),
                           .beam_width = *rc::gen::inRange(1, 4)};
  const OrderResult held = order_for_memory(graph, tight);
  RC_ASSERT(held.peak <= held.program_peak);
  RC_ASSERT(held.lower_bound <= free.peak);
  RC_ASSERT(free.lower_bound <= held.peak);
  RC_ASSERT(load_of(graph, held.schedule).peak == held.peak);
  RC_ASSERT(held.proved_optimal == (held.lower_bound == held.peak));
}

RC_GTEST_PROP(OperatorOrderLaws, TheSameGraphGivesTheSameOrder, ()) {
  const auto seed = *rc::gen::arbitrary<uint32_t>();
  const OrderResult first = order_for_memory(random_graph(seed, 20));
  const OrderResult second = order_for_memory(random_graph(seed, 20));
  RC_ASSERT(first.schedule.order == second.schedule.order);
  RC_ASSERT(first.states == second.states);
}

// Five branches that cost little, in any order, and then an op that needs 100 whatever happened
// before: only a rule keeps a search from trying every mixture of the branches first.
Graph branches_before_a_peak() {
  SmallGraph small;
  const TensorId x = small.op(kPlain, {}, 50);
  std::vector<TensorId> ends;
  for (int i = 0; i < 5; ++i) {
    const TensorId a = small.op(kPlain, {x}, 2);
    ends.push_back(small.op(kPlain, {a}, 0, TensorKind::kState));
  }
  small.op(kPlain, ends, 100);
  return small.build();
}

TEST(OperatorOrderAblation, EachRuleSavesStates) {
  const auto states = [](const Graph& graph, OrderOptions options) {
    return order_for_memory(graph, options).states;
  };
  const OrderOptions none{.divide = false, .take_free_ops = false, .use_bounds = false};
  const Graph branches = branches_before_a_peak();
  EXPECT_LT(states(branches, {.divide = false, .use_bounds = false}), states(branches, none));
  EXPECT_LT(states(branches, {.divide = false, .take_free_ops = false}), states(branches, none));
  const Graph chain = chain_of_branches(6);
  EXPECT_LT(states(chain, {.take_free_ops = false, .use_bounds = false}), states(chain, none));
}

// A graph that grows by layers is cut at each, wherever its ops stand in the program.
TEST(OperatorOrderPieceTest, CutsBehindWhatEverythingPassesThrough) {
  SmallGraph small;
  const TensorId x = small.op(kPlain, {}, 1);      // 0: everything comes from it
  const TensorId a = small.op(kPlain, {x}, 1);     // 1
  const TensorId b = small.op(kPlain, {x}, 1);     // 2
  const TensorId y = small.op(kPlain, {a, b}, 1);  // 3: everything passes through it
  const TensorId z = small.op(kPlain, {y, x}, 1);  // 4: a tensor may skip over, an op may not
  small.op(kPlain, {z}, 1);                        // 5
  small.op(kPlain, {z}, 1);                        // 6: two ends
  const Graph graph = small.build();
  const Schedule schedule = schedule_in_program_order(graph);
  EXPECT_THAT(cut_at_articulations(graph, schedule),
              ElementsAre(Interval<size_t>{0, 1}, Interval<size_t>{1, 4}, Interval<size_t>{4, 5},
                          Interval<size_t>{5, 7}));
}

// From the definition: an op that is before or after every other one, whatever the order.
RC_GTEST_PROP(OperatorOrderPieceLaws, ACutIsComparableWithEveryOp, ()) {
  const Graph graph = random_graph(*rc::gen::arbitrary<uint32_t>(), *rc::gen::inRange(1, 20));
  const size_t count = graph.ops().size();
  std::vector<std::vector<bool>> leads(count, std::vector<bool>(count));
  for (size_t to = 0; to < count; ++to) {
    for (const OpId before : graph.predecessors(OpId::of(to))) {
      leads[before.index()][to] = true;
      for (size_t from = 0; from < count; ++from) {
        if (leads[from][before.index()]) leads[from][to] = true;
      }
    }
  }
  std::vector<size_t> expected;
  for (size_t op = 0; op < count; ++op) {
    bool is_comparable = true;
    for (size_t other = 0; other < count; ++other) {
      is_comparable &= other == op || leads[op][other] || leads[other][op];
    }
    if (is_comparable && op + 1 < count) expected.push_back(op + 1);
  }
  expected.push_back(count);
  std::vector<size_t> found;
  for (const auto& run : cut_at_articulations(graph, schedule_in_program_order(graph))) {
    found.push_back(run.upper);
  }
  RC_ASSERT(found == expected);
}

}  // namespace
}  // namespace tidemark

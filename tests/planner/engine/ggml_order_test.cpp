#include "planner/engine/ggml_order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>

#include "ggml_graphs.h"
#include "planner/alloc/planners.h"
#include "planner/engine/ggml_order_graph.h"
#include "planner/engine/ggml_replay.h"

namespace tidemark {
namespace {

using namespace literals;

std::vector<TensorId> ids(std::initializer_list<int64_t> list) {
  std::vector<TensorId> made;
  for (const int64_t id : list) made.emplace_back(id);
  return made;
}

// The graph at the head of ggml_order.h.
//   at        x    a     b    c   d   e   sum
//   a (1)   256 1024                      1280
//   c (3)   256 1024         32           1312
//   b (2)   256      1024    32           1312
//   d (4)            1024    32  32       1088
//   e (5)                    32  32  32     96
TEST(GgmlOrderTest, WorkedInTheHeader) {
  SmallGraph g;
  const auto x = g.leaf("x", 256);
  const auto a = g.node("a", "MUL_MAT", 1024, {x});
  const auto b = g.node("b", "MUL_MAT", 1024, {x});
  const auto c = g.node("c", "MUL_MAT", 32, {a});
  const auto d = g.node("d", "MUL_MAT", 32, {b});
  g.output("e", "MUL_MAT", 32, {c, d});
  const GgmlOrder found = order_for_memory(g.graph);
  EXPECT_EQ(found.program_load, 2304_B);
  EXPECT_EQ(found.load, 1312_B);
  EXPECT_TRUE(found.proved_optimal);
  // Its mirror image, b d a c, has the same loads.
  EXPECT_EQ(found.order, ids({0, 1, 3, 2, 4, 5}));
}

TEST(GgmlOrderTest, KeepsTheProgramOrderWhereNoneIsBetter) {
  const GgmlOrder found = order_for_memory(rope_after_reshape());
  EXPECT_EQ(found.order, ids({0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(found.load, 128_B);  // as at the head of ggml_problem.h
  EXPECT_TRUE(found.proved_optimal);
}

// x 256 --> a 1024 --> s = CPY(a, cache)                 a s b d e:  at a, s and b  1280
//    \----> b 1024 --> d 32 --> e 32 (reads the cache)   b d a s e:  at d and a     1312
// When b reads the cache too, it has to come before s; a b s would need 2304 at b.
TEST(GgmlOrderTest, ReadsACacheBeforeItIsWritten) {
  for (const bool reads_cache : {false, true}) {
    SmallGraph g;
    const auto x = g.leaf("x", 256);
    const auto cache = g.weight("cache", 32);
    const auto a = g.node("a", "MUL_MAT", 1024, {x});
    const auto b = g.node("b", "MUL_MAT", 1024, {x, reads_cache ? cache : x});
    const auto s = add(g.graph, view_of(g.graph, cache, "CPY", g.graph[cache].ne));
    g.graph.tensors[s.index()].sources = {a, cache};
    const auto d = g.node("d", "MUL_MAT", 32, {b});
    g.output("e", "MUL_MAT", 32, {cache, d});
    const GgmlOrder found = order_for_memory(g.graph);
    EXPECT_EQ(found.load, reads_cache ? 1312_B : 1280_B);
    EXPECT_EQ(found.order, reads_cache ? ids({0, 1, 3, 5, 2, 4, 6}) : ids({0, 1, 2, 4, 3, 5, 6}));
    EXPECT_TRUE(found.proved_optimal);
  }
}

struct OrderCase {
  std::string name{};
  std::vector<TensorId> order{};
  bool keeps = false;
};

// 0 cache (external)   1 x   2: before = MUL_MAT(cache, x)   3: write = CPY(x, cache), a view of it
// 4: after = MUL_MAT(cache, x)   5: ADD(before, after), an output
GgmlGraph read_write_read() {
  SmallGraph g;
  const auto cache = g.weight("cache", 64);
  const auto x = g.leaf("x", 64);
  const auto before = g.node("before", "MUL_MAT", 64, {cache, x});
  const auto write = add(g.graph, view_of(g.graph, cache, "CPY", g.graph[cache].ne));
  g.graph.tensors[write.index()].sources = {x, cache};
  const auto after = g.node("after", "MUL_MAT", 64, {cache, x});
  g.output("sum", "ADD", 64, {before, after});
  return g.graph;
}

class KeepsMeaningTest : public testing::TestWithParam<OrderCase> {};

TEST_P(KeepsMeaningTest, OfReadsAndWrites) {
  EXPECT_EQ(keeps_meaning(read_write_read(), GetParam().order), GetParam().keeps);
}

INSTANTIATE_TEST_SUITE_P(Cases, KeepsMeaningTest,
                         testing::Values(OrderCase{"AsItIs", ids({0, 1, 2, 3, 4, 5}), true},
                                         OrderCase{"OtherLeafFirst", ids({1, 0, 2, 3, 4, 5}), true},
                                         OrderCase{"ReadTooLate", ids({0, 1, 3, 2, 4, 5}), false},
                                         OrderCase{"ReadTooEarly", ids({0, 1, 2, 4, 3, 5}), false},
                                         OrderCase{"BeforeItsSource", ids({0, 1, 2, 3, 5, 4}),
                                                   false},
                                         OrderCase{"Short", ids({0, 1, 2, 3, 4}), false},
                                         OrderCase{"Twice", ids({0, 1, 2, 3, 3, 5}), false},
                                         OrderCase{"Unknown", ids({0, 1, 2, 3, 4, 6}), false},
                                         OrderCase{"Negative", ids({0, 1, 2, 3, 4, -1}), false}),
                         [](const auto& row) { return row.param.name; });

// One op a line: its kind, what it reads, what it writes.
std::string text_of(const Graph& graph) {
  std::string text;
  for (const Op& op : graph.ops()) {
    for (const TensorId id : op.inputs) text += graph.tensor(id).name + ' ';
    text += "->";
    for (const TensorId id : op.outputs) text += ' ' + graph.tensor(id).name;
    text += '\n';
  }
  return text;
}

TEST(GgmlOrderGraphTest, WorkedInTheHeader) {
  SmallGraph g;
  const auto x = g.leaf("x", 64);
  const auto w = g.weight("w", 4096);
  const auto cache = g.weight("cache", 64);
  const auto k = g.node("k", "MUL_MAT", 64, {w, x});
  const auto v = g.view(k);
  const auto s = add(g.graph, view_of(g.graph, cache, "SET_ROWS", g.graph[cache].ne));
  g.graph.tensors[s.index()].sources = {v, cache};
  g.output("q", "MUL_MAT", 64, {cache, x});
  EXPECT_EQ(text_of(order_graph(g.graph, {}).graph),
            "-> token x\n"
            "x -> k\n"
            "k -> token\n"
            "x token -> q\n"
            "q -> token\n");
}

// A graph in which some views write into their owner, as CPY does.
rc::Gen<GgmlGraph> any_graph_with_writes(int most) {
  return rc::gen::map(any_graph(most), [](GgmlGraph graph) {
    for (size_t i = 1; i < graph.tensors.size(); ++i) {
      if (!graph.tensors[i].owner || i % 2 == 0) continue;
      graph.tensors[i].op = "CPY";
      graph.tensors[i].sources.push_back(TensorId::of(i / 2));
    }
    return graph;
  });
}

rc::Gen<GgmlInPlace> any_way() {
  return rc::gen::element(GgmlInPlace::kNone, GgmlInPlace::kEngine, GgmlInPlace::kThroughViews,
                          GgmlInPlace::kWithGlu);
}

// The least load over all orders of the nodes, by trying them.
Bytes least_load(const GgmlGraph& graph, const GgmlPackingOptions& packing) {
  std::vector<TensorId> order;
  std::vector<bool> placed(graph.tensors.size());
  const auto place = [&](TensorId id) {
    order.push_back(id);
    placed[id.index()] = true;
  };
  for (size_t i = 0; i < placed.size(); ++i) {
    if (graph.tensors[i].leaf) place(TensorId::of(i));
  }
  Bytes least = Bytes::of(int64_t{1} << 40);
  const std::function<void()> go_on = [&] {
    if (order.size() == placed.size() && keeps_meaning(graph, order)) {
      least = std::min(least, peak_load(packing_problem(reorder(graph, order), packing).problem));
    }
    for (size_t i = 0; i < placed.size(); ++i) {
      const auto is_placed = [&](TensorId id) { return placed[id.index()]; };
      if (placed[i] || !std::ranges::all_of(graph.tensors[i].sources, is_placed)) continue;
      place(TensorId::of(i));
      go_on();
      order.pop_back();
      placed[i] = false;
    }
  };
  go_on();
  return least;
}

RC_GTEST_PROP(GgmlOrderLaw, IsTheLeastOfAllOrders, ()) {
  const GgmlGraph graph = *any_graph_with_writes(8);
  const GgmlPackingOptions packing{*any_way(), *rc::gen::arbitrary<bool>()};
  const GgmlOrder found = order_for_memory(graph, packing);
  const Bytes least = least_load(graph, packing);
  RC_ASSERT(found.lower_bound <= least);
  RC_ASSERT(found.load >= least);
  if (packing.in_place == GgmlInPlace::kEngine) return;
  RC_ASSERT(found.load == least);
  RC_ASSERT(found.proved_optimal);
}

// What each tensor is made of, all the way down: by id in `graph`, evaluated in this order.
std::vector<size_t> values(const GgmlGraph& graph, const std::vector<TensorId>& order) {
  const auto mix = [](size_t hash, size_t value) {
    return (hash ^ value) * 0x9e3779b97f4a7c15U + 1;
  };
  std::vector<size_t> memory(graph.tensors.size());  // by owner
  std::vector<size_t> made(graph.tensors.size());
  for (const TensorId id : order) {
    size_t hash = mix(id.index(), std::hash<std::string>{}(graph[id].op));
    for (const TensorId source : graph[id].sources) {
      hash = mix(hash, memory[root_of(graph, source).index()]);
    }
    if (graph[id].op == "RESHAPE") continue;
    made[id.index()] = memory[root_of(graph, id).index()] = hash;
  }
  for (size_t i = 0; i < memory.size(); ++i) made.push_back(memory[i]);
  return made;
}

RC_GTEST_PROP(GgmlOrderLaw, ComputesTheSameInMemoryThatIsPlanned, ()) {
  const GgmlGraph graph = *any_graph_with_writes(24);
  const GgmlPackingOptions packing{*any_way(), *rc::gen::arbitrary<bool>()};
  const GgmlOrder found = order_for_memory(graph, packing);
  std::vector<TensorId> as_it_is;
  for (size_t i = 0; i < graph.tensors.size(); ++i) as_it_is.push_back(TensorId::of(i));
  RC_ASSERT(values(graph, found.order) == values(graph, as_it_is));

  const GgmlGraph made = reorder(graph, found.order);
  const GgmlPacking packed = packing_problem(made, packing);
  RC_ASSERT(peak_load(packed.problem) == found.load);
  RC_ASSERT(found.load <= peak_load(packing_problem(graph, packing).problem));
  const Plan plan_made = plan(packed.problem, PlannerKind::kPortfolio);
  RC_ASSERT(replay(made, tensor_offsets(made, packed, plan_made), plan_made.peak, packing.in_place)
                .empty());
}

}  // namespace
}  // namespace tidemark

#include "planner/engine/ggml_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ggml_graphs.h"
#include "planner/alloc/csv.h"
#include "planner/alloc/planners.h"
#include "planner/engine/ggml_alloc.h"
#include "planner/engine/ggml_replay.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

constexpr GgmlInPlace kAllInPlace[] = {GgmlInPlace::kNone, GgmlInPlace::kEngine,
                                       GgmlInPlace::kThroughViews, GgmlInPlace::kWithGlu};

// "a#3 [0,4) 64"
std::vector<std::string> lines(const Problem& problem) {
  std::vector<std::string> list;
  for (const Buffer& b : problem.buffers) {
    list.push_back(b.name + " [" + std::to_string(b.lifetime.lower) + "," +
                   std::to_string(b.lifetime.upper) + ") " + std::to_string(b.size.count()));
  }
  return list;
}

Problem packed(const GgmlGraph& graph, GgmlInPlace in_place) {
  return packing_problem(graph, {.in_place = in_place}).problem;
}

// The table at the head of ggml_problem.h.
TEST(GgmlProblemTest, WorkedInTheHeader) {
  const GgmlGraph graph = rope_after_reshape();
  const Problem none = packed(graph, GgmlInPlace::kNone);
  EXPECT_THAT(lines(none), ElementsAre("x#1 [0,1) 32", "p#2 [0,3) 32", "a#3 [0,3) 64",
                                       "c#5 [2,4) 64", "d#6 [3,4) 64"));
  EXPECT_EQ(peak_load(none).count(), 160);
  const Problem engine = packed(graph, GgmlInPlace::kEngine);
  EXPECT_THAT(lines(engine),
              ElementsAre("x#1 [0,1) 32", "p#2 [0,3) 32", "a#3 [0,3) 64", "c#5 [2,4) 64"));
  EXPECT_EQ(peak_load(engine).count(), 160);
  const Problem views = packed(graph, GgmlInPlace::kThroughViews);
  EXPECT_THAT(lines(views), ElementsAre("x#1 [0,1) 32", "p#2 [0,3) 32", "a#3 [0,4) 64"));
  EXPECT_EQ(peak_load(views).count(), 128);
}

TEST(GgmlProblemTest, GluWritesOverItsGate) {
  SmallGraph g;
  const auto gate = g.node("gate", "MUL_MAT", 64, {});
  const auto up = g.node("up", "MUL_MAT", 64, {});
  g.output("y", "GLU", 64, {gate, up});
  EXPECT_EQ(peak_load(packed(g.graph, GgmlInPlace::kThroughViews)).count(), 192);
  EXPECT_EQ(peak_load(packed(g.graph, GgmlInPlace::kWithGlu)).count(), 128);
}

TEST(GgmlProblemTest, IdleInputsAreDroppedOrLiveToTheEnd) {
  SmallGraph g;
  const auto used = g.leaf("used", 32);
  g.leaf("idle", 640);
  g.node("a", "MUL_MAT", 32, {used});
  g.output("b", "MUL_MAT", 32, {});
  // a is read by nobody, so it may be a result that somebody forgot to flag.
  EXPECT_THAT(lines(packing_problem(g.graph).problem),
              ElementsAre("used#0 [0,1) 32", "a#2 [0,2) 32", "b#3 [1,2) 32"));
  EXPECT_THAT(lines(packing_problem(g.graph, {.drop_idle_inputs = false}).problem),
              ElementsAre("used#0 [0,1) 32", "idle#1 [0,2) 640", "a#2 [0,2) 32", "b#3 [1,2) 32"));
}

TEST(GgmlProblemTest, AViewOfAnOutputAndAnOutputThatIsAViewKeepTheOwner) {
  SmallGraph g;
  const auto a = g.leaf("a", 32);
  const auto v = g.view(a);
  g.graph.tensors[v.index()].output = true;
  g.node("b", "SQR", 32, {a});
  g.node("c", "SQR", 32, {});
  EXPECT_THAT(lines(packing_problem(g.graph).problem),
              ElementsAre("a#0 [0,3) 32", "b#2 [1,3) 32", "c#3 [2,3) 32"));
}

TEST(GgmlProblemTest, APartialViewIsNotWrittenOver) {
  SmallGraph g;
  const auto a = g.leaf("a", 64);
  GgmlTensor half = view_of(g.graph, a, "VIEW", {8, 1, 1, 1});
  half.bytes = Bytes::of(32);
  const auto v = add(g.graph, half);
  g.output("b", "SQR", 32, {v});
  EXPECT_EQ(packing_problem(g.graph).problem.buffers.size(), 2U);
}

TEST(GgmlProblemTest, OffsetsGoBackToTensors) {
  SmallGraph g;
  const auto w = g.weight("w", 64);
  const auto a = g.node("a", "MUL_MAT", 64, {w});
  GgmlTensor half = view_of(g.graph, a, "VIEW", {8, 1, 1, 1});
  half.bytes = Bytes::of(32);
  half.offset_in_owner = Bytes::of(32);
  add(g.graph, half);
  g.output("b", "SQR", 64, {a});
  g.leaf("idle", 32);
  const GgmlPacking packing = packing_problem(g.graph);
  ASSERT_EQ(packing.problem.buffers.size(), 1U);
  const Plan plan{.offsets = {Bytes::of(256)}};
  EXPECT_THAT(
      tensor_offsets(g.graph, packing, plan),
      ElementsAre(std::nullopt, Bytes::of(256), Bytes::of(288), Bytes::of(256), std::nullopt));
}

TEST(GgmlProblemTest, NamesAreSafeInTables) {
  SmallGraph g;
  g.output("a, \"b\"\t\xc3\xa9", "SQR", 32, {});
  const Problem problem = packing_problem(g.graph).problem;
  EXPECT_EQ(problem.buffers[0].name, "a___b____#0");
  EXPECT_EQ(read_csv(write_csv(problem), "x.csv")->problem.buffers[0].name, "a___b____#0");
}

TEST(GgmlProblemTest, ReadsADump) {
  const std::string text =
      "id\tkind\top\tname\ttype\tne0\tne1\tne2\tne3\tnbytes\tcontig\texternal\tflags\tview_of\t"
      "view_offs\tsrcs\n0\tnode\tSQR\ty\tf32\t8\t1\t1\t1\t32\t1\t0\tO\t-1\t0\t-\n";
  EXPECT_THAT(lines(read_graph_problem(text, "x.tsv").value()), ElementsAre("y#0 [0,1) 32"));
  EXPECT_EQ(to_string(read_graph_problem("\x1f\x8b", "x.tsv.gz").diagnostics()),
            "x.tsv.gz: error: the gzip data is cut off\n");
  EXPECT_FALSE(read_graph_problem("id\n", "x.tsv"));
}

// Plans are judged by what the nodes would read, the engine's own placement as well.
RC_GTEST_PROP(GgmlProblemLaw, NoPlanLosesWhatIsStillRead, ()) {
  const GgmlGraph graph = *any_graph(16);
  for (const bool drop : {true, false}) {
    for (const GgmlInPlace in_place : kAllInPlace) {
      const GgmlPacking packing =
          packing_problem(graph, {.in_place = in_place, .drop_idle_inputs = drop});
      const Plan made = plan(packing.problem, PlannerKind::kBestOf);
      const auto offsets = tensor_offsets(graph, packing, made);
      RC_ASSERT(replay(graph, offsets, made.peak, in_place).empty());
    }
  }
  const GgmlReservation engine = reserve(graph);
  RC_ASSERT(replay(graph, engine.offsets, engine.reserved, GgmlInPlace::kEngine).empty());
}

RC_GTEST_PROP(GgmlProblemLaw, EachWayInPlaceLowersTheLoadOrLeavesIt, ()) {
  const GgmlGraph graph = *any_graph(16);
  Bytes before = Bytes::of(int64_t{1} << 60);
  for (const GgmlInPlace in_place : kAllInPlace) {
    const Bytes load = peak_load(packed(graph, in_place));
    RC_ASSERT(load <= before);
    before = load;
  }
  const GgmlPackingOptions as_engine{.in_place = GgmlInPlace::kEngine, .drop_idle_inputs = false};
  RC_ASSERT(peak_load(packing_problem(graph, as_engine).problem) <= reserve(graph).reserved);
}

// The least load over every way to choose, for each node, none or any of the sources that it may
// write over: by definition, with lifetimes counted step by step.
class EveryChoice {
 public:
  explicit EveryChoice(const GgmlGraph& graph) : graph_(graph), over_(graph.tensors.size()) {}

  int64_t least_load(size_t from = 0) {
    if (from == graph_.tensors.size()) return load();
    int64_t least = least_load(from + 1);
    for (const TensorId source : graph_.tensors[from].sources) {
      const TensorId owner = root_of(graph_, source);
      if (!may_write_over(from, source, owner)) continue;
      over_[from] = owner;
      least = std::min(least, least_load(from + 1));
      over_[from] = std::nullopt;
    }
    return least;
  }

 private:
  bool reads(size_t node, TensorId owner) const {
    return std::ranges::any_of(graph_.tensors[node].sources,
                               [&](TensorId source) { return root_of(graph_, source) == owner; });
  }
  bool is_output(TensorId owner) const {
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (graph_.tensors[i].output && root_of(graph_, TensorId::of(i)) == owner) return true;
    }
    return false;
  }
  bool may_write_over(size_t node, TensorId source, TensorId owner) const {
    const GgmlTensor& tensor = graph_.tensors[node];
    if (!needs_memory(tensor) || !needs_memory(graph_[owner]) || is_output(owner)) return false;
    if (!can_run_in_place(tensor.op) || !same_layout(tensor, graph_[source])) return false;
    if (graph_[source].bytes != graph_[owner].bytes) return false;
    int uses = 0;
    for (const TensorId other : tensor.sources) uses += root_of(graph_, other) == owner ? 1 : 0;
    for (size_t later = node + 1; later < graph_.tensors.size(); ++later) {
      if (reads(later, owner)) return false;
    }
    return uses == 1;
  }
  bool is_live(size_t tensor, size_t at) const {
    const GgmlTensor& own = graph_.tensors[tensor];
    if (!needs_memory(own) || (!own.leaf && tensor > at)) return false;
    bool read_ever = false;
    for (size_t node = 0; node < graph_.tensors.size(); ++node) {
      if (!reads(node, TensorId::of(tensor))) continue;
      if (node >= at) return true;
      read_ever = true;
    }
    return is_output(TensorId::of(tensor)) || (!read_ever && !own.leaf);
  }
  int64_t load() const {
    int64_t most = 0;
    for (size_t at = 0; at < graph_.tensors.size(); ++at) {
      if (graph_.tensors[at].leaf) continue;
      int64_t sum = 0;
      for (size_t i = 0; i < graph_.tensors.size(); ++i) {
        // At the node that overwrites it, the memory counts as the node's.
        const bool handed_on = over_[at] == TensorId::of(i);
        if (is_live(i, at) && !handed_on) sum += padded_bytes(graph_.tensors[i]).count();
      }
      most = std::max(most, sum);
    }
    return most;
  }

  const GgmlGraph& graph_;
  std::vector<std::optional<TensorId>> over_;
};

RC_GTEST_PROP(GgmlProblemLaw, WhatIsOverwrittenChangesNoLoad, ()) {
  const GgmlGraph graph = *any_graph(10);
  RC_ASSERT(EveryChoice(graph).least_load() ==
            peak_load(packed(graph, GgmlInPlace::kWithGlu)).count());
}

}  // namespace
}  // namespace tidemark

// Tensors are t0, t1, ... and ops 0, 1, ... in the order in which a test makes them; op i runs at
// step i.
#include "planner/lifetime/relief.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "planner/lifetime/operator_order.h"
#include "random_graphs.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr OpKind kPlain = OpKind::kPlainLayer;  // never in place

ReliefFacts relief_of(const Graph& graph, ReliefOptions options = {.most = 100}) {
  return relief(graph, schedule_in_program_order(graph), options);
}

// "spill t1 saves 6" and the like.
std::vector<std::string> to_text(const ReliefFacts& facts) {
  std::vector<std::string> lines;
  for (const Relief& made : facts.reliefs) {
    lines.push_back(std::string(name_of(made.kind)) + " " + made.tensor + " saves " +
                    std::to_string(made.saves.count()));
  }
  return lines;
}

// The worked example of relief.h: t0 x, t1 a, t2 b, t3 c.
//   f x1+a6 = 7   g a6+b8 = 14   h a6+b8+c1 = 15   k a6+c1 = 7
TEST(ReliefTest, OneTensorOverAPeak) {
  SmallGraph small;
  const TensorId x = small.input(1);
  const TensorId a = small.op(kPlain, {x}, 6);
  const TensorId b = small.op(kPlain, {}, 8);
  const TensorId c = small.op(kPlain, {b}, 1);
  small.reader({a, c});
  const ReliefFacts facts = relief_of(small.build());
  EXPECT_EQ(facts.peak, Bytes::of(15));
  EXPECT_EQ(facts.peak_step, StepIndex(2));
  EXPECT_EQ(facts.in_use, Bytes::of(9));
  EXPECT_THAT(to_text(facts), ElementsAre("spill t1 saves 6", "recompute t1 saves 5"));
  EXPECT_EQ(facts.reliefs[0].new_peak, Bytes::of(9));
  EXPECT_EQ(facts.reliefs[0].moved, Bytes::of(12));
  EXPECT_THAT(facts.reliefs[0].absences,
              ElementsAre(Absence{.tensor = a, .left = StepIndex(0), .back = StepIndex(3)}));
  EXPECT_EQ(facts.reliefs[1].new_peak, Bytes::of(10));
}

// a was written over x's successor s in place: s 6 -> a 6 = silu(s). Made again, s has to be kept,
// so silu needs room of its own and s is live at the peak in place of a: nothing is saved.
TEST(ReliefTest, WhatWasWrittenInPlaceIsNotMadeAgainForNothing) {
  SmallGraph small;
  const TensorId s = small.op(kPlain, {}, 6);
  const TensorId a = small.op(OpKind::kSilu, {s}, 6);
  const TensorId b = small.op(kPlain, {}, 8);
  const TensorId c = small.op(kPlain, {b}, 1);
  small.reader({a, c});
  EXPECT_THAT(to_text(relief_of(small.build())), ElementsAre("spill t1 saves 6"));
}

// All that is live at the peak is read or written there.
TEST(ReliefTest, APeakThatAnOpNeedsItselfHasNoRelief) {
  SmallGraph small;
  const TensorId x = small.op(kPlain, {}, 6);
  const TensorId y = small.op(kPlain, {x}, 8);
  small.reader({y});
  const ReliefFacts facts = relief_of(small.build());
  EXPECT_EQ(facts.peak, Bytes::of(14));
  EXPECT_EQ(facts.in_use, Bytes::of(14));
  EXPECT_THAT(facts.reliefs, IsEmpty());
}

// An input of the graph cannot be made again. It is moved out from step 0 to its first reader.
TEST(ReliefTest, AnInputIsMovedUntilItIsRead) {
  SmallGraph small;
  const TensorId late = small.input(5);
  small.op(kPlain, {}, 1);
  const TensorId wide = small.op(kPlain, {}, 9);
  small.reader({wide});
  small.reader({late});
  const ReliefFacts facts = relief_of(small.build());
  EXPECT_EQ(facts.peak, Bytes::of(14));
  EXPECT_THAT(to_text(facts), ElementsAre("spill t0 saves 5"));
}

// State is written by the op: run twice, it would move on twice.
TEST(ReliefTest, AnOpThatWritesStateIsNotRunAgain) {
  SmallGraph small;
  const TensorId x = small.tensor(TensorKind::kActivation, 6);
  small.add(kPlain, {}, {x, small.tensor(TensorKind::kState, 1)});
  const TensorId wide = small.op(kPlain, {}, 9);
  small.reader({wide});
  small.reader({x});
  const Graph graph = small.build();
  EXPECT_FALSE(is_recomputable(graph, x));
  EXPECT_TRUE(is_recomputable(graph, wide));
  EXPECT_THAT(to_text(relief_of(graph)), ElementsAre("spill t0 saves 6"));
}

// Three layers with the same peak, 4 + 9, and a lower one, 4 + 2. One x away leaves the peaks of
// the other two layers; all three away leave 9. The fourth need not go.
TEST(ReliefTest, LikeTensorsOfTheLayersGoTogether) {
  GraphBuilder builder;
  for (const int64_t wide : {9, 9, 9, 2}) {
    const std::string layer = "blk." + std::to_string(builder.add_op({.operations = 1}).value());
    const auto add = [&](const char* name, int64_t bytes) {
      return builder.add_sized_tensor(layer + name, TensorKind::kActivation, Bytes::of(bytes));
    };
    const TensorId x = add(".x", 4);
    const TensorId y = add(".y", wide);
    builder.add_op({.name = layer + ".x",
                    .outputs = {x},
                    .weights_read = Bytes::of(7),
                    .operations = 100,
                    .operations_per_cell = 3});
    builder.add_op({.name = layer + ".y", .outputs = {y}});
    builder.add_op({.name = layer + ".z", .inputs = {y}});
    builder.add_op({.name = layer + ".sum", .inputs = {x}});
  }
  const ReliefFacts facts = relief_of(std::move(builder).build(), {.most = 5, .cells = 10});
  EXPECT_EQ(facts.peak, Bytes::of(13));
  EXPECT_THAT(to_text(facts), ElementsAre("recompute blk.*.x saves 4", "spill blk.*.x saves 4"));
  const Relief& again = facts.reliefs[0];
  EXPECT_EQ(again.absences.size(), 3u);
  EXPECT_EQ(again.operations, 3 * (100 + 3 * 10));
  EXPECT_EQ(again.weights_read, Bytes::of(3 * 7));
  EXPECT_EQ(again.last_op, "blk.0.x");
  EXPECT_EQ(again.next_op, "blk.0.sum");
  EXPECT_EQ(facts.reliefs[1].moved, Bytes::of(3 * 2 * 4));
}

TEST(ReliefTest, AGraphWithoutOpsHasNoPeak) {
  EXPECT_EQ(relief_of(Graph()).peak, Bytes{});
  EXPECT_THAT(relief_of(Graph()).reliefs, IsEmpty());
}

TEST(ReliefTest, NoMoreAreToldThanAskedFor) {
  SmallGraph small;
  std::vector<TensorId> kept;
  for (int i = 0; i < 4; ++i) kept.push_back(small.op(kPlain, {}, 3 + i));
  const TensorId wide = small.op(kPlain, {}, 20);
  small.reader({wide});
  small.reader(kept);
  const Graph graph = small.build();
  EXPECT_THAT(to_text(relief_of(graph, {.most = 2})),
              ElementsAre("recompute t3 saves 6", "spill t3 saves 6"));
  EXPECT_THAT(relief_of(graph, {.most = 0}).reliefs, IsEmpty());
}

// The judge: rows of what is read and written, the rows of a move or a second run put between, and
// the load counted from the definition. It shares no code with relief but the graph it reads.
struct Row {
  OpKind kind = OpKind::kPlainLayer;
  std::vector<size_t> reads{};
  std::vector<size_t> writes{};
};

struct Rows {
  std::vector<Row> rows{};
  std::vector<int64_t> sizes{};
  std::vector<TensorKind> kinds{};
};

size_t add_copy(Rows& made, size_t tensor, TensorKind kind) {
  made.sizes.push_back(made.sizes[tensor]);
  made.kinds.push_back(kind);
  return made.sizes.size() - 1;
}

std::vector<size_t> indices(const std::vector<TensorId>& ids) {
  std::vector<size_t> made;
  for (const TensorId id : ids) made.push_back(id.index());
  return made;
}

Rows rows_without(const Graph& graph, const std::optional<Absence>& absence, ReliefKind kind) {
  Rows made;
  for (const Tensor& tensor : graph.tensors()) {
    made.sizes.push_back(tensor.bytes.count());
    made.kinds.push_back(tensor.kind);
  }
  std::optional<size_t> copy;
  for (const Op& op : graph.ops()) {
    if (absence && op.id.value() == absence->back.value()) {
      const size_t away = absence->tensor.index();
      copy = add_copy(made, away, TensorKind::kActivation);
      if (kind == ReliefKind::kSpill) {
        made.rows.push_back({.writes = {*copy}});
      } else {
        const Op& again = graph.op(*graph.producer(absence->tensor));
        Row row{.kind = again.kind, .reads = indices(again.inputs)};
        for (const size_t output : indices(again.outputs)) {
          row.writes.push_back(output == away ? *copy
                                              : add_copy(made, output, TensorKind::kActivation));
        }
        made.rows.push_back(row);
      }
    }
    Row row{.kind = op.kind, .reads = indices(op.inputs), .writes = indices(op.outputs)};
    if (copy) std::ranges::replace(row.reads, absence->tensor.index(), *copy);
    made.rows.push_back(row);
    if (absence && kind == ReliefKind::kSpill && op.id.value() == absence->left.value()) {
      made.rows.push_back({.reads = {absence->tensor.index()}});
    }
  }
  return made;
}

bool writes_over_an_input(const Rows& all, size_t at) {
  const Row& row = all.rows[at];
  if (!allows_in_place(row.kind) || row.writes.size() != 1) return false;
  if (all.kinds[row.writes[0]] != TensorKind::kActivation) return false;
  const bool either = row.kind == OpKind::kAdd || row.kind == OpKind::kMul;
  for (size_t k = 0; k < row.reads.size() && (k == 0 || either); ++k) {
    const size_t input = row.reads[k];
    bool is_free =
        all.kinds[input] == TensorKind::kActivation && all.sizes[input] == all.sizes[row.writes[0]];
    if (!either) is_free &= std::count(row.reads.begin(), row.reads.end(), input) == 1;
    for (size_t later = at + 1; later < all.rows.size(); ++later) {
      is_free &= std::ranges::count(all.rows[later].reads, input) == 0;
    }
    if (is_free) return true;
  }
  return false;
}

int64_t naive_peak(const Rows& all) {
  int64_t peak = 0;
  for (size_t at = 0; at < all.rows.size(); ++at) {
    int64_t load = 0;
    for (size_t tensor = 0; tensor < all.sizes.size(); ++tensor) {
      if (all.kinds[tensor] == TensorKind::kState || all.kinds[tensor] == TensorKind::kOutput) {
        continue;
      }
      size_t first = 0;
      size_t last = 0;
      for (size_t row = 0; row < all.rows.size(); ++row) {
        if (std::ranges::count(all.rows[row].writes, tensor) > 0) first = last = row;
        if (std::ranges::count(all.rows[row].reads, tensor) > 0) last = row;
      }
      if (first <= at && at <= last) load += all.sizes[tensor];
    }
    if (writes_over_an_input(all, at)) load -= all.sizes[all.rows[at].writes[0]];
    peak = std::max(peak, load);
  }
  return peak;
}

bool can_run_again(const Graph& graph, TensorId id) {
  const auto op = graph.producer(id);
  if (!op) return false;
  const auto& outputs = graph.op(*op).outputs;
  return std::ranges::all_of(outputs, [&](TensorId output) {
    return graph.tensor(output).kind == TensorKind::kActivation;
  });
}

// Every tensor, every time between two of its uses, both ways.
struct Trial {
  Absence absence{};
  ReliefKind kind = ReliefKind::kSpill;
  int64_t peak = 0;
};

std::vector<Trial> all_trials(const Graph& graph) {
  std::vector<Trial> trials;
  for (const Tensor& tensor : graph.tensors()) {
    std::vector<StepIndex> uses;
    if (tensor.kind == TensorKind::kInput) uses.emplace_back(0);
    for (const Op& op : graph.ops()) {
      const bool is_used = std::ranges::count(op.inputs, tensor.id) > 0 ||
                           std::ranges::count(op.outputs, tensor.id) > 0;
      const StepIndex step(op.id.value());
      if (is_used && (uses.empty() || uses.back() != step)) uses.push_back(step);
    }
    if (tensor.kind != TensorKind::kInput && tensor.kind != TensorKind::kActivation) continue;
    for (size_t i = 0; i + 1 < uses.size(); ++i) {
      const Absence absence{.tensor = tensor.id, .left = uses[i], .back = uses[i + 1]};
      for (const ReliefKind kind : {ReliefKind::kRecompute, ReliefKind::kSpill}) {
        if (kind == ReliefKind::kRecompute && !can_run_again(graph, tensor.id)) continue;
        trials.push_back({absence, kind, naive_peak(rows_without(graph, absence, kind))});
      }
    }
  }
  return trials;
}

// Tensors of these graphs have no layer in their name, so each relief is one tensor. A copy made
// again may also free an op beside the peak to work in place; that is measured where the absence
// spans the peak, and not looked for elsewhere.
TEST(ReliefLaws, TheBestIsTheBestOfAllTrials) {
  int relieved = 0;
  int recomputed = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    const Graph graph = random_graph(seed, 3 + static_cast<int>(seed % 10));
    const ReliefFacts facts = relief_of(graph);
    const int64_t before = naive_peak(rows_without(graph, std::nullopt, ReliefKind::kSpill));
    ASSERT_EQ(facts.peak.count(), before) << "seed " << seed;
    int64_t least = before;
    for (const Trial& trial : all_trials(graph)) {
      const bool spans_the_peak =
          trial.absence.left < facts.peak_step && facts.peak_step < trial.absence.back;
      if (!spans_the_peak) continue;
      least = std::min(least, trial.peak);
      const auto told = std::ranges::find_if(facts.reliefs, [&](const Relief& made) {
        return made.absences.front() == trial.absence && made.kind == trial.kind;
      });
      const bool is_told = told != facts.reliefs.end();
      ASSERT_EQ(is_told, trial.peak < before) << "seed " << seed;
      if (is_told) {
        ASSERT_EQ(told->new_peak.count(), trial.peak) << "seed " << seed;
      }
      if (is_told && trial.kind == ReliefKind::kRecompute) ++recomputed;
    }
    const Bytes best = facts.reliefs.empty() ? facts.peak : facts.reliefs.front().new_peak;
    ASSERT_EQ(best.count(), least) << "seed " << seed;
    if (least < before) ++relieved;
  }
  EXPECT_GT(relieved, 200);
  EXPECT_GT(recomputed, 50);
}

TEST(ReliefLaws, SortedBySavingAndEachIsItsDifference) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const ReliefFacts facts = relief_of(random_graph(seed, 12));
    EXPECT_LE(facts.in_use, facts.peak);
    for (size_t i = 0; i < facts.reliefs.size(); ++i) {
      const Relief& made = facts.reliefs[i];
      EXPECT_EQ(made.saves, facts.peak - made.new_peak);
      EXPECT_GE(made.new_peak, facts.in_use);
      if (i > 0) {
        EXPECT_LE(made.saves, facts.reliefs[i - 1].saves);
      }
    }
  }
}

}  // namespace
}  // namespace tidemark

// What holds for every graph, in every order its ops may run in.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <random>

#include "executor.h"
#include "planner/alloc/planners.h"
#include "planner/alloc/validate.h"
#include "planner/lifetime/load_profile.h"
#include "small_graphs.h"

namespace tidemark {

// How to make one op of a random graph.
struct OpRecipe {
  OpKind kind = OpKind::kPlainLayer;
  std::vector<size_t> inputs{};  // of the tensors so far, counted round
  int64_t bytes = 0;
  TensorKind output = TensorKind::kActivation;
  bool two_outputs = false;
};

struct GraphRecipe {
  std::vector<OpRecipe> ops{};
  uint32_t order_seed = 0;  // of the ops that are ready, which runs next
};

void showValue(const GraphRecipe& recipe, std::ostream& out) {
  out << "order seed " << recipe.order_seed << "\n";
  for (const OpRecipe& op : recipe.ops) {
    out << name_of(op.kind) << " of";
    for (const size_t input : op.inputs) out << " " << input;
    out << " -> " << op.bytes << " bytes, kind " << static_cast<int>(op.output)
        << (op.two_outputs ? ", twice" : "") << "\n";
  }
}

}  // namespace tidemark

namespace rc {

template <>
struct Arbitrary<tidemark::OpRecipe> {
  static Gen<tidemark::OpRecipe> arbitrary() {
    using tidemark::OpKind;
    using tidemark::OpRecipe;
    using tidemark::TensorKind;
    return gen::build<OpRecipe>(
        gen::set(&OpRecipe::kind,
                 gen::element(OpKind::kPlainLayer, OpKind::kMatMul, OpKind::kRope, OpKind::kSoftmax,
                              OpKind::kAdd, OpKind::kSilu, OpKind::kMul)),
        gen::set(&OpRecipe::inputs, gen::resize(3, gen::arbitrary<std::vector<size_t>>())),
        // Mostly of one size, so that sharing is common.
        gen::set(&OpRecipe::bytes, gen::element<int64_t>(4, 4, 4, 4, 8, 3, 0)),
        gen::set(&OpRecipe::output, gen::element(TensorKind::kActivation, TensorKind::kActivation,
                                                 TensorKind::kActivation, TensorKind::kActivation,
                                                 TensorKind::kOutput)),
        gen::set(&OpRecipe::two_outputs,
                 gen::map(gen::inRange(0, 8), [](int n) { return n == 0; })));
  }
};

template <>
struct Arbitrary<tidemark::GraphRecipe> {
  static Gen<tidemark::GraphRecipe> arbitrary() {
    using tidemark::GraphRecipe;
    return gen::build<GraphRecipe>(
        gen::set(&GraphRecipe::ops,
                 gen::scale(0.3, gen::arbitrary<std::vector<tidemark::OpRecipe>>())),
        gen::set(&GraphRecipe::order_seed, gen::arbitrary<uint32_t>()));
  }
};

}  // namespace rc

namespace tidemark {
namespace {

// Two inputs and a state of one size, then the ops.
Graph graph_of(const GraphRecipe& recipe) {
  SmallGraph small;
  std::vector<TensorId> readable{small.input(4), small.input(4), small.state(4)};
  for (const OpRecipe& op : recipe.ops) {
    std::vector<TensorId> inputs;
    for (const size_t input : op.inputs) inputs.push_back(readable[input % readable.size()]);
    if (op.two_outputs) {
      const auto [first, second] = small.op_with_two_outputs(op.kind, inputs, op.bytes);
      readable.insert(readable.end(), {first, second});
    } else {
      readable.push_back(small.op(op.kind, inputs, op.bytes, op.output));
    }
  }
  small.reader({});  // so that there is a step for the inputs to exist in
  return small.build();
}

// Any topological order: of the ops whose predecessors have run, one at random.
Schedule any_order(const Graph& graph, uint32_t seed) {
  std::mt19937 random(seed);
  Schedule schedule{.step_of = std::vector<StepIndex>(graph.ops().size(), StepIndex(-1))};
  const auto has_run = [&](OpId id) { return schedule.step_of[id.index()].value() >= 0; };
  while (schedule.order.size() < graph.ops().size()) {
    std::vector<OpId> ready;
    for (const Op& op : graph.ops()) {
      const std::vector<OpId> before = graph.predecessors(op.id);
      if (!has_run(op.id) && std::all_of(before.begin(), before.end(), has_run)) {
        ready.push_back(op.id);
      }
    }
    const OpId next = ready[random() % ready.size()];
    schedule.step_of[next.index()] = StepIndex::of(schedule.order.size());
    schedule.order.push_back(next);
  }
  return schedule;
}

Scheduled scheduled(const GraphRecipe& recipe) {
  Scheduled made{.graph = graph_of(recipe)};
  made.schedule = any_order(made.graph, recipe.order_seed);
  made.ranges = live_ranges(made.graph, made.schedule);
  return made;
}

Problem to_problem(const std::vector<ArenaBuffer>& buffers) {
  Problem problem;
  for (const ArenaBuffer& buffer : buffers) {
    problem.buffers.push_back(
        {"", buffer.size, {buffer.lifetime.lower.value(), buffer.lifetime.upper.value()}, {}});
  }
  return problem;
}

int64_t step_count(const Scheduled& made) {
  return static_cast<int64_t>(made.schedule.order.size());
}

bool reads(const Op& op, TensorId id) {
  return std::find(op.inputs.begin(), op.inputs.end(), id) != op.inputs.end();
}
bool writes(const Op& op, TensorId id) {
  return std::find(op.outputs.begin(), op.outputs.end(), id) != op.outputs.end();
}

bool is_read_after(const Scheduled& made, TensorId id, StepIndex step) {
  const auto& order = made.schedule.order;
  return std::any_of(order.begin() + step.value() + 1, order.end(),
                     [&](OpId op) { return reads(made.graph.op(op), id); });
}

// What each shared tensor is written over, from the wording of the rule.
std::map<TensorId, TensorId> expected_sources(const Scheduled& made) {
  std::map<TensorId, TensorId> sources;
  for (const Op& op : made.graph.ops()) {
    if (!allows_in_place(op.kind) || op.outputs.size() != 1) continue;
    const Tensor& output = made.graph.tensor(op.outputs[0]);
    if (output.kind != TensorKind::kActivation) continue;
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      const bool streams_all = op.kind == OpKind::kAdd || op.kind == OpKind::kMul;
      if (k > 0 && !streams_all) break;
      // Read element by element as the first, as a whole as another: not free.
      const bool also_whole = std::count(op.inputs.begin() + 1, op.inputs.end(), op.inputs[k]) > 0;
      if (also_whole && !streams_all) break;
      const Tensor& input = made.graph.tensor(op.inputs[k]);
      if (input.kind == TensorKind::kActivation && input.bytes == output.bytes &&
          !is_read_after(made, input.id, made.schedule.step_of[op.id.index()])) {
        sources.emplace(output.id, input.id);
        break;
      }
    }
  }
  return sources;
}

RC_GTEST_PROP(LifetimeLaws, ARangeHoldsEveryStepThatWritesOrReadsTheTensorAndNoMore,
              (const GraphRecipe& recipe)) {
  const Scheduled made = scheduled(recipe);
  for (const LiveRange& range : made.ranges) {
    const bool is_input = made.graph.tensor(range.tensor).kind == TensorKind::kInput;
    int64_t first = is_input ? 0 : step_count(made);
    int64_t last = 0;
    for (int64_t step = 0; step < step_count(made); ++step) {
      const Op& op = made.graph.op(made.schedule.order[static_cast<size_t>(step)]);
      if (!reads(op, range.tensor) && !writes(op, range.tensor)) continue;
      first = std::min(first, step);
      last = std::max(last, step);
    }
    RC_ASSERT(range.steps.lower == StepIndex(first));
    RC_ASSERT(range.steps.upper == StepIndex(last + 1));
  }
}

RC_GTEST_PROP(LifetimeLaws, NoOpReadsWhatWasWrittenOver, (const GraphRecipe& recipe)) {
  const Scheduled made = scheduled(recipe);
  for (const auto& buffers : {made.shared(), one_buffer_each(made.graph, made.ranges)}) {
    const Problem problem = to_problem(buffers);
    for (const PlannerInfo& planner : planners()) {
      const Plan placed = plan(problem, planner.kind);
      RC_ASSERT(validate(problem, placed).empty());
      RC_ASSERT(first_fault(made.graph, made.schedule, buffers, placed.offsets) == std::string());
    }
  }
}

RC_GTEST_PROP(LifetimeLaws, OpsShareExactlyWhereTheRuleAllows, (const GraphRecipe& recipe)) {
  const Scheduled made = scheduled(recipe);
  std::map<TensorId, TensorId> sources;
  for (const ArenaBuffer& buffer : made.shared()) {
    for (size_t k = 1; k < buffer.members.size(); ++k) {
      sources.emplace(buffer.members[k], buffer.members[k - 1]);
    }
  }
  RC_ASSERT(sources == expected_sources(made));
}

RC_GTEST_PROP(LifetimeLaws, ASharedBufferIsTheHullOfItsMembersAndHoldsEachTensorOnce,
              (const GraphRecipe& recipe)) {
  const Scheduled made = scheduled(recipe);
  std::map<TensorId, Interval<StepIndex>> steps_of;
  for (const LiveRange& range : made.ranges) steps_of[range.tensor] = range.steps;
  for (const ArenaBuffer& buffer : made.shared()) {
    RC_ASSERT(!buffer.members.empty());
    RC_ASSERT(buffer.lifetime.lower == steps_of.at(buffer.members.front()).lower);
    RC_ASSERT(buffer.lifetime.upper == steps_of.at(buffer.members.back()).upper);
    for (const TensorId member : buffer.members) {
      RC_ASSERT(made.graph.tensor(member).bytes == buffer.size);
      steps_of.erase(member);  // a second time fails above
    }
  }
  RC_ASSERT(steps_of.empty());
}

RC_GTEST_PROP(LifetimeLaws, SharingNeverRaisesTheLoad, (const GraphRecipe& recipe)) {
  const Scheduled made = scheduled(recipe);
  const LoadProfile shared = load_profile(made.shared(), step_count(made));
  const LoadProfile each = load_profile(one_buffer_each(made.graph, made.ranges), step_count(made));
  for (size_t step = 0; step < each.load.size(); ++step) {
    RC_ASSERT(shared.load[step] <= each.load[step]);
  }
}

RC_GTEST_PROP(LifetimeLaws, TheLoadAtEachStepIsThatOfTheDefinition, (const GraphRecipe& recipe)) {
  const Scheduled made = scheduled(recipe);
  const std::vector<ArenaBuffer> buffers = made.shared();
  const LoadProfile profile = load_profile(buffers, step_count(made));
  RC_ASSERT(static_cast<int64_t>(profile.load.size()) == step_count(made));
  for (int64_t step = 0; step < step_count(made); ++step) {
    Bytes load;
    for (const ArenaBuffer& buffer : buffers) {
      if (buffer.lifetime.contains(StepIndex(step))) load += buffer.size;
    }
    RC_ASSERT(profile.load[static_cast<size_t>(step)] == load);
  }
  RC_ASSERT(profile.peak == *std::max_element(profile.load.begin(), profile.load.end()));
  RC_ASSERT(profile.load[profile.peak_step.index()] == profile.peak);
  RC_ASSERT(profile.peak == peak_load(to_problem(buffers)));
}

// The machine itself: it sees a byte that was written over.
TEST(ExecutorTest, FindsTheReadOfABufferThatWasReusedTooEarly) {
  SmallGraph small;
  const TensorId x = small.op(OpKind::kMatMul, {}, 8);
  small.op(OpKind::kMatMul, {}, 8);
  small.reader({x});
  const Scheduled made = small.scheduled();
  const auto buffers = one_buffer_each(made.graph, made.ranges);
  EXPECT_EQ(first_fault(made.graph, made.schedule, buffers, {Bytes::of(0), Bytes::of(8)}), "");
  EXPECT_EQ(first_fault(made.graph, made.schedule, buffers, {Bytes::of(0), Bytes::of(7)}),
            "op 2: byte 7 of t0 holds t1");
}

TEST(ExecutorTest, LetsOnlyElementwiseOpsWriteOverWhatTheyRead) {
  for (const OpKind kind : {OpKind::kSilu, OpKind::kMatMul}) {
    SmallGraph small;
    const TensorId x = small.op(OpKind::kMatMul, {}, 8);
    small.op(kind, {x}, 8);
    const Scheduled made = small.scheduled();
    const auto buffers = one_buffer_each(made.graph, made.ranges);
    const std::vector<Bytes> same_place{Bytes::of(0), Bytes::of(0)};
    EXPECT_EQ(first_fault(made.graph, made.schedule, buffers, same_place),
              kind == OpKind::kSilu ? "" : "op 1: byte 0 of t0 holds t1");
    // One byte further up, even an elementwise op destroys what it has still to read.
    const std::vector<Bytes> shifted{Bytes::of(0), Bytes::of(1)};
    EXPECT_NE(first_fault(made.graph, made.schedule, buffers, shifted), "");
  }
}

}  // namespace
}  // namespace tidemark

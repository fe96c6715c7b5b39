// When each arena tensor must exist, in schedule steps, half-open: [first_def, last_use + 1).
// Inputs exist from step 0; an activation nobody reads exists for the one step that writes it, an
// input nobody reads for step 0.
//
//   step 0: a = f()    step 1: b = g(a)    step 2: c = h(a, b)    ->  a [0,3)  b [1,3)  c [2,3)
//   Checked by LiveRangesTest.ThreeOps.
#pragma once

#include <vector>

#include "planner/base/interval.h"
#include "planner/graph/schedule.h"

namespace tidemark {

struct LiveRange {
  TensorId tensor{};
  Interval<StepIndex> steps{};
};

// Inputs and activations only (TensorKind), in tensor order. CHECKs that an op writes every
// activation.
std::vector<LiveRange> live_ranges(const Graph& graph, const Schedule& schedule);

// The inputs that `op` may write over if it is the last to read them, whatever the order of the
// ops, in the order in which it reads them.
std::vector<TensorId> may_write_over(const Graph& graph, const Op& op);

// One reservation in the arena: one tensor, or several that follow each other in the same memory.
struct ArenaBuffer {
  Bytes size{};
  Interval<StepIndex> lifetime{};
  std::vector<TensorId> members{};  // in order of definition; never empty
};

// Lets an op write over an input where that is legal: the op allows it on that input (add and mul
// on either, others on the first) and has one output, the input is an activation of the same size
// whose last use is this op. The first such input is taken. A chain becomes one buffer with the
// hull of its lifetimes, so nothing is freed while a later member lives. Buffers stand in order of
// their first member.
//
//   step 0: s = scores()    step 1: p = softmax(s)    step 2: c = context(p)
//   s [0,2)  p [1,3)  c [2,3): softmax may write over s, as its last reader, so there are two
//   buffers, {s, p} [0,3) and {c} [2,3). It may not when s is an input of the graph (the caller's
//   data), differs in size, or is read again later.
//   Checked by ShareInPlaceTest.SoftmaxWritesOverItsScores.
std::vector<ArenaBuffer> share_in_place(const Graph& graph, const Schedule& schedule,
                                        const std::vector<LiveRange>& ranges);

// The same buffers without sharing: one tensor each.
std::vector<ArenaBuffer> one_buffer_each(const Graph& graph, const std::vector<LiveRange>& ranges);

}  // namespace tidemark

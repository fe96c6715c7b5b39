// The same work done with some tensors away from the arena between two of their uses. Used by
// relief.cpp and its tests alone.
#pragma once

#include <span>

#include "planner/graph/schedule.h"

namespace tidemark {

enum class ReliefKind {
  kRecompute,  // dropped, and made again by the op that made it
  kSpill,      // moved out of the arena, and back
};

// One tensor that is not in the arena after the step of one use and before that of the next. A
// tensor's writing is a use; an input of the graph is there, and so in use, at step 0.
struct Absence {
  TensorId tensor{};
  StepIndex left{};  // last use before it goes
  StepIndex back{};  // first use after it is there again
  bool operator==(const Absence&) const = default;
};

struct Rewritten {
  Graph graph{};
  Schedule schedule{};
};

// The steps of `schedule`, with ops between them that move tensors out after `left` and back before
// `back`, or make them again before `back`; later readers read the copy. What an op made again
// reads therefore lives until then, and may no longer be written over before. At most one absence a
// tensor; a tensor made again needs an op that writes activations alone (CHECK).
//
//   step 0: a = f(x)   1: b = g()   2: h(b)   3: k(a)        a is away after 0, back for 3
//   spilled:      0: a = f(x)  1: move a out  2: b = g()  3: h(b)  4: move a back  5: k(a)
//   recomputed:   0: a = f(x)  1: b = g()  2: h(b)  3: a = f(x)  4: k(a)       x lives until 3
Rewritten rewrite(const Graph& graph, const Schedule& schedule, std::span<const Absence> absences,
                  ReliefKind kind);

// Can the tensor be made again by running its op once more?
bool is_recomputable(const Graph& graph, TensorId tensor);

}  // namespace tidemark

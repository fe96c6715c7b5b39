// A topological order of the ops.
#pragma once

#include <vector>

#include "planner/graph/graph.h"

namespace tidemark {

struct Schedule {
  std::vector<OpId> order{};         // step -> op
  std::vector<StepIndex> step_of{};  // op -> step
};

// Kahn's algorithm; among ready ops the one with the smallest id (program order) goes first, so the
// result does not depend on the order in which edges were inserted.
Schedule schedule_in_program_order(const Graph& graph);

// The schedule that runs the ops in this order. CHECKs that it holds every op once, and none before
// an op that it reads from.
Schedule schedule_of(const Graph& graph, std::vector<OpId> order);

}  // namespace tidemark

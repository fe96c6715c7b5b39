#include "planner/graph/schedule.h"

#include <functional>
#include <queue>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {

Schedule schedule_in_program_order(const Graph& graph) {
  const size_t op_count = graph.ops().size();
  std::vector<size_t> waiting_for(op_count);
  std::priority_queue<OpId, std::vector<OpId>, std::greater<>> ready;  // smallest id on top
  for (const Op& op : graph.ops()) {
    waiting_for[op.id.index()] = graph.predecessors(op.id).size();
    if (waiting_for[op.id.index()] == 0) ready.push(op.id);
  }

  Schedule schedule;
  schedule.order.reserve(op_count);
  schedule.step_of.resize(op_count);
  while (!ready.empty()) {
    const OpId next = ready.top();
    ready.pop();
    schedule.step_of[next.index()] = StepIndex::of(schedule.order.size());
    schedule.order.push_back(next);
    for (OpId successor : graph.successors(next)) {
      if (--waiting_for[successor.index()] == 0) ready.push(successor);
    }
  }
  check(schedule.order.size() == op_count, "a graph without cycles can be scheduled whole");
  return schedule;
}

Schedule schedule_of(const Graph& graph, std::vector<OpId> order) {
  check(order.size() == graph.ops().size(), "a schedule holds every op");
  Schedule schedule{.order = std::move(order)};
  schedule.step_of.assign(graph.ops().size(), StepIndex(-1));
  for (size_t step = 0; step < schedule.order.size(); ++step) {
    const OpId id = schedule.order[step];
    check(id.value() >= 0 && id.index() < graph.ops().size(), "a schedule holds ops of its graph");
    check(schedule.step_of[id.index()] == StepIndex(-1), "a schedule holds every op once");
    for (const OpId before : graph.predecessors(id)) {
      check(schedule.step_of[before.index()] != StepIndex(-1), "an op runs after what it reads");
    }
    schedule.step_of[id.index()] = StepIndex::of(step);
  }
  return schedule;
}

}  // namespace tidemark

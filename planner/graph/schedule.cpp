#include "planner/graph/schedule.h"

#include <functional>
#include <queue>

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

}  // namespace tidemark

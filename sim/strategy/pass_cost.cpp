#include "sim/strategy/pass_cost.h"

#include "planner/base/check.h"

namespace tidemark {
namespace {

bool depends_on_cells(const OpWork& work) {
  return work.operations_per_cell != 0 || work.state_read_per_cell != Bytes{};
}

}  // namespace

PassCost::PassCost(const DeviceSpec& device, const PhasePlan& phase, int64_t tokens,
                   const WeightsInventory* weights)
    : device_(device) {
  work_.reserve(phase.schedule.order.size());
  for (const OpId id : phase.schedule.order) {
    const Op& op = phase.graph.op(id);
    const OpWork whole = op_work(phase.graph, op, weights);
    const bool per_token = op.kind != OpKind::kPlainLayer;
    work_.push_back(per_token ? with_tokens(whole, tokens, phase.options.n_tokens) : whole);
  }
  for (const UnitUse& use : phase.uses) {
    Visit visit;
    for (size_t step = use.steps.lower.index(); step < use.steps.upper.index(); ++step) {
      const OpWork& work = work_.at(step);
      if (depends_on_cells(work)) {
        visit.by_cells.push_back(work);
      } else {
        visit.fixed += op_cost(device_, work, 0);
      }
    }
    visits_.push_back(std::move(visit));
  }
}

OpCost PassCost::step_cost(StepIndex step, int64_t cells) const {
  return op_cost(device_, work_.at(step.index()), cells);
}

OpCost PassCost::visit_cost(size_t use, int64_t cells) const {
  const Visit& visit = visits_.at(use);
  OpCost sum = visit.fixed;
  for (const OpWork& work : visit.by_cells) sum += op_cost(device_, work, cells);
  return sum;
}

LiveBytes live_bytes(const PhasePlan& phase) {
  LiveBytes live{.during = phase.load.load, .after = phase.load.load};
  check(live.during.size() == phase.schedule.order.size(),
        "the load profile has an entry for each step");
  for (size_t step = 0; step < live.during.size(); ++step) {
    live.during[step] += phase.graph.op(phase.schedule.order[step]).scratch;
  }
  for (const ArenaBuffer& buffer : phase.buffers) {
    if (!buffer.lifetime.empty()) live.after.at(buffer.lifetime.upper.index() - 1) -= buffer.size;
  }
  return live;
}

}  // namespace tidemark

#include "sim/strategy/serving_cost.h"

#include <algorithm>

namespace tidemark {
namespace {

bool are_alike(const OpWork& a, const OpWork& b) {
  return a.operations == b.operations && a.operations_per_cell == b.operations_per_cell &&
         a.weights_read == b.weights_read && a.tensors == b.tensors &&
         a.state_read_per_cell == b.state_read_per_cell && a.most_cells == b.most_cells &&
         a.state_moved == b.state_moved && a.op == b.op && a.type == b.type;
}

}  // namespace

ServingCost::ServingCost(const DeviceSpec& device, const PhasePlan& phase,
                         const WeightsInventory* weights)
    : device_(device), n_tokens_(phase.options.n_tokens), n_seq_(phase.options.n_seq) {
  for (const OpId id : phase.schedule.order) {
    const OpWork work = op_work(phase.graph, phase.graph.op(id), weights);
    if (work.operations_per_cell == 0 && work.state_read_per_cell == Bytes{}) {
      fixed_work_.push_back(work);
      continue;
    }
    const auto alike = std::find_if(attention_.begin(), attention_.end(),
                                    [&](const Attention& a) { return are_alike(a.work, work); });
    if (alike != attention_.end()) {
      ++alike->count;
    } else {
      attention_.push_back({.work = work, .count = 1});
    }
  }
}

Duration ServingCost::pass(std::span<const ServedTokens> sequences) {
  int64_t tokens = 0;
  for (const ServedTokens& sequence : sequences) tokens += sequence.tokens;
  OpCost sum = fixed(tokens);
  for (const Attention& op : attention_) {
    sum += cost_of(op.work, tokens, sequences) * op.count;
  }
  spent_ += sum;
  return sum.time();
}

OpCost ServingCost::fixed(int64_t tokens) {
  const auto known = fixed_by_tokens_.find(tokens);
  if (known != fixed_by_tokens_.end()) return known->second;
  OpCost sum;
  for (const OpWork& work : fixed_work_) {
    sum += op_cost(device_, with_tokens(work, tokens, n_tokens_), 0);
  }
  return fixed_by_tokens_[tokens] = sum;
}

OpCost ServingCost::cost_of(const OpWork& work, int64_t tokens,
                            std::span<const ServedTokens> sequences) const {
  int64_t cells_of_tokens = 0;  // attended: tokens x cells
  int64_t cells_read = 0;
  for (const ServedTokens& sequence : sequences) {
    const int64_t cells =
        work.most_cells > 0 ? std::min(sequence.cells, work.most_cells) : sequence.cells;
    cells_of_tokens = checked_add(cells_of_tokens, checked_mul(cells, sequence.tokens));
    cells_read = checked_add(cells_read, cells);
  }
  // The graph's operations a cell are those of all its tokens, its bytes those of all sequences.
  OpWork whole = with_tokens(work, tokens, n_tokens_);
  whole.operations_per_cell = 0;
  whole.operations =
      checked_add(whole.operations,
                  checked_mul(ceil_div(work.operations_per_cell, n_tokens_), cells_of_tokens));
  whole.state_read_per_cell = {};
  whole.state_moved += work.state_read_per_cell / n_seq_ * cells_read;
  return op_cost(device_, whole, 0);
}

}  // namespace tidemark

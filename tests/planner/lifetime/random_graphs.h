// Small random graphs from a number, and every order that their ops may run in.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "small_graphs.h"

namespace tidemark {

// 0 to 2 inputs, then `op_count` ops of up to three inputs each; edges run from lower to higher
// numbers. Sizes are few and small, so that sharing in place and ties are common.
inline Graph random_graph(uint32_t seed, int op_count) {
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  constexpr int64_t kSizes[]{1, 2, 4, 4, 4, 8, 8, 0, 13};
  constexpr OpKind kKinds[]{OpKind::kMatMul, OpKind::kMatMul, OpKind::kAdd,
                            OpKind::kSilu,   OpKind::kMul,    OpKind::kRope};
  SmallGraph small;
  std::vector<TensorId> readable;
  for (size_t i = below(3); i > 0; --i) readable.push_back(small.input(kSizes[below(9)]));
  for (int op = 0; op < op_count; ++op) {
    std::vector<TensorId> inputs;
    for (size_t i = below(4); i > 0 && !readable.empty(); --i) {
      inputs.push_back(readable[below(readable.size())]);
    }
    const OpKind kind = kKinds[below(6)];
    const int64_t bytes = kSizes[below(9)];
    switch (below(10)) {
      case 0:
        small.reader(inputs);
        break;
      case 1: {
        const auto [first, second] = small.op_with_two_outputs(kind, inputs, bytes);
        readable.insert(readable.end(), {first, second});
        break;
      }
      case 2:
        small.op(kind, inputs, bytes, TensorKind::kOutput);
        break;
      case 3:  // a later op may have to wait for a state
        readable.push_back(small.op(kind, inputs, bytes, TensorKind::kState));
        break;
      default:
        readable.push_back(small.op(kind, inputs, bytes));
    }
  }
  return small.build();
}

// Calls `visit` with every topological order, at most `most` of them; false when there were more.
inline bool for_each_order(const Graph& graph, int64_t most,
                           const std::function<void(const std::vector<OpId>&)>& visit) {
  std::vector<OpId> order;
  std::vector<bool> done(graph.ops().size());
  const std::function<bool()> extend = [&]() {
    if (order.size() == graph.ops().size()) {
      visit(order);
      return --most > 0;
    }
    for (const Op& op : graph.ops()) {
      if (done[op.id.index()]) continue;
      bool is_ready = true;
      for (const OpId before : graph.predecessors(op.id)) is_ready &= done[before.index()];
      if (!is_ready) continue;
      done[op.id.index()] = true;
      order.push_back(op.id);
      if (!extend()) return false;
      order.pop_back();
      done[op.id.index()] = false;
    }
    return true;
  };
  return extend();
}

// The peak load from the definition, step by step, without ranges or buffers. An op that may write
// over an input does so when no later op reads it; then its output needs no room of its own.
inline int64_t naive_peak(const Graph& graph, const std::vector<OpId>& order) {
  std::vector<std::ptrdiff_t> step_of(graph.ops().size());
  std::vector<std::ptrdiff_t> last_read(graph.tensors().size(), -1);
  for (size_t step = 0; step < order.size(); ++step) {
    step_of[order[step].index()] = static_cast<std::ptrdiff_t>(step);
    for (const TensorId input : graph.op(order[step]).inputs) {
      last_read[input.index()] = static_cast<std::ptrdiff_t>(step);
    }
  }
  int64_t peak = 0;
  for (std::ptrdiff_t step = 0; step < static_cast<std::ptrdiff_t>(order.size()); ++step) {
    const Op& op = graph.op(order[static_cast<size_t>(step)]);
    int64_t load = 0;
    for (const Tensor& tensor : graph.tensors()) {
      std::ptrdiff_t first = 0;
      if (tensor.kind == TensorKind::kActivation)
        first = step_of[graph.producer(tensor.id)->index()];
      const bool in_arena =
          tensor.kind == TensorKind::kActivation || tensor.kind == TensorKind::kInput;
      const std::ptrdiff_t last = std::max(first, last_read[tensor.id.index()]);
      if (in_arena && first <= step && step <= last) load += tensor.bytes.count();
    }
    for (const TensorId input : may_write_over(graph, op)) {
      if (last_read[input.index()] != step) continue;
      load -= graph.tensor(op.outputs.front()).bytes.count();
      break;
    }
    peak = std::max(peak, load);
  }
  return peak;
}

}  // namespace tidemark

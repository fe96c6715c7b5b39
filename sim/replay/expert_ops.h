// Which ops of a graph route tokens to experts, and the kernels they are (sim/kernels/experts).
//
//   router -> softmax -> top_k -> products (+ biases) -> silu, mul -> product -> weigh -> sum
//   \________  here  ________________________/                        \______  here  _______/
//
// What experts share with other layers (silu, a product elementwise) is the executor's own.
#pragma once

#include <span>
#include <vector>

#include "planner/graph/graph.h"
#include "planner/model/weights.h"
#include "sim/replay/pass_memory.h"

namespace tidemark {

enum class ExpertOp {
  kNone,
  kFloatProduct,   // with a matrix that stayed f32: the router's, a shared expert's gate
  kProbabilities,  // softmax over the experts
  kChoice,
  kProduct,  // by each chosen expert's own matrix
  kBias,     // of each chosen expert
  kWeigh,    // rows by a number each
  kSum,
};

// By OpId.
std::vector<ExpertOp> expert_ops(const Graph& graph, const WeightsInventory& weights);

// Does a product have one number for each row of its first input?
bool weighs_rows(const Graph& graph, const Op& op);

struct ExpertCall {
  const Op& op;
  const Graph& graph;
  const PassMemory& memory;
  const WeightTensor* tensor = nullptr;  // the op's weight, if it has one
  std::span<const std::byte> weight{};   // and its bytes
  std::span<const float> scales{};       // by TensorId
};
void run_expert_op(ExpertOp kind, const ExpertCall& call);

}  // namespace tidemark

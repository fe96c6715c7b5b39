// One op at a time, by the INT8 kernels: which kernel an OpKind is, and the shapes and scales it
// takes.
#pragma once

#include <span>
#include <vector>

#include "planner/capacity/memory_plan.h"
#include "sim/kernels/elementwise.h"
#include "sim/replay/pass_memory.h"
#include "sim/replay/unit_layout.h"

namespace tidemark {

class Executor {
 public:
  // Everything given must outlive it. `scratch` is the operators' own memory.
  Executor(const TransformerSpec& model, const MemoryPlan& plan, const PhasePlan& phase,
           const UnitLayout& layout, std::span<float> scratch);

  // Runs `op` on the tensors of `memory`; `unit` is the loaded unit that holds its weights, if it
  // has any.
  void run(const Op& op, const PassMemory& memory, std::span<const std::byte> unit) const;

 private:
  struct Call;  // one op with what it works on

  void embed(const Call& call) const;
  void norm(const Call& call) const;
  void product(const Call& call) const;
  void turn(const Call& call) const;
  void combine(const Call& call) const;
  void gate(const Call& call) const;
  void select(const Call& call) const;

  float scale(TensorId id) const { return scales_[id.index()]; }
  const AttentionSpec& attention(const Op& op) const;

  const TransformerSpec& model_;
  const PhasePlan& phase_;
  const WeightsInventory& inventory_;
  const UnitLayout& layout_;
  std::span<float> scratch_;
  std::vector<float> scales_;
};

}  // namespace tidemark

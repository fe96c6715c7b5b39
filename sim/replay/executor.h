// One op at a time, by the INT8 kernels: which kernel an OpKind is, and the shapes and scales it
// takes.
#pragma once

#include <span>
#include <vector>

#include "planner/capacity/memory_plan.h"
#include "sim/kernels/elementwise.h"
#include "sim/replay/expert_ops.h"
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

  Call call_of(const Op& op, const PassMemory& memory, std::span<const std::byte> unit) const;
  void run_expert_part(const Call& call) const;
  void embed(const Call& call) const;
  void norm(const Call& call) const;
  void product(const Call& call) const;
  void turn(const Call& call) const;
  void add_bias(const Call& call) const;
  void combine(const Call& call) const;
  void look_up(const Call& call) const;
  void gate_and_multiply(const Call& call) const;
  void pass_on(const Call& call) const;
  void convolve(const Call& call) const;
  void multiply_parts(const Call& call) const;
  void select(const Call& call) const;

  // Of rows that may be a part of the input's.
  int64_t first_value(const Op& op) const;
  template <typename Work>
  void for_rows(const Call& call, Work work) const;

  int64_t width_of(TensorId id) const { return phase_.graph.tensor(id).shape[0]; }
  float scale(TensorId id) const { return scales_[id.index()]; }
  bool is_share(TensorId id) const;  // of 0 to 1, as kLogisticOut has it
  const AttentionSpec& attention(const Op& op) const;

  const TransformerSpec& model_;
  const PhasePlan& phase_;
  const WeightsInventory& inventory_;
  const UnitLayout& layout_;
  std::span<float> scratch_;
  std::vector<float> scales_;
  std::vector<float> ones_;           // the gain of a norm without parameters
  std::vector<ExpertOp> expert_ops_;  // by OpId
};

}  // namespace tidemark

// Scenario -> MemoryPlan: the whole pure chain of the planner, every stage kept so that it can be
// shown.
//
//   build_graph -> schedule (or order_for_memory) -> live_ranges -> share_in_place -> load_profile
//   -> Problem -> plan -> validate
// once for prefill (one ubatch) and once for decode (one step); one arena serves both, so its size
// is the larger.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "planner/alloc/problem.h"
#include "planner/base/result.h"
#include "planner/capacity/llama_plan.h"
#include "planner/capacity/scenario.h"
#include "planner/capacity/weight_units.h"
#include "planner/graph/build_graph.h"
#include "planner/graph/schedule.h"
#include "planner/lifetime/load_profile.h"
#include "planner/model/state.h"

namespace tidemark {

// How the order of the ops was found, under op_order memory. An order is taken when both its load
// and its arena are smaller than in program order.
struct PhaseOrder {
  Bytes program_load{};  // peak load in program order; PhasePlan::load is that of the order taken
  Bytes lower_bound{};   // of the peak load, over all orders
  bool is_optimal = false;  // the order taken reaches it
  int64_t states = 0;       // visited by the exact search
};

struct PhasePlan {
  Phase phase = Phase::kPrefill;
  GraphOptions options{};
  Graph graph{};
  Schedule schedule{};
  std::optional<PhaseOrder> order{};  // op_order memory only
  std::vector<LiveRange> ranges{};
  std::vector<ArenaBuffer> buffers{};
  LoadProfile load{};
  Problem problem{};  // buffers[i] -> problem.buffers[i]
  Plan plan{};
  Bytes scratch{};  // largest scratch of any op
  std::vector<UnitUse> uses{};
};

// What the engine reserves. total() is the sum of the parts, exactly.
struct Breakdown {
  Bytes weights{};
  Bytes kv_cache{};
  Bytes recurrent_state{};
  Bytes compute{};  // activations + scratch
  Bytes output{};
  Bytes runtime{};
  Bytes total() const { return weights + kv_cache + recurrent_state + compute + output + runtime; }
};

// The part with that key ("kv_cache"), nullptr when there is none.
Bytes Breakdown::*breakdown_part(std::string_view key);

struct MemoryPlan {
  WeightsInventory weights{};
  std::vector<WeightUnit> units{};
  Bytes stored_bytes{};  // the model's tensors as stored, before --quant
  PhasePlan prefill{};
  PhasePlan decode{};
  Bytes activations{};     // part of compute: activation_bytes(), or the textbook's A under its
                           // policy, or all of it under llama_cpp's
  Bytes scratch{};         // part of compute: scratch_bytes(), or 0 under those two policies
  Breakdown breakdown{};   // for scenario.strategy
  Bytes cache_capacity{};  // block-cache only: as given, or what the limit leaves
  std::optional<LlamaPlan> llama{};  // policy llama_cpp: the breakdown is its, the phases are ours

  // The phase with the larger arena.
  const PhasePlan& largest() const;
};

// The larger of the two phases: the planned arena, or the peak load when tensors are freed one by
// one.
Bytes activation_bytes(const MemoryPlan& plan, ActivationPolicy policy);
// The larger of the two phases.
Bytes scratch_bytes(const MemoryPlan& plan);

// What the caches and recurrent states of all sequences are sized by.
StateOptions state_options(const Scenario& scenario);
// KV cache and recurrent state of all sequences. Zero for a layer list.
StateSizes state_sizes(const Scenario& scenario);
// Rows of logits in f32: n_outputs, and at least one for every sequence. Zero for a layer list.
Bytes output_bytes(const Scenario& scenario);

// Bounds what a plan may cost before it is begun: 17 to 19 ops a layer, so more than 10,000 layers.
// Planners and the judge compare buffers in pairs, so their time grows with the square.
inline constexpr int64_t kMaxOps = 200'000;

// Bad input (a context too small for the prompt, too many ops, sizes past 63 bits) comes back as
// diagnostics; an invalid plan of our own planner is a bug (CHECK).
Result<MemoryPlan> plan_scenario(const Scenario& scenario);

}  // namespace tidemark

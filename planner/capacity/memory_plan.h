// Scenario -> MemoryPlan: the whole pure chain of the planner, every stage kept so that it can be
// shown.
//
//   build_graph -> schedule (or order_for_memory) -> live_ranges -> share_in_place -> load_profile
//   -> Problem -> plan -> validate
// once for prefill (one ubatch), once for decode (one step), and once for each tower or encoder
// that runs before the prompt. The phases run one after another in one arena, so its size is that
// of the largest. What a tower made lives until prefill has read it: prefill has it among its
// inputs. An encoder alone (BERT) has no decode.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/alloc/problem.h"
#include "planner/base/result.h"
#include "planner/capacity/llama_plan.h"
#include "planner/capacity/scenario.h"
#include "planner/capacity/weight_units.h"
#include "planner/graph/build_graph.h"
#include "planner/graph/schedule.h"
#include "planner/graph/stack_graph.h"
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
  StackRole stack = StackRole::kEncoder;  // encode only
  StackInput input{};                     // encode only
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

// "encode vision", "prefill", "decode".
std::string name_of(const PhasePlan& phase);

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
  Bytes stored_bytes{};              // the model's tensors as stored, before --quant
  std::vector<PhasePlan> encodes{};  // of the stacks that have a graph, in their order
  PhasePlan prefill{};
  PhasePlan decode{};
  bool is_causal = true;   // false: an encoder alone, which never decodes
  Bytes activations{};     // part of compute: activation_bytes(), or the textbook's A under its
                           // policy, or all of it under llama_cpp's
  Bytes scratch{};         // part of compute: scratch_bytes(), or 0 under those two policies
  Breakdown breakdown{};   // for scenario.strategy
  Bytes cache_capacity{};  // block-cache only: as given, or what the limit leaves
  std::optional<LlamaPlan> llama{};  // policy llama_cpp: the breakdown is its, the phases are ours

  // Those that run, in the order in which they do.
  std::vector<const PhasePlan*> phases() const;
  // The one with the largest arena, the earlier of equals.
  const PhasePlan& largest() const;
};

// The largest of the phases: the planned arena, or the peak load when tensors are freed one by one.
Bytes activation_bytes(const MemoryPlan& plan, ActivationPolicy policy);
// The largest of the phases.
Bytes scratch_bytes(const MemoryPlan& plan);

// The terms of the breakdown if one thing were changed.
struct ArenaScaling {
  std::string change{};  // "ctx_size x 2"
  Bytes compute{};
  Bytes output{};
};
// Twice the context, twice the ubatch, logits of every token, each planned again; what cannot be or
// is so already is left out. Nothing for a layer list, and under policies other than planned.
std::vector<ArenaScaling> arena_scaling(const Scenario& scenario, const MemoryPlan& plan);

// What the caches and recurrent states of all sequences are sized by.
StateOptions state_options(const Scenario& scenario);
// KV cache and recurrent state of all sequences. Zero for a layer list.
StateSizes state_sizes(const Scenario& scenario);
// Rows of logits in f32, of embeddings in a model without a head: n_outputs, and at least one for
// every sequence. Zero for a layer list.
Bytes output_bytes(const Scenario& scenario);

// Bounds what a plan may cost before it is begun: 17 to 19 ops a layer, so more than 10,000 layers.
// Planners and the judge compare buffers in pairs, so their time grows with the square.
inline constexpr int64_t kMaxOps = 200'000;

// Bad input (a context too small for the prompt, too many ops, sizes past 63 bits) comes back as
// diagnostics; an invalid plan of our own planner is a bug (CHECK).
Result<MemoryPlan> plan_scenario(const Scenario& scenario);

}  // namespace tidemark

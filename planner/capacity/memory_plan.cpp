#include "planner/capacity/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "planner/alloc/validate.h"
#include "planner/base/check.h"
#include "planner/capacity/kept_weights.h"
#include "planner/capacity/textbook.h"
#include "planner/lifetime/operator_order.h"
#include "planner/model/quantized_weights.h"

namespace tidemark {
namespace {

void require_positive(Diagnostics& problems, std::string path, int64_t value) {
  if (value >= 1) return;
  problems.push_back({.path = std::move(path),
                      .message = fmt::format("{} is too small", value),
                      .hint = "give at least 1"});
}

// Where the largest graph is made, when it has too many ops to be planned; else empty.
std::string too_many_ops_at(const ModelSpec& model) {
  if (most_ops(model) > kMaxOps) return "model.n_layer";
  const size_t n_stack = model.transformer() == nullptr ? 0 : model.transformer()->stacks.size();
  for (size_t i = 0; i < n_stack; ++i) {
    if (most_stack_ops(model, i) > kMaxOps) return fmt::format("model.stacks[{}]", i);
  }
  return "";
}

Diagnostics find_bad_input(const Scenario& scenario) {
  Diagnostics problems;
  require_positive(problems, "--ctx-size", scenario.n_ctx.count());
  require_positive(problems, "--batch-size", scenario.n_batch.count());
  require_positive(problems, "--ubatch-size", scenario.n_ubatch.count());
  require_positive(problems, "--parallel", scenario.n_seq);
  require_positive(problems, "--n-outputs", scenario.n_outputs);
  require_positive(problems, "model.n_layer", scenario.model.n_layer());
  if (!problems.empty()) return problems;
  if (std::string path = too_many_ops_at(scenario.model); !path.empty()) {
    problems.push_back(
        {.path = std::move(path),
         .message = fmt::format("its layers make a graph of more than {} ops", kMaxOps),
         .hint = "is the number of layers a slip?"});
  }
  const int64_t cells = scenario.cells_per_sequence();
  if (scenario.model.transformer() != nullptr && scenario.prompt.count() > cells) {
    problems.push_back(
        {.path = "--prompt",
         .message = fmt::format("a prompt of {} tokens does not fit a context of {} per sequence",
                                scenario.prompt.count(), cells),
         .hint = "raise --ctx-size, or lower --prompt or --parallel"});
  }
  return problems;
}

// Decode needs a row of logits for every sequence.
int64_t output_rows(const Scenario& scenario) {
  return std::max(scenario.n_outputs, scenario.n_seq);
}

int64_t in_whole_blocks(int64_t cells, int64_t block) {
  return checked_mul(ceil_div(cells, block), block);
}

// Rows of one image or recording, from each tower that hands any on.
void add_tower_rows(const ModelSpec& model, GraphOptions& options) {
  const size_t n_stack = model.transformer() == nullptr ? 0 : model.transformer()->stacks.size();
  for (size_t i = 0; i < n_stack; ++i) {
    const std::optional<StackInput> input = stack_input(model, i);
    if (!input) continue;
    options.n_tower_rows = checked_add(options.n_tower_rows, input->n_out);
    options.n_deep_rows = std::max(options.n_deep_rows, input->n_deep);
  }
}

GraphOptions options_of(const Scenario& scenario, Phase phase) {
  const Tokens ubatch = std::min({scenario.n_ubatch, scenario.n_batch, scenario.n_ctx});
  const int64_t n_tokens =
      phase == Phase::kPrefill ? std::max(ubatch.count(), scenario.n_seq) : scenario.n_seq;
  GraphOptions options{
      .n_tokens = n_tokens,
      .n_outputs = std::min(output_rows(scenario), n_tokens),
      .n_cells = in_whole_blocks(scenario.cells_per_sequence(), scenario.engine.kv_block),
      .n_seq = scenario.n_seq,
      .n_ubatch = ubatch.count(),
      .n_source = source_tokens(scenario.model),
      .unified = scenario.kv_unified,
      .swa_full = scenario.swa_full,
      .cell_multiple = scenario.engine.kv_cell_multiple,
      .type_act = scenario.type_act,
      .type_k = scenario.type_k,
      .type_v = scenario.type_v,
      .flash_attention = scenario.flash_attention};
  if (phase == Phase::kPrefill) add_tower_rows(scenario.model, options);
  return options;
}

Problem problem_of(const Graph& graph, const std::vector<ArenaBuffer>& buffers,
                   Alignment alignment) {
  Problem problem;
  problem.buffers.reserve(buffers.size());
  for (const ArenaBuffer& buffer : buffers) {
    problem.buffers.push_back(
        {.name = graph.tensor(buffer.members.front()).name,
         .size = buffer.size,
         .lifetime = {buffer.lifetime.lower.value(), buffer.lifetime.upper.value()},
         .alignment = alignment});
  }
  return problem;
}

// All that follows from the order of the ops.
void place(const Scenario& scenario, PhasePlan& made) {
  made.ranges = live_ranges(made.graph, made.schedule);
  made.buffers = share_in_place(made.graph, made.schedule, made.ranges);
  made.load = load_profile(made.buffers, static_cast<int64_t>(made.schedule.order.size()));
  made.problem = problem_of(made.graph, made.buffers, scenario.engine.alignment);
  made.plan = plan(made.problem, scenario.planner);
  check(validate(made.problem, made.plan).empty(), "the judge accepts the planner's plan");
  check(peak_load(made.problem) == made.load.peak, "two ways to the peak load agree");
}

void reorder(const Scenario& scenario, PhasePlan& made) {
  OrderResult found = order_for_memory(made.graph);
  const Bytes program_load = made.load.peak;
  if (found.peak < program_load) {
    PhasePlan reordered = made;
    reordered.schedule = std::move(found.schedule);
    place(scenario, reordered);
    // A lower load nearly always packs lower as well; where it does not, there is nothing to gain.
    if (reordered.plan.peak < made.plan.peak) made = std::move(reordered);
  }
  made.order = PhaseOrder{.program_load = program_load,
                          .lower_bound = found.lower_bound,
                          .is_optimal = made.load.peak == found.lower_bound,
                          .states = found.states};
}

// From the graph on.
void plan_graph(const Scenario& scenario, PhasePlan& made) {
  made.schedule = schedule_in_program_order(made.graph);
  place(scenario, made);
  if (scenario.op_order == OpOrder::kMemory) reorder(scenario, made);
  for (const Op& op : made.graph.ops()) made.scratch = std::max(made.scratch, op.scratch);
}

PhasePlan plan_phase(const Scenario& scenario, const WeightsInventory& weights, Phase phase) {
  PhasePlan made{.phase = phase, .options = options_of(scenario, phase)};
  made.graph = build_graph(scenario.model, weights, made.options);
  plan_graph(scenario, made);
  return made;
}

std::vector<PhasePlan> plan_encodes(const Scenario& scenario, const WeightsInventory& weights) {
  std::vector<PhasePlan> encodes;
  const TransformerSpec* spec = scenario.model.transformer();
  for (size_t i = 0; spec != nullptr && i < spec->stacks.size(); ++i) {
    const std::optional<StackInput> input = stack_input(scenario.model, i);
    if (!input) continue;
    PhasePlan made{.phase = Phase::kEncode,
                   .stack = spec->stacks[i].role,
                   .input = *input,
                   .options = options_of(scenario, Phase::kEncode)};
    made.graph = build_stack_graph(scenario.model, i, weights, made.options);
    plan_graph(scenario, made);
    encodes.push_back(std::move(made));
  }
  return encodes;
}

void plan_phases(const Scenario& scenario, MemoryPlan& plan) {
  const TransformerSpec* spec = scenario.model.transformer();
  plan.is_causal = spec == nullptr || spec->is_causal;
  plan.encodes = plan_encodes(scenario, plan.weights);
  plan.prefill = plan_phase(scenario, plan.weights, Phase::kPrefill);
  plan.decode = plan_phase(scenario, plan.weights, Phase::kDecode);
  for (PhasePlan& encode : plan.encodes) {
    encode.uses = unit_uses(plan.units, encode.graph, encode.schedule);
  }
  for (PhasePlan* phase : {&plan.prefill, &plan.decode}) {
    phase->uses = unit_uses(plan.units, phase->graph, phase->schedule);
  }
}

// 8 and 4 bits and nothing else, as the textbook counts: no scales, no norms kept in f32.
void count_as_textbook(WeightsInventory& weights, DType quant) {
  weights.bytes = {};
  for (WeightTensor& tensor : weights.tensors) {
    if (tensor.role != WeightRole::kPlain) {
      tensor.dtype = quant;
      tensor.bytes = textbook_weight_bytes(tensor.parameters(), quant);
    }
    weights.bytes += tensor.bytes;
  }
}

void fill_as_planned(const Scenario& scenario, MemoryPlan& plan) {
  Breakdown& breakdown = plan.breakdown;
  plan.activations = activation_bytes(plan, scenario.engine.activations);
  plan.scratch = scratch_bytes(plan);
  const StateSizes state = state_sizes(scenario);
  breakdown.kv_cache = state.kv_cache();
  breakdown.recurrent_state = state.recurrent;
  breakdown.compute = plan.activations + plan.scratch;
  breakdown.output = output_bytes(scenario);
  breakdown.runtime = scenario.engine.runtime_fixed;
}

void fill_as_llama_cpp(const LlamaPlan& llama, MemoryPlan& plan) {
  Breakdown& breakdown = plan.breakdown;
  for (const LlamaColumns& row : llama.columns) {
    breakdown.weights += row.model;
    breakdown.compute += row.compute;
  }
  breakdown.kv_cache = llama.memory.kv();
  breakdown.recurrent_state = llama.memory.recurrent;
  breakdown.output = llama.output;
  breakdown.runtime = llama.runtime;
  plan.activations = breakdown.compute;
}

void add_uncertain(const EngineProfile& engine, Breakdown& breakdown) {
  for (const UncertainAmount& amount : engine.uncertain) {
    if (Bytes Breakdown::*part = breakdown_part(amount.term)) breakdown.*part += amount.most;
  }
}

void fill_totals(const Scenario& scenario, MemoryPlan& plan) {
  Breakdown& breakdown = plan.breakdown;
  switch (scenario.engine.policy) {
    case EnginePolicy::kTextbook:
      breakdown = textbook_breakdown(scenario);
      plan.activations = breakdown.compute;
      break;
    case EnginePolicy::kPlanned:
      fill_as_planned(scenario, plan);
      break;
    case EnginePolicy::kLlamaCpp:
      fill_as_llama_cpp(*plan.llama, plan);
      break;
  }
  if (scenario.engine.policy != EnginePolicy::kTextbook) add_uncertain(scenario.engine, breakdown);
  if (keeps_what_fits(scenario.strategy)) {
    const Bytes everything_else = breakdown.total() - breakdown.weights;
    plan.cache_capacity = cache_capacity(scenario, plan.units, plan.decode.uses, everything_else);
  }
  // llama.cpp knows no strategy but its own; under another one the weights are counted as ours.
  const bool by_strategy = scenario.engine.policy == EnginePolicy::kPlanned ||
                           (plan.llama && scenario.strategy != StrategyKind::kResident);
  if (by_strategy) {
    const Bytes beside =
        scenario.engine.policy == EnginePolicy::kPlanned ? breakdown.weights : Bytes{};
    breakdown.weights =
        beside + (scenario.strategy == StrategyKind::kResident
                      ? kept_weight_bytes(scenario, plan.units, plan.weights)
                      : resident_weight_bytes(scenario.strategy, plan.units, plan.decode.uses,
                                              plan.cache_capacity));
  }
  check(breakdown.total() >= breakdown.weights, "no part of the total is negative");
}

// Rows of the token embedding that are held at once; 0 = all, as a tied head needs them.
int64_t embedding_rows(const Scenario& scenario) {
  const TransformerSpec* spec = scenario.model.transformer();
  const bool in_flash = scenario.embedding_in_flash && spec != nullptr && !spec->tied_embeddings;
  return in_flash ? std::max(scenario.n_ubatch.count(), scenario.n_seq) : 0;
}

std::vector<WeightUnit> units_of(const Scenario& scenario, const WeightsInventory& weights) {
  std::vector<WeightUnit> units = weight_units(weights, embedding_rows(scenario));
  if (scenario.strategy != StrategyKind::kChunked) return units;
  const LoadChoices& load = scenario.load;
  return load.chunk_parts > 1 ? parted_units(units, weights, load.chunk_parts)
                              : chunked_units(units, weights, load.chunk_layers);
}

Result<MemoryPlan> make_plan(const Scenario& scenario) {
  MemoryPlan plan;
  Result<WeightsInventory> stored = quantized_weights(scenario.model, Quantization{});
  if (!stored) return stored.diagnostics();
  Result<WeightsInventory> weights = quantized_weights(scenario.model, scenario.quant);
  if (!weights) return weights.diagnostics();
  plan.stored_bytes = stored->bytes;
  plan.weights = std::move(weights).value();
  if (scenario.engine.policy == EnginePolicy::kTextbook) {
    count_as_textbook(plan.weights, nominal_format(scenario.model, scenario.quant));
  }
  plan.units = units_of(scenario, plan.weights);
  plan_phases(scenario, plan);
  if (scenario.engine.policy == EnginePolicy::kLlamaCpp) {
    Result<LlamaPlan> llama = plan_llama(scenario, plan.weights);
    if (!llama) return llama.diagnostics();
    plan.llama = std::move(llama).value();
  }
  fill_totals(scenario, plan);
  textbook_breakdown(scenario);  // shown beside every plan: its sizes must stay in range as well
  return plan;
}

}  // namespace

Bytes Breakdown::*breakdown_part(std::string_view key) {
  using Part = std::pair<std::string_view, Bytes Breakdown::*>;
  for (const auto& [name, part] :
       {Part{"weights", &Breakdown::weights}, Part{"kv_cache", &Breakdown::kv_cache},
        Part{"recurrent_state", &Breakdown::recurrent_state}, Part{"compute", &Breakdown::compute},
        Part{"output", &Breakdown::output}, Part{"runtime", &Breakdown::runtime}}) {
    if (name == key) return part;
  }
  return nullptr;
}

std::string name_of(const PhasePlan& phase) {
  if (phase.phase != Phase::kEncode) return std::string(name_of(phase.phase));
  return phase.stack == StackRole::kEncoder ? "encode"
                                            : fmt::format("encode {}", name_of(phase.stack));
}

std::vector<const PhasePlan*> MemoryPlan::phases() const {
  std::vector<const PhasePlan*> all;
  for (const PhasePlan& encode : encodes) all.push_back(&encode);
  all.push_back(&prefill);
  if (is_causal) all.push_back(&decode);
  return all;
}

const PhasePlan& MemoryPlan::largest() const {
  const std::vector<const PhasePlan*> all = phases();
  return **std::ranges::max_element(all, {},
                                    [](const PhasePlan* phase) { return phase->plan.peak; });
}

namespace {

Bytes activations_of(const PhasePlan& phase, ActivationPolicy policy) {
  return policy == ActivationPolicy::kArena ? phase.plan.peak : phase.load.peak;
}

}  // namespace

Bytes activation_bytes(const MemoryPlan& plan, ActivationPolicy policy) {
  Bytes most;
  for (const PhasePlan* phase : plan.phases()) {
    most = std::max(most, activations_of(*phase, policy));
  }
  return most;
}

Bytes scratch_bytes(const MemoryPlan& plan) {
  Bytes most;
  for (const PhasePlan* phase : plan.phases()) most = std::max(most, phase->scratch);
  return most;
}

Bytes output_bytes(const Scenario& scenario) {
  const TransformerSpec* spec = scenario.model.transformer();
  if (spec == nullptr) return {};
  return row_bytes(DType::kF32, spec->has_head ? spec->n_vocab : spec->n_embd) *
         output_rows(scenario);
}

namespace {

// Stacks see neither the context nor the ubatch: their phases are as they were.
ArenaScaling scaled(std::string change, const Scenario& scenario, const Scenario& changed,
                    const MemoryPlan& plan) {
  Bytes activations;
  Bytes scratch;
  const auto add = [&](const PhasePlan& phase) {
    activations = std::max(activations, activations_of(phase, scenario.engine.activations));
    scratch = std::max(scratch, phase.scratch);
  };
  for (const PhasePlan& encode : plan.encodes) add(encode);
  add(plan_phase(changed, plan.weights, Phase::kPrefill));
  if (plan.is_causal) add(plan_phase(changed, plan.weights, Phase::kDecode));
  const Bytes more = activations + scratch - plan.activations - plan.scratch;
  return {.change = std::move(change),
          .compute = plan.breakdown.compute + more,
          .output = plan.breakdown.output + output_bytes(changed) - output_bytes(scenario)};
}

}  // namespace

std::vector<ArenaScaling> arena_scaling(const Scenario& scenario, const MemoryPlan& plan) {
  std::vector<ArenaScaling> scalings;
  const bool is_planned = scenario.engine.policy == EnginePolicy::kPlanned;
  if (!is_planned || scenario.model.transformer() == nullptr) return scalings;
  const auto add = [&](std::string change, const Scenario& changed) {
    try {
      scalings.push_back(scaled(std::move(change), scenario, changed, plan));
    } catch (const std::overflow_error&) {
      // Twice as much is no size any more: nothing to say of it.
    }
  };
  constexpr int64_t kMostDoubled = int64_t{1} << 61;
  Scenario longer = scenario;
  if (plan.is_causal && scenario.n_ctx.count() <= kMostDoubled) {
    longer.n_ctx = Tokens(2 * scenario.n_ctx.count());
    add("ctx_size x 2", longer);
  }
  Scenario wider = scenario;
  if (scenario.n_ubatch.count() <= scenario.n_ctx.count() / 2) {
    wider.n_ubatch = Tokens(2 * scenario.n_ubatch.count());
    wider.n_batch = std::max(scenario.n_batch, wider.n_ubatch);
    add("ubatch_size x 2", wider);
  }
  Scenario all = scenario;
  all.n_outputs = plan.prefill.options.n_tokens;
  if (all.n_outputs > output_rows(scenario)) {
    add(scenario.model.transformer()->has_head ? "logits of every token"
                                               : "embeddings of every token",
        all);
  }
  return scalings;
}

StateOptions state_options(const Scenario& scenario) {
  return state_options(options_of(scenario, Phase::kPrefill));
}

StateSizes state_sizes(const Scenario& scenario) {
  return state_sizes(scenario.model, state_options(scenario));
}

Result<MemoryPlan> plan_scenario(const Scenario& scenario) {
  try {
    if (Diagnostics problems = find_bad_input(scenario); !problems.empty()) return problems;
    return make_plan(scenario);
  } catch (const std::overflow_error&) {
    return one_error("model", "sizes leave the 63-bit range",
                     "is a dimension, the context or a batch size a slip?");
  }
}

}  // namespace tidemark

#include "planner/report/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "planner/base/units.h"
#include "planner/model/state.h"
#include "planner/report/parts.h"
#include "planner/report/run_notes.h"

namespace tidemark {
namespace {

constexpr std::array<MemoryPart, 6> kParts{{
    {"weights", "weights_bytes", "weights", &Breakdown::weights, &CurvePoint::weights},
    {"kv_cache", "kv_cache_bytes", "KV cache", &Breakdown::kv_cache, &CurvePoint::kv_cache},
    {"recurrent_state", "recurrent_state_bytes", "recurrent state", &Breakdown::recurrent_state,
     &CurvePoint::recurrent_state},
    {"compute", "compute_bytes", "compute", &Breakdown::compute, &CurvePoint::compute},
    {"output", "output_bytes", "output", &Breakdown::output, &CurvePoint::output},
    {"runtime", "runtime_bytes", "runtime", &Breakdown::runtime, &CurvePoint::runtime},
}};

ModelFacts model_facts(const Scenario& scenario, const MemoryPlan& plan) {
  return {.name = scenario.model.name,
          .architecture = scenario.model.architecture,
          .parameters = plan.weights.parameters,
          .active_parameters = plan.weights.active_parameters,
          .layers = scenario.model.n_layer(),
          .tensor_bytes = plan.stored_bytes};
}

WeightParts held_parts(const MemoryPlan& plan) {
  WeightParts parts = weight_parts_of(plan.weights);
  parts.in_flash = plan.weights.bytes;
  for (const WeightUnit& unit : plan.units) parts.in_flash -= unit.bytes;
  return parts;
}

StateParts state_parts(const Scenario& scenario, const MemoryPlan& plan) {
  if (scenario.engine.policy == EnginePolicy::kTextbook) return {};
  if (plan.llama) {
    const LlamaMemory& memory = plan.llama->memory;
    return {.full = memory.kv_full,
            .window = memory.kv_window,
            .window_cells = memory.context.cells_swa};
  }
  const StateSizes state = state_sizes(scenario);
  return {.full = state.kv_full,
          .window = state.kv_window,
          .cross = state.cross,
          .window_cells = state.window_cells};
}

}  // namespace

WeightParts weight_parts_of(const WeightsInventory& weights) {
  WeightParts parts;
  for (const WeightTensor& tensor : weights.tensors) {
    Bytes& part = tensor.stack >= 0                            ? parts.stacks
                  : tensor.role == WeightRole::kTokenEmbedding ? parts.embedding
                  : tensor.role == WeightRole::kOutput         ? parts.head
                  : tensor.layer >= 0                          ? parts.layers
                                                               : parts.other;
    part += tensor.bytes;
  }
  return parts;
}

namespace {

// A matrix asked for in one format whose rows do not fill its blocks is held in another one.
std::string fallback_note(DType asked, const WeightsInventory& weights) {
  int64_t matrices = 0;
  int64_t fallen_back = 0;
  const WeightTensor* example = nullptr;
  for (const WeightTensor& tensor : weights.tensors) {
    const bool is_vector = tensor.rows <= 1 && tensor.count <= 1;
    if (is_vector || tensor.is_bias || tensor.role == WeightRole::kPlain) continue;
    ++matrices;
    if (tensor.dtype == asked) continue;
    ++fallen_back;
    if (example == nullptr) example = &tensor;
  }
  if (example == nullptr) return "";
  return fmt::format(
      "{} of {} weight matrices are not held in {}, because its tools leave them alone or their "
      "rows "
      "do not fill its blocks: {} is {}.",
      fallen_back, matrices, name_of(asked), example->name, name_of(example->dtype));
}

// How many tensors are held in which type, in the order of the formats.
std::string mix_note(std::string_view what, const WeightsInventory& weights) {
  std::map<DType, int64_t> counts;
  for (const WeightTensor& tensor : weights.tensors) ++counts[tensor.dtype];
  std::string list;
  for (const auto& [dtype, count] : counts) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", format_count(count), name_of(dtype));
  }
  return fmt::format("{} is a mix: {} tensors.", what, list);
}

std::string types_note(const Scenario& scenario, const WeightsInventory& weights) {
  if (scenario.model.layer_list() != nullptr) return "";
  switch (scenario.quant.kind) {
    case QuantKind::kFormat:
      return fallback_note(scenario.quant.format, weights);
    case QuantKind::kFileType:
      return mix_note(name_of(scenario.quant), weights);
    case QuantKind::kAsStored:
      break;
  }
  return scenario.model.stored.empty() ? "" : mix_note("The file", weights);
}

// Stacks that run apart from the main layers and whose graphs are not planned.
std::string stacks_note(const Scenario& scenario) {
  const TransformerSpec* spec = scenario.model.transformer();
  std::string names;
  for (size_t i = 0; spec != nullptr && i < spec->stacks.size(); ++i) {
    if (!spec->stacks[i].is_counted || spec->stacks[i].layers.empty()) continue;
    if (stack_input(scenario.model, i)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(spec->stacks[i].role));
  }
  if (names.empty()) return "";
  return fmt::format("Of these the weights are counted, but no activations are planned: {}.",
                     names);
}

// Without a cache nothing is left of a sequence from one pass to the next.
std::string encoder_note(const Scenario& scenario) {
  const TransformerSpec* spec = scenario.model.transformer();
  if (spec == nullptr || spec->is_causal) return "";
  const int64_t ubatch = std::min(scenario.n_ubatch, scenario.n_batch).count();
  if (scenario.prompt.count() <= ubatch) return "";
  return fmt::format(
      "An encoder reads a sequence in one pass: a prompt of {} tokens needs --ubatch-size and "
      "--batch-size of as many, not {}.",
      format_count(scenario.prompt.count()), format_count(ubatch));
}

std::string embedding_note(const Scenario& scenario) {
  const TransformerSpec* spec = scenario.model.transformer();
  if (!scenario.embedding_in_flash || spec == nullptr) return "";
  if (scenario.engine.policy == EnginePolicy::kLlamaCpp) {
    return "llama.cpp maps or reads the embedding with everything else; embedding=flash has no "
           "effect.";
  }
  return spec->tied_embeddings
             ? "The embedding stays resident: the head is the same matrix and needs all of it."
             : "The embedding lives in flash; of its rows, one ubatch is held.";
}

// A model can be planned past its training, but the reader must know.
std::string context_note(const Scenario& scenario) {
  const TransformerSpec* dims = scenario.model.transformer();
  const int64_t trained = dims == nullptr ? 0 : dims->n_ctx_train.count();
  if (trained == 0 || scenario.cells_per_sequence() <= trained) return "";
  return fmt::format("The context of {} tokens is longer than the {} the model was trained for.",
                     format_count(scenario.cells_per_sequence()), format_count(trained));
}

void add_llama_notes(const Scenario& scenario, const LlamaPlan& llama,
                     std::vector<std::string>& notes) {
  notes.emplace_back(
      "The breakdown is llama.cpp's. The arena, and what `tidemark simulate` and other strategies "
      "show, are of our own graph of the model.");
  if (!llama.exact_for_architecture) {
    notes.push_back(
        fmt::format("llama.cpp's graph of {} models has not been held against its own: compute is "
                    "an estimate, of the nearest of its kind.",
                    scenario.model.architecture));
  }
  if (scenario.strategy != StrategyKind::kResident) {
    notes.push_back(
        fmt::format("llama.cpp loads its own way and knows no {}: the weights are "
                    "counted as ours would be.",
                    name_of(scenario.strategy)));
  }
  notes.insert(notes.end(), llama.notes.begin(), llama.notes.end());
  if (scenario.llama.uses_devices()) {
    notes.emplace_back(
        "The split over devices follows llama.cpp's rules but was not compared with runs on "
        "devices; the driver's own memory is not counted.");
  }
}

std::vector<std::string> plan_notes(const Scenario& scenario, const MemoryPlan& plan) {
  std::vector<std::string> notes = scenario.model_warnings;
  const bool is_planned = scenario.engine.policy != EnginePolicy::kTextbook;
  for (std::string note :
       {is_planned ? types_note(scenario, plan.weights) : std::string(), embedding_note(scenario),
        stacks_note(scenario), encoder_note(scenario), context_note(scenario),
        ignored_note(scenario), run_only_note(scenario), kept_note(scenario, plan)}) {
    if (!note.empty()) notes.push_back(std::move(note));
  }
  if (plan.llama) add_llama_notes(scenario, *plan.llama, notes);
  notes.insert(notes.end(), scenario.engine.not_modelled.begin(),
               scenario.engine.not_modelled.end());
  if (scenario.model.layer_list() != nullptr) {
    notes.emplace_back(
        "The model is a list of layer sizes: quantization, context and cache types do not change "
        "it.");
  }
  if (scenario.strategy == StrategyKind::kBlockCache) {
    notes.push_back(
        fmt::format("The block cache holds {}, {}.", format_bytes_exact(plan.cache_capacity),
                    scenario.cache.capacity == Bytes{} ? "what the limit leaves" : "as asked for"));
  }
  if (scenario.engine.activations == ActivationPolicy::kLive &&
      scenario.strategy != StrategyKind::kResident) {
    notes.emplace_back(
        "Activations come and go under this engine, and weights under this strategy: the total "
        "adds "
        "up their largest sizes, which may not coincide. `tidemark simulate` gives the peak.");
  }
  return notes;
}

}  // namespace

std::span<const MemoryPart> memory_parts() { return kParts; }

std::string_view label_of_part(std::string_view key) {
  for (const MemoryPart& part : kParts) {
    if (part.key == key) return part.label;
  }
  return key;
}

Breakdown breakdown_of(const CurvePoint& point) {
  Breakdown breakdown;
  for (const MemoryPart& part : kParts) breakdown.*part.planned = point.*part.simulated;
  return breakdown;
}

CurvePoint point_at_peak(const SimReport& report) {
  CurvePoint highest;
  for (const CurvePoint& point : report.curve) {
    if (point.total() > highest.total()) highest = point;
  }
  return highest;
}

std::string setting_value(std::span<const Setting> settings, std::string_view key) {
  for (const Setting& setting : settings) {
    if (setting.key == key) return setting.value;
  }
  return "";
}

ReliefFacts relief_of(const Scenario& scenario, const MemoryPlan& plan, size_t most) {
  const PhasePlan& phase = plan.largest();
  return relief(phase.graph, phase.schedule,
                {.most = most, .cells = scenario.cells_per_sequence()});
}

namespace {

// Towers are no part of that engine's context.
Bytes arena_of_the_context(const MemoryPlan& plan) {
  return std::max(plan.prefill.plan.peak, plan.decode.plan.peak) +
         std::max(plan.prefill.scratch, plan.decode.scratch);
}

LlamaFacts llama_facts(const Scenario& scenario, const MemoryPlan& plan, Bytes limit) {
  const LlamaPlan& llama = *plan.llama;
  LlamaFacts facts{.columns = llama.columns,
                   .slack = limit,
                   .peak = llama.memory.high_water,
                   .nodes = llama.memory.n_nodes_prompt,
                   .compute_generation = llama.memory.compute_generation,
                   .scalings = llama_scaling(scenario, plan.weights),
                   .compute = llama.memory.compute,
                   .own_arena = arena_of_the_context(plan),
                   .is_exact = llama.exact_for_architecture};
  for (const LlamaColumns& row : llama.columns) facts.slack -= row.self();
  if (Result<Plan> own = plan_llama_graph(scenario, plan.weights)) {
    facts.own_plan = std::move(own).value();
  }
  return facts;
}

}  // namespace

PlanReport make_plan_report(const Scenario& scenario, const MemoryPlan& plan) {
  const DeviceLimit limit = device_limit(scenario.device, scenario.margin_ratio, scenario.budget);
  PlanReport report{
      .settings = scenario.settings,
      .model = model_facts(scenario, plan),
      .engine = scenario.engine.name,
      .strategy = std::string(name_of(scenario.strategy)),
      .memory = plan.breakdown,
      .weight_parts = held_parts(plan),
      .state_parts = state_parts(scenario, plan),
      .activations = plan.activations,
      .scratch = plan.scratch,
      .kv_per_token = kv_bytes_per_token(scenario.model, scenario.type_k, scenario.type_v),
      .arena = make_arena_facts(plan),
      .device = {.name = scenario.device.name,
                 .limit = limit,
                 .estimates = scenario.device.estimates},
      .verdict = verdict(plan.breakdown, limit),
      .notes = plan_notes(scenario, plan)};
  report.kinds = memory_kinds(scenario, plan);
  report.interval = memory_interval(scenario, plan);
  if (plan.llama) report.llama = llama_facts(scenario, plan, limit.limit);
  if (scenario.engine.policy == EnginePolicy::kTextbook) {
    report.textbook = textbook_rows(scenario, plan, limit);
  }
  return report;
}

std::string_view name_of(SimOutcome outcome) {
  switch (outcome) {
    case SimOutcome::kCompleted:
      return "completed";
    case SimOutcome::kOverLimit:
      return "over_limit";
    case SimOutcome::kKilled:
      return "killed";
  }
  return "";
}

}  // namespace tidemark

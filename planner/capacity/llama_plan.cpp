#include "planner/capacity/llama_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "planner/alloc/validate.h"
#include "planner/base/check.h"
#include "planner/base/units.h"
#include "planner/engine/ggml_problem.h"
#include "planner/engine/llama_cpp/llama_offload.h"
#include "planner/model/quantized_weights.h"

namespace tidemark {
namespace {

// Planners compare buffers in pairs; a model of 400 layers has about so many.
constexpr size_t kMostPlannedBuffers = 20'000;

std::string device_name(const LlamaChoices& llama, size_t device) {
  return llama.n_devices() == 1 ? "GPU" : fmt::format("GPU{}", device);
}

LlamaOffload offload_of(const Scenario& scenario) {
  const LlamaChoices& llama = scenario.llama;
  LlamaOffload offload{.n_gpu_layers = llama.n_gpu_layers,
                       .overrides = llama.overrides,
                       .n_cpu_moe = llama.n_cpu_moe,
                       .mapped = llama.mapped,
                       .offload_products = llama.offload_products};
  if (llama.split_mode == LlamaSplitMode::kNone) {
    offload.devices = {{.name = device_name(llama, static_cast<size_t>(llama.main_gpu))}};
    for (LlamaOverride& override : offload.overrides) {
      if (override.device) override.device = 0;
    }
    return offload;
  }
  for (size_t i = 0; i < llama.n_devices(); ++i) {
    offload.devices.push_back(
        {.name = device_name(llama, i), .share = llama.shares.empty() ? 1 : llama.shares[i]});
  }
  offload.n_copies = copies_in_flight(scenario.model.n_layer(), offload);
  return offload;
}

Diagnostics refused(const std::string& words) {
  return one_error("--engine", fmt::format("llama.cpp refuses these settings: {}", words),
                   "change the setting it names, or plan for another engine");
}

std::vector<LlamaColumns> host_columns(const Scenario& scenario, const LlamaMemory& memory) {
  std::vector<LlamaColumns> columns{
      {.where = "host",
       .model = scenario.llama.mapped ? memory.model.mapped : memory.model.plain,
       .context = memory.kv() + memory.recurrent,
       .compute = memory.compute}};
  if (memory.model.repacked > Bytes{}) {
    columns.push_back({.where = "CPU_REPACK", .model = memory.model.repacked});
  }
  return columns;
}

struct DeviceColumns {
  std::vector<LlamaColumns> rows{};
  int64_t n_splits = 1;
};

Result<DeviceColumns> device_columns(const Scenario& scenario, const WeightsInventory& weights) {
  const Result<LlamaOffloadedMemory> memory = llama_offloaded_memory(
      scenario.model, weights, llama_settings(scenario), offload_of(scenario));
  if (!memory) return memory.diagnostics();
  DeviceColumns columns{.n_splits = memory->n_splits};
  for (const LlamaDeviceMemory& device : memory->devices) {
    columns.rows.push_back({.where = device.name == "CPU" ? "host" : device.name,
                            .model = device.model,
                            .context = device.kv + device.recurrent,
                            .compute = device.compute});
  }
  return columns;
}

Result<LlamaResident> resident_of(const Scenario& scenario, const WeightsInventory& weights) {
  return llama_resident(scenario.model, weights, llama_settings(scenario),
                        {.mapped = scenario.llama.mapped,
                         .repack = scenario.llama.repack,
                         .prompt = scenario.prompt.count(),
                         .generate = scenario.generate.count()});
}

// What is left of everything resident when each buffer is taken away.
Bytes runtime_of(const Scenario& scenario, const LlamaPlan& plan) {
  const LlamaModelBuffers& model = plan.memory.model;
  return plan.resident.generation - (scenario.llama.mapped ? model.mapped : model.plain) -
         model.repacked - plan.memory.kv() - plan.memory.recurrent - plan.resident.touched -
         plan.memory.output;
}

// The model alone.
Result<LlamaPlan> plan_alone(const Scenario& scenario, const WeightsInventory& weights) {
  Result<LlamaMemory> memory =
      llama_memory(scenario.model, weights, llama_settings(scenario), scenario.llama.repack);
  if (!memory) return memory.diagnostics();
  if (!memory->context.rejection.empty()) return refused(memory->context.rejection);
  const Result<LlamaResident> resident = resident_of(scenario, weights);
  if (!resident) return resident.diagnostics();

  LlamaPlan plan{.memory = std::move(memory).value(), .resident = *resident};
  plan.columns = host_columns(scenario, plan.memory);
  if (scenario.llama.uses_devices()) {
    Result<DeviceColumns> columns = device_columns(scenario, weights);
    if (!columns) return columns.diagnostics();
    plan.n_splits = columns->n_splits;
    plan.columns = std::move(columns->rows);
  }
  plan.output = plan.memory.output;
  plan.runtime = runtime_of(scenario, plan);
  plan.exact_for_architecture = plan.memory.exact_for_architecture;
  return plan;
}

// The draft model by itself: one sequence, batches as the model takes them, nothing placed by hand.
Scenario draft_scenario(const Scenario& scenario) {
  const LlamaDraft& draft = *scenario.llama.draft;
  Scenario made = scenario;
  made.model = draft.model;
  made.quant = draft.quant;
  made.n_ctx = draft.n_ctx;
  made.n_batch = std::min(Tokens(scenario.cells_per_sequence()), made.n_ctx);
  made.n_ubatch = std::min(scenario.n_ubatch, made.n_batch);
  made.n_seq = made.n_outputs = 1;
  made.type_k = draft.type_k;
  made.type_v = draft.type_v;
  made.prompt = std::min(scenario.prompt, made.n_ctx);
  made.generate = std::min(scenario.generate, made.n_ctx);
  made.llama.n_gpu_layers = draft.n_gpu_layers;
  made.llama.overrides.clear();
  made.llama.n_cpu_moe = 0;
  made.llama.draft.reset();
  return made;
}

std::optional<Diagnostics> add_draft(const Scenario& scenario, LlamaPlan& plan) {
  if (!scenario.llama.draft) return std::nullopt;
  const Scenario alone = draft_scenario(scenario);
  const Result<WeightsInventory> weights = quantized_weights(alone.model, alone.quant);
  if (!weights) return weights.diagnostics();
  const Result<LlamaPlan> draft = plan_alone(alone, *weights);
  if (!draft) return draft.diagnostics();
  for (LlamaColumns row : draft->columns) {
    row.part = LlamaPart::kDraft;
    plan.beside_compute += row.compute;
    plan.columns.push_back(std::move(row));
  }
  plan.beside_kv = draft->memory.kv();
  plan.memory.model.whole += draft->memory.model.whole;
  plan.memory.model.repacked += draft->memory.model.repacked;
  plan.memory.kv_full += draft->memory.kv_full;
  plan.memory.kv_window += draft->memory.kv_window;
  plan.memory.recurrent += draft->memory.recurrent;
  plan.output += draft->output;
  // One process for both.
  plan.runtime += std::max(draft->runtime - draft->resident.base, Bytes{});
  plan.notes.push_back(
      fmt::format("The draft model {} has one context of {} tokens, whatever the number of "
                  "sequences; the model checks its guesses in batches no wider than a prompt's.",
                  alone.model.name, format_count(alone.n_ctx.count())));
  return std::nullopt;
}

// Weights, and the buffer for the first image where the tower's graph is known.
void add_projector(const Scenario& scenario, LlamaPlan& plan) {
  const LlamaChoices& llama = scenario.llama;
  if (!llama.projector) return;
  const bool on_device = llama.uses_devices() && llama.projector_on_device;
  const LlamaProjectorFile file =
      llama.projector_file.value_or(projector_weights(scenario.model, DType::kF16));
  LlamaColumns row{.where = on_device ? device_name(llama, 0) : "host",
                   .part = LlamaPart::kProjector,
                   .model = file.whole};
  plan.memory.model.whole += file.whole;
  const auto compute = projector_compute(scenario.model, scenario.flash_attention, on_device);
  if (!compute) {
    plan.notes.push_back(fmt::format(
        "The projector's weights are counted; what its graph reserves for an image is not known "
        "for {} models and not counted.",
        scenario.model.architecture));
    plan.columns.push_back(std::move(row));
    return;
  }
  row.compute = compute->compute;
  plan.beside_compute += compute->compute + compute->host;
  plan.columns.push_back(std::move(row));
  if (on_device) {
    plan.columns.push_back(
        {.where = "host", .part = LlamaPart::kProjector, .compute = compute->host});
  }
  plan.notes.push_back(
      fmt::format("The projector's buffer is for its first image, {0} x {0} pixels; it grows with "
                  "a larger one.",
                  format_count(compute->pixels)));
  if (std::ranges::any_of(scenario.model.transformer()->stacks,
                          [](const StackSpec& stack) { return stack.role == StackRole::kAudio; })) {
    plan.notes.emplace_back(
        "Of the projector's audio tower the weights are counted, its buffer is not known.");
  }
}

void add_placement_notes(const Scenario& scenario, LlamaPlan& plan) {
  if (!scenario.llama.uses_devices()) return;
  plan.notes.push_back(
      fmt::format("The graph is cut into {} runs, each on one device; what a run "
                  "reads from elsewhere is copied for it.",
                  plan.n_splits));
  if (offload_of(scenario).n_copies == 1) return;
  plan.notes.emplace_back(
      "Inputs and copies are held four times, for batches in flight, as where every device can "
      "wait for events (CUDA). Others (RPC) hold them once.");
}

Result<Bytes> compute_of(const Scenario& scenario, const WeightsInventory& weights) {
  if (!scenario.llama.uses_devices()) {
    const Result<LlamaMemory> memory =
        llama_memory(scenario.model, weights, llama_settings(scenario), scenario.llama.repack);
    if (!memory) return memory.diagnostics();
    return memory->compute;
  }
  const auto columns = device_columns(scenario, weights);
  if (!columns) return columns.diagnostics();
  Bytes all;
  for (const LlamaColumns& row : columns->rows) all += row.compute;
  return all;
}

}  // namespace

std::string_view name_of(LlamaPart part) {
  switch (part) {
    case LlamaPart::kModel:
      break;
    case LlamaPart::kDraft:
      return "draft";
    case LlamaPart::kProjector:
      return "projector";
  }
  return "model";
}

LlamaSettings llama_settings(const Scenario& scenario) {
  return {.n_ctx = scenario.n_ctx.count(),
          .n_batch = scenario.n_batch.count(),
          .n_ubatch = scenario.n_ubatch.count(),
          .n_seq = scenario.n_seq,
          .n_outputs_max = std::max(scenario.n_outputs, scenario.n_seq),
          .flash = scenario.flash_attention ? LlamaFlash::kOn : LlamaFlash::kOff,
          .type_k = scenario.type_k,
          .type_v = scenario.type_v,
          .kv_unified = scenario.kv_unified,
          .swa_full = scenario.swa_full};
}

Result<LlamaPlan> plan_llama(const Scenario& scenario, const WeightsInventory& weights) {
  Result<LlamaPlan> plan = plan_alone(scenario, weights);
  if (!plan) return plan.diagnostics();
  LlamaPlan made = std::move(plan).value();
  add_placement_notes(scenario, made);
  if (auto refused = add_draft(scenario, made)) return *refused;
  add_projector(scenario, made);
  return made;
}

std::vector<LlamaScaling> llama_scaling(const Scenario& scenario, const WeightsInventory& weights) {
  std::vector<LlamaScaling> scalings;
  const auto add = [&](std::string change, const Scenario& changed) {
    try {
      if (const Result<Bytes> compute = compute_of(changed, weights)) {
        scalings.push_back({.change = std::move(change), .compute = *compute});
      }
    } catch (const std::overflow_error&) {
      // Twice as much is no size any more: nothing to say of it.
    }
  };
  Scenario longer = scenario;
  longer.n_ctx = Tokens(checked_mul(scenario.n_ctx.count(), 2));
  add("ctx_size x 2", longer);
  Scenario wider = scenario;
  wider.n_ubatch = Tokens(checked_mul(scenario.n_ubatch.count(), 2));
  wider.n_batch = std::max(scenario.n_batch, wider.n_ubatch);
  if (wider.n_batch <= scenario.n_ctx) add("ubatch_size x 2", wider);
  Scenario all = scenario;
  all.n_outputs = scenario.n_ubatch.count();
  if (all.n_outputs > scenario.n_outputs) add("n_outputs 0: logits of every token", all);
  return scalings;
}

Result<Plan> plan_llama_graph(const Scenario& scenario, const WeightsInventory& weights) {
  const ModelSpec model = as_llama_cpp_sees(scenario.model);
  const LlamaContext context = llama_context(model, llama_settings(scenario));
  const Result<LlamaGraph> graph = llama_graph(model, weights, context, prompt_run(context));
  if (!graph) return graph.diagnostics();
  const GgmlPacking packing = packing_problem(graph->graph);
  if (packing.problem.buffers.size() > kMostPlannedBuffers) {
    return one_error("model", "its graph has too many tensors to be placed again");
  }
  try {
    Plan made = tidemark::plan(packing.problem, scenario.planner);
    check(validate(packing.problem, made).empty(), "the judge accepts the planner's plan");
    return made;
  } catch (const std::overflow_error&) {
    return one_error("model", "its tensors leave the 63-bit range when none shares memory");
  }
}

}  // namespace tidemark

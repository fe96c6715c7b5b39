#include "planner/capacity/llama_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "planner/alloc/validate.h"
#include "planner/base/check.h"
#include "planner/engine/ggml_problem.h"
#include "planner/engine/llama_cpp/llama_offload.h"

namespace tidemark {
namespace {

// Planners compare buffers in pairs; a model of 400 layers has about so many.
constexpr size_t kMostPlannedBuffers = 20'000;

LlamaOffload offload_of(const Scenario& scenario) {
  return {.n_gpu_layers = scenario.llama.n_gpu_layers, .devices = {{.name = "GPU"}}};
}

bool is_offloaded(const Scenario& scenario) { return scenario.llama.n_gpu_layers > 0; }

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

Result<std::vector<LlamaColumns>> device_columns(const Scenario& scenario,
                                                 const WeightsInventory& weights) {
  const Result<LlamaOffloadedMemory> memory = llama_offloaded_memory(
      scenario.model, weights, llama_settings(scenario), offload_of(scenario));
  if (!memory) return memory.diagnostics();
  std::vector<LlamaColumns> columns;
  for (const LlamaDeviceMemory& device : memory->devices) {
    columns.push_back({.where = device.name == "CPU" ? "host" : device.name,
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

Result<Bytes> compute_of(const Scenario& scenario, const WeightsInventory& weights) {
  if (!is_offloaded(scenario)) {
    const Result<LlamaMemory> memory =
        llama_memory(scenario.model, weights, llama_settings(scenario), scenario.llama.repack);
    if (!memory) return memory.diagnostics();
    return memory->compute;
  }
  const auto columns = device_columns(scenario, weights);
  if (!columns) return columns.diagnostics();
  Bytes all;
  for (const LlamaColumns& row : *columns) all += row.compute;
  return all;
}

}  // namespace

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
  Result<LlamaMemory> memory =
      llama_memory(scenario.model, weights, llama_settings(scenario), scenario.llama.repack);
  if (!memory) return memory.diagnostics();
  if (!memory->context.rejection.empty()) return refused(memory->context.rejection);
  const Result<LlamaResident> resident = resident_of(scenario, weights);
  if (!resident) return resident.diagnostics();

  LlamaPlan plan{.memory = std::move(memory).value(), .resident = *resident};
  plan.columns = host_columns(scenario, plan.memory);
  if (is_offloaded(scenario)) {
    auto columns = device_columns(scenario, weights);
    if (!columns) return columns.diagnostics();
    plan.columns = std::move(columns).value();
  }
  plan.output = plan.memory.output;
  plan.runtime = runtime_of(scenario, plan);
  plan.exact_for_architecture = plan.memory.exact_for_architecture;
  return plan;
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

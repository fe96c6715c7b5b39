#include "planner/report/stages.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <vector>

#include "planner/report/engine_text.h"
#include "planner/report/report.h"
#include "planner/report/tables.h"
#include "planner/report/writers.h"

namespace tidemark {
namespace {

std::string exact(Bytes bytes) { return std::to_string(bytes.count()); }

std::string show_weights(const Scenario& /*scenario*/, const MemoryPlan& plan,
                         const PhasePlan& /*phase*/) {
  Listing listing{.columns = {"tensor", "type", "columns", "rows", "bytes"}};
  for (const WeightTensor& tensor : plan.weights.tensors) {
    listing.rows.push_back({tensor.name, std::string(name_of(tensor.dtype)),
                            std::to_string(tensor.columns), std::to_string(tensor.rows),
                            exact(tensor.bytes)});
  }
  return to_text(listing);
}

std::string show_units(const Scenario& /*scenario*/, const MemoryPlan& plan,
                       const PhasePlan& phase) {
  Listing listing{.columns = {"visit", "unit", "first_step", "last_step", "bytes"}};
  for (size_t i = 0; i < phase.uses.size(); ++i) {
    const UnitUse& use = phase.uses[i];
    const WeightUnit& unit = plan.units[use.unit.index()];
    listing.rows.push_back({std::to_string(i), unit.name, std::to_string(use.steps.lower.value()),
                            std::to_string(use.steps.upper.value() - 1), exact(unit.bytes)});
  }
  return to_text(listing);
}

std::string tensor_names(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<std::string> names;
  for (const TensorId id : ids) names.push_back(graph.tensor(id).name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string show_graph(const Scenario& /*scenario*/, const MemoryPlan& /*plan*/,
                       const PhasePlan& phase) {
  Listing listing{
      .columns = {"step", "op", "kind", "reads", "writes", "written_bytes", "scratch_bytes"}};
  for (size_t step = 0; step < phase.schedule.order.size(); ++step) {
    const Op& op = phase.graph.op(phase.schedule.order[step]);
    Bytes written;
    for (const TensorId id : op.outputs) written += phase.graph.tensor(id).bytes;
    listing.rows.push_back({std::to_string(step), op.name, std::string(name_of(op.kind)),
                            tensor_names(phase.graph, op.inputs),
                            tensor_names(phase.graph, op.outputs), exact(written),
                            exact(op.scratch)});
  }
  return to_text(listing);
}

std::string show_dot(const Scenario& /*scenario*/, const MemoryPlan& /*plan*/,
                     const PhasePlan& phase) {
  return to_dot(phase.graph);
}

std::string show_ranges(const Scenario& /*scenario*/, const MemoryPlan& /*plan*/,
                        const PhasePlan& phase) {
  Listing listing{.columns = {"tensor", "lower", "upper", "bytes"}};
  for (const LiveRange& range : phase.ranges) {
    const Tensor& tensor = phase.graph.tensor(range.tensor);
    listing.rows.push_back({tensor.name, std::to_string(range.steps.lower.value()),
                            std::to_string(range.steps.upper.value()), exact(tensor.bytes)});
  }
  return to_text(listing);
}

std::string show_load(const Scenario& /*scenario*/, const MemoryPlan& /*plan*/,
                      const PhasePlan& phase) {
  Listing listing{.columns = {"step", "op", "live_bytes"}};
  for (size_t step = 0; step < phase.load.load.size(); ++step) {
    listing.rows.push_back({std::to_string(step), phase.graph.op(phase.schedule.order[step]).name,
                            exact(phase.load.load[step])});
  }
  return to_text(listing);
}

// The public benchmark's columns, with the offsets of our plan.
std::string show_problem(const Scenario& /*scenario*/, const MemoryPlan& /*plan*/,
                         const PhasePlan& phase) {
  Listing listing{.columns = {"id", "lower", "upper", "size", "alignment", "offset"}};
  for (size_t i = 0; i < phase.problem.buffers.size(); ++i) {
    const Buffer& buffer = phase.problem.buffers[i];
    listing.rows.push_back({buffer.name, std::to_string(buffer.lifetime.lower),
                            std::to_string(buffer.lifetime.upper), exact(buffer.size),
                            std::to_string(buffer.alignment.count()),
                            exact(phase.plan.offsets[i])});
  }
  return to_csv(listing);
}

std::string show_map(const Scenario& /*scenario*/, const MemoryPlan& /*plan*/,
                     const PhasePlan& phase) {
  return arena_map(make_arena_facts(phase));
}

std::string show_kinds(const Scenario& scenario, const MemoryPlan& plan,
                       const PhasePlan& /*phase*/) {
  return kinds_text(memory_kinds(scenario, plan));
}

struct Stage {
  const char* name;
  std::string (*show)(const Scenario&, const MemoryPlan&, const PhasePlan&);
};

constexpr std::array<Stage, 9> kStages = {{{"weights", &show_weights},
                                           {"units", &show_units},
                                           {"graph", &show_graph},
                                           {"dot", &show_dot},
                                           {"ranges", &show_ranges},
                                           {"load", &show_load},
                                           {"problem", &show_problem},
                                           {"map", &show_map},
                                           {"kinds", &show_kinds}}};

// "prefill", "decode", and of a stack its role: "vision".
const PhasePlan* phase_named(std::string_view name, const MemoryPlan& plan) {
  if (name.empty()) return &plan.largest();
  if (name == "prefill") return &plan.prefill;
  if (name == "decode") return &plan.decode;
  for (const PhasePlan& encode : plan.encodes) {
    if (name == name_of(encode.stack)) return &encode;
  }
  return nullptr;
}

std::string phase_names(const MemoryPlan& plan) {
  std::string names = "prefill or decode";
  for (const PhasePlan& encode : plan.encodes) {
    names = fmt::format("{}, {}", name_of(encode.stack), names);
  }
  return names;
}

}  // namespace

std::string stage_names() {
  std::string names;
  for (const Stage& stage : kStages) names += (names.empty() ? "" : ", ") + std::string(stage.name);
  return names;
}

Result<std::string> show_stage_text(std::string_view stage, const Scenario& scenario,
                                    const MemoryPlan& plan) {
  const size_t colon = stage.find(':');
  const std::string_view name = stage.substr(0, colon);
  const std::string_view phase_name =
      colon == std::string_view::npos ? "" : stage.substr(colon + 1);
  const PhasePlan* phase = phase_named(phase_name, plan);
  if (phase == nullptr) {
    return one_error("--show", fmt::format("there is no phase '{}'", phase_name),
                     phase_names(plan));
  }
  for (const Stage& candidate : kStages) {
    if (name == candidate.name) return candidate.show(scenario, plan, *phase);
  }
  return one_error("--show", fmt::format("there is no stage '{}'", name),
                   "one of " + stage_names());
}

}  // namespace tidemark

#include "sim/replay/replay_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/report/layout.h"
#include "sim/kernels/matmul/matmul.h"
#include "sim/replay/mapped_weights.h"
#include "sim/replay/mapping.h"
#include "sim/replay/resident.h"
#include "sim/replay/scratch_file.h"
#include "sim/replay/unit_layout.h"
#include "sim/replay/weight_file.h"
#include "sim/replay/weight_format.h"

namespace tidemark {
namespace {

using literals::operator""_MiB;

constexpr Bytes kSpareSpace = 16_MiB;
constexpr Bytes kSpareMemory = 64_MiB;  // code, bookkeeping, the pieces of files that are compared

class Checks {
 public:
  void require(bool holds, std::string path, std::string message, std::string hint) {
    if (holds) return;
    problems_.push_back(
        {.path = std::move(path), .message = std::move(message), .hint = std::move(hint)});
  }
  Diagnostics take() && { return std::move(problems_); }

 private:
  Diagnostics problems_{};
};

void check_weights(const Scenario& scenario, const MemoryPlan& plan, Checks& checks) {
  const std::optional<Diagnostic> weight = unreadable_weight(scenario, plan);
  if (weight) checks.require(false, weight->path, weight->message, weight->hint);
}

void check_types(const Scenario& scenario, Checks& checks) {
  checks.require(
      scenario.type_act == DType::kInt8, "--activation-type",
      fmt::format("the replay runs int8 activations, not {}", name_of(scenario.type_act)),
      "leave --activation-type out");
  const auto check_cache = [&](const char* flag, DType type) {
    checks.require(
        type == DType::kInt8 || type == DType::kF16, flag,
        fmt::format("the replay keeps the KV cache in int8 or f16, not {}", name_of(type)),
        fmt::format("add {} int8", flag));
  };
  check_cache("--cache-type-k", scenario.type_k);
  check_cache("--cache-type-v", scenario.type_v);
}

void check_residency(const ResidencyChoices& residency, Checks& checks) {
  checks.require(!residency.is_split(), "--split", "the replay has one weight file",
                 "leave --split out");
  checks.require(residency.processes == 1, "--processes", "the replay is one process",
                 "leave --processes out");
  checks.require(!residency.caches_experts(), "--expert-cache",
                 "the replay moves whole weight units", "leave --expert-cache out");
  checks.require(!residency.rows, "--hot-rows", "the replay moves whole weight units",
                 "leave --hot-rows out");
}

void check_choices(const Scenario& scenario, Checks& checks) {
  checks.require(scenario.n_seq == 1, "--parallel", "the replay runs one sequence",
                 "leave --parallel out");
  checks.require(!scenario.embedding_in_flash, "--embedding",
                 "the replay holds the whole embedding", "leave --embedding out");
  checks.require(scenario.trace.empty(), "trace", "the replay makes the model's own passes",
                 "leave the trace out");
  checks.require(!scenario.serving.any(), "--requests", "the replay runs one prompt",
                 "leave --requests out");
  checks.require(!scenario.enforce, "--enforce", "the replay's limit is a real one",
                 "give --memory-limit in its place");
  checks.require(!scenario.kv_resident, "--kv-resident", "the replay holds the whole KV cache",
                 "leave --kv-resident out");
  checks.require(scenario.load.initialise == BytesPerSecond{}, "--initialise",
                 "the replay uses what it reads as it lies", "leave --initialise out");
  checks.require(scenario.adapt.empty(), "--adapt", "the replay runs the plan as it is",
                 "leave --adapt out");
  checks.require(!scenario.offload, "--offload", "the replay runs on the processor alone",
                 "leave --offload out");
  check_residency(scenario.residency, checks);
  checks.require(scenario.strategy != StrategyKind::kBlockCache || scenario.load.prefetch == 0,
                 "--prefetch", "the replay's block cache reads what is asked for",
                 "leave --prefetch out");
  const EngineProfile& engine = scenario.engine;
  checks.require(
      engine.policy == EnginePolicy::kPlanned && engine.activations == ActivationPolicy::kArena,
      "--engine", fmt::format("{} plans no arena that could be replayed", engine.name),
      "add --engine tidemark");
  const int64_t cells =
      checked_add(scenario.prompt.count(), std::max<int64_t>(scenario.generate.count() - 1, 0));
  checks.require(
      cells <= scenario.cells_per_sequence(), "--generate",
      fmt::format("{} cells are needed, the context has {}", cells, scenario.cells_per_sequence()),
      "raise --ctx-size, or lower --prompt or --generate");
}

// The first thing of a layer for which there is no kernel; empty = none. The kernels know softmax
// attention, norms, feed-forwards, and the sums around them.
std::string unsupported_part(const AttentionSpec& spec) {
  if (spec.n_bucket > 0) return "a relative position bias";
  return {};
}

std::string unsupported_part(const LayerSpec& layer) {
  const AttentionSpec* attention = layer.attention();
  if (std::holds_alternative<NoMixer>(layer.mixer)) return "no mixer";
  if (attention != nullptr) {
    if (std::string part = unsupported_part(*attention); !part.empty()) return part;
  } else if (!std::holds_alternative<ShortConvSpec>(layer.mixer)) {
    return fmt::format("the mixer {}", mixer_name(layer.mixer));
  }
  if (layer.cross.attention.n_head > 0) return "cross-attention";
  const bool has_none = layer.feed_forward.n_ff == 0 && layer.moe.n_expert == 0;
  return has_none ? "no feed-forward" : "";
}

// The same outside the layers.
std::string unsupported_ends(const TransformerSpec& model) {
  if (!model.is_causal) return "attention to later tokens";
  if (!model.has_head) return "no head";
  if (model.n_vocab < 2) return "a vocabulary of one token";
  // Towers and draft heads stand beside the passes of a text; an encoder's states are read by them.
  const bool encodes = std::ranges::any_of(
      model.stacks, [](const StackSpec& stack) { return stack.role == StackRole::kEncoder; });
  return encodes ? "an encoder" : "";
}

// "experts in layer 3"; empty = every part of the model runs.
std::string unsupported_part(const TransformerSpec& model) {
  if (std::string part = unsupported_ends(model); !part.empty()) return part;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const std::string part = unsupported_part(model.layers[i]);
    if (!part.empty()) return fmt::format("{} in layer {}", part, i);
  }
  return {};
}

// What no kernel of attention can make of a layer's heads; empty = nothing.
std::string illegal_heads(const TransformerSpec& model, int64_t layer) {
  const AttentionSpec* spec = model.layers.at(static_cast<size_t>(layer)).attention();
  if (spec == nullptr) return {};  // refused by its kind
  const bool legal =
      spec->head_dim % 2 == 0 && spec->n_head_kv > 0 && spec->n_head % spec->n_head_kv == 0;
  if (!legal) return "heads must be of even size and shared evenly by the stored ones";
  if (spec->value_is_key && spec->value_dim() != spec->head_dim) {
    return "values that are keys must be of the size of keys";
  }
  if (spec->output_gate && spec->value_dim() > spec->head_dim) {
    return "a gate of the size of queries must cover the values";
  }
  if (spec->shares_kv_with < 0) return {};
  const AttentionSpec* other =
      model.layers.at(static_cast<size_t>(spec->shares_kv_with)).attention();
  if (other == nullptr) return {};
  const bool same = other->n_head_kv == spec->n_head_kv && other->head_dim == spec->head_dim &&
                    other->value_dim() == spec->value_dim();
  return same ? "" : "layers that share a KV cache must have the same heads in it";
}

// An op finds its weights in the unit of one visit. Extras are computed with by none.
void check_units(const MemoryPlan& plan, Checks& checks) {
  const UnitLayout layout(plan);
  for (const PhasePlan* phase : {&plan.prefill, &plan.decode}) {
    for (const Op& op : phase->graph.ops()) {
      if (op.weights.size() < 2 || op.kind == OpKind::kExtra) continue;
      const UnitId unit = layout.place(op.weights.front()).unit;
      const auto elsewhere = std::ranges::find_if(
          op.weights, [&](WeightId id) { return layout.place(id).unit != unit; });
      if (elsewhere == op.weights.end()) continue;
      const auto name = [&](WeightId id) { return plan.weights.tensors.at(id.index()).name; };
      return checks.require(false, "MODEL",
                            fmt::format("{} reads {} and {}, which are loaded one after the other",
                                        op.name, name(op.weights.front()), name(*elsewhere)),
                            "plan or simulate it");
    }
  }
}

// Positions are rows of a table where they are learned.
void check_positions(const Scenario& scenario, const TransformerSpec& model, Checks& checks) {
  const int64_t needed =
      scenario.prompt.count() + std::max<int64_t>(scenario.generate.count() - 1, 0);
  checks.require(model.n_position == 0 || needed <= model.n_position, "--prompt",
                 fmt::format("{} positions are needed, {} has learned {}", needed,
                             scenario.model.name, model.n_position),
                 "lower --prompt or --generate");
}

void check_widths(const TransformerSpec& model, const MemoryPlan& plan, Checks& checks) {
  for (const WeightTensor& tensor : plan.weights.tensors) {
    if (tensor.columns <= kMaxReduced) continue;
    checks.require(false, "model",
                   fmt::format("{} has rows of {}; a product sums at most {}", tensor.name,
                               tensor.columns, kMaxReduced),
                   "add --model-scale 0.25");
    return;
  }
  for (int64_t i = 0; i < std::ssize(model.layers); ++i) {
    const std::string problem = illegal_heads(model, i);
    if (problem.empty()) continue;
    checks.require(false, "model", problem, "");
    return;
  }
}

}  // namespace

Diagnostics unsupported(const Scenario& scenario, const MemoryPlan& plan) {
  Checks checks;
  const TransformerSpec* model = scenario.model.transformer();
  if (model == nullptr) {
    checks.require(false, "MODEL",
                   fmt::format("{} is a list of sizes and has no layers that could be computed",
                               scenario.model.name),
                   "name a decoder: see `tidemark list models`");
    return std::move(checks).take();
  }
  const std::string part = unsupported_part(*model);
  if (part.empty()) check_weights(scenario, plan, checks);
  check_types(scenario, checks);
  check_choices(scenario, checks);
  checks.require(
      part.empty(), "MODEL",
      fmt::format("{} has {}, which the replay cannot run", scenario.model.name, part),
      "plan or simulate it, or name a decoder of attention layers: see `tidemark list models`");
  check_widths(*model, plan, checks);
  check_positions(scenario, *model, checks);
  if (part.empty()) check_units(plan, checks);
  const int64_t steps = steps_of(plan, passes_of(scenario, plan));
  checks.require(
      steps <= kMostReplaySteps, "--generate",
      fmt::format("{} steps would have to be measured; at most {} are", steps, kMostReplaySteps),
      "lower --generate or --prompt, or raise --ubatch-size");
  return std::move(checks).take();
}

std::vector<std::string> not_computed(const TransformerSpec& model,
                                      const WeightsInventory& weights) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < model.stacks.size(); ++i) {
    Bytes bytes;
    for (const WeightTensor& tensor : weights.tensors) {
      if (tensor.stack == static_cast<int64_t>(i)) bytes += tensor.bytes;
    }
    if (bytes == Bytes{}) continue;  // not counted, so not there
    parts.push_back(
        fmt::format("the {} stack ({}): the prompt is text, and tokens come one by one.",
                    name_of(model.stacks[i].role), format_bytes(bytes)));
  }
  const auto is_extra = [](const WeightTensor& tensor) {
    return tensor.role == WeightRole::kExtra && tensor.stack < 0;
  };
  if (const int64_t count = std::ranges::count_if(weights.tensors, is_extra); count > 0) {
    const auto first = std::ranges::find_if(weights.tensors, is_extra);
    parts.push_back(fmt::format("{} whose function is not known ({}): values pass them unchanged.",
                                counted(count, "tensor"), first->name));
  }
  return parts;
}

int64_t steps_of(const MemoryPlan& plan, const Passes& passes) {
  const auto steps = [](const PhasePlan& phase, int64_t count) {
    return checked_mul(static_cast<int64_t>(phase.schedule.order.size()), count);
  };
  return checked_add(steps(plan.prefill, passes.prefill), steps(plan.decode, passes.decode));
}

int64_t logits_bytes(const MemoryPlan& plan, const Passes& passes) {
  int64_t total = 0;
  for (const PhasePlan* phase : {&plan.prefill, &plan.decode}) {
    const int64_t count = phase == &plan.prefill ? passes.prefill : passes.decode;
    for (const Tensor& tensor : phase->graph.tensors()) {
      if (tensor.kind != TensorKind::kOutput) continue;
      total = checked_add(total, checked_mul(tensor.bytes.count(), count));
    }
  }
  return total;
}

Diagnostics missing_room(const MemoryPlan& plan, const Passes& passes, Bytes predicted,
                         const std::filesystem::path& folder) {
  Checks checks;
  const Bytes file = Bytes::of(checked_add(weight_file_bytes(plan), logits_bytes(plan, passes)));
  const Bytes space = Bytes::of(free_space(folder));
  checks.require(
      file + kSpareSpace <= space, "--scratch",
      fmt::format("{} of scratch space are needed in {} and {} must be left, {} are free",
                  format_bytes(file), folder.string(), format_bytes(kSpareSpace),
                  format_bytes(space)),
      "shrink the model with --model-scale, or name another folder, here or in TMPDIR");
  const std::optional<Bytes> memory = available_memory();
  checks.require(!memory || predicted + kSpareMemory <= *memory, "MODEL",
                 fmt::format("{} would be held and {} must be left, {} of memory are available",
                             format_bytes(predicted), format_bytes(kSpareMemory),
                             format_bytes(memory.value_or(Bytes{}))),
                 "shrink the model with --model-scale, or the context with --ctx-size");
  return std::move(checks).take();
}

Diagnostics never_cold(const Scenario& scenario, const std::filesystem::path& folder) {
  if (scenario.strategy != StrategyKind::kMmap || scenario.load.is_cached) return {};
  ScratchFile file(folder);
  file.append(std::vector<std::byte>(static_cast<size_t>(page_size().count())));
  Checks checks;
  checks.require(can_begin_cold(file), "--scratch",
                 fmt::format("{} keeps files in memory, where a mapped file cannot begin cold",
                             in_quotes(folder.string())),
                 "name a folder on a disk, here or in TMPDIR, or add --page-cache warm");
  return std::move(checks).take();
}

}  // namespace tidemark

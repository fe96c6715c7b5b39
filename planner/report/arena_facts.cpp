// What is said of the arena: of its fullest phase, and of all of them.
#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/report/report.h"

namespace tidemark {
namespace {

std::vector<ArenaRow> arena_rows(const PhasePlan& phase) {
  std::vector<ArenaRow> rows;
  for (size_t i = 0; i < phase.buffers.size() && i < phase.plan.offsets.size(); ++i) {
    const ArenaBuffer& buffer = phase.buffers[i];
    rows.push_back({.name = phase.graph.tensor(buffer.members.front()).name,
                    .offset = phase.plan.offsets[i],
                    .size = buffer.size,
                    .lifetime = buffer.lifetime});
  }
  return rows;
}

// What the extents beyond the first stand for, by the op that makes the tensor.
std::string extents(const PhasePlan& phase, const Tensor& tensor) {
  const auto& shape = tensor.shape;
  const auto count = [](int64_t n) { return format_count(n); };
  const std::string rows = phase.phase == Phase::kEncode ? "rows" : "tokens";
  const std::optional<OpId> maker = phase.graph.producer(tensor.id);
  const OpKind kind = maker ? phase.graph.op(*maker).kind : OpKind::kPlainLayer;
  const bool by_head =
      kind == OpKind::kScores || (shape[2] > 1 && (kind == OpKind::kSoftmax ||
                                                   kind == OpKind::kAdd || kind == OpKind::kEmbed));
  if (by_head) {
    return fmt::format("{} cells x {} {} x {} heads", count(shape[0]), count(shape[1]), rows,
                       count(shape[2]));
  }
  if (!maker && tensor.name.ends_with("image")) {
    return fmt::format("{} x {} pixels x {} planes", shape[0], shape[1], shape[2]);
  }
  if (!maker && tensor.name.ends_with("mel")) {
    return fmt::format("{} frames x {} bands", count(shape[0]), count(shape[1]));
  }
  if (shape[2] > 1) {
    return fmt::format("{} values x {} experts x {} {}", count(shape[0]), count(shape[1]),
                       count(shape[2]), rows);
  }
  return fmt::format("{} values x {} {}", count(shape[0]), count(shape[1]), rows);
}

TensorFacts tensor_facts(const PhasePlan& phase, const Tensor& tensor) {
  TensorFacts facts{.name = tensor.name, .bytes = tensor.bytes};
  if (tensor.shape[0] == 0) return facts;  // of a layer list
  facts.shape = fmt::format("{} of {}", extents(phase, tensor), name_of(tensor.dtype));
  return facts;
}

// The first of equals.
std::optional<TensorFacts> largest_live(const PhasePlan& phase) {
  const Tensor* largest = nullptr;
  for (const LiveRange& range : phase.ranges) {
    if (!range.steps.contains(phase.load.peak_step)) continue;
    const Tensor& tensor = phase.graph.tensor(range.tensor);
    if (largest == nullptr || tensor.bytes > largest->bytes) largest = &tensor;
  }
  if (largest == nullptr) return std::nullopt;
  return tensor_facts(phase, *largest);
}

std::string input_of(const PhasePlan& phase) {
  if (phase.phase != Phase::kEncode) return "";
  const StackInput& input = phase.input;
  if (input.pixels > 0) {
    return fmt::format("one image of {0} x {0} pixels: {1} patches, {2} tokens", input.pixels,
                       format_count(input.n_row), format_count(input.n_out));
  }
  const bool is_sound = phase.stack == StackRole::kAudio ||
                        std::ranges::any_of(phase.graph.tensors(), [](const Tensor& tensor) {
                          return tensor.name.ends_with("mel");
                        });
  return fmt::format("{} {}", format_count(input.n_row), is_sound ? "frames" : "source tokens");
}

}  // namespace

ArenaFacts make_arena_facts(const PhasePlan& phase) {
  ArenaFacts facts{.planner = phase.plan.planner,
                   .status = std::string(name_of(phase.plan.status)),
                   .phase = name_of(phase),
                   .peak = phase.plan.peak,
                   .lower_bound = phase.plan.lower_bound,
                   .no_reuse = no_reuse_bytes(phase.problem),
                   .buffers = static_cast<int64_t>(phase.buffers.size()),
                   .steps = static_cast<int64_t>(phase.schedule.order.size()),
                   .peak_step = phase.load.peak_step.value(),
                   .largest = largest_live(phase),
                   .rows = arena_rows(phase)};
  if (phase.load.peak_step.index() < phase.schedule.order.size()) {
    facts.peak_op = phase.graph.op(phase.schedule.order[phase.load.peak_step.index()]).name;
  }
  if (phase.order) {
    facts.order = OrderFacts{.program_load = phase.order->program_load,
                             .load = phase.load.peak,
                             .lower_bound = phase.order->lower_bound,
                             .is_optimal = phase.order->is_optimal,
                             .states = phase.order->states};
  }
  return facts;
}

ArenaFacts make_arena_facts(const MemoryPlan& plan) {
  ArenaFacts facts = make_arena_facts(plan.largest());
  for (const PhasePlan* phase : plan.phases()) {
    facts.phases.push_back({.name = name_of(*phase),
                            .input = input_of(*phase),
                            .status = std::string(name_of(phase->plan.status)),
                            .peak = phase->plan.peak,
                            .lower_bound = phase->plan.lower_bound,
                            .scratch = phase->scratch});
  }
  return facts;
}

}  // namespace tidemark

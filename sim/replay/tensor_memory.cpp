#include "sim/replay/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "planner/base/check.h"
#include "planner/base/units.h"

namespace tidemark {
namespace {

bool is_arena_kind(TensorKind kind) {
  return kind == TensorKind::kInput || kind == TensorKind::kActivation;
}

TensorOffsets planned_offsets(const PhasePlan& phase) {
  TensorOffsets offsets(phase.graph.tensors().size());
  for (size_t i = 0; i < phase.buffers.size(); ++i) {
    for (const TensorId member : phase.buffers[i].members) {
      offsets[member.index()] = phase.plan.offsets.at(i);
    }
  }
  return offsets;
}

TensorOffsets separate_offsets(const PhasePlan& phase, Bytes& end) {
  constexpr Alignment kCacheLine = Alignment::of(64);
  TensorOffsets offsets(phase.graph.tensors().size());
  Bytes next;
  for (const Tensor& tensor : phase.graph.tensors()) {
    if (!is_arena_kind(tensor.kind)) continue;
    offsets[tensor.id.index()] = next;
    next = align_up(next + tensor.bytes, kCacheLine);
  }
  end = std::max(end, next);
  return offsets;
}

// Offsets of the state tensors, one behind the other.
std::vector<Bytes> offsets_of_states(const Graph& graph) {
  std::vector<Bytes> offsets(graph.tensors().size());
  Bytes next;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kState) continue;
    offsets[tensor.id.index()] = next;
    next += tensor.bytes;
  }
  return offsets;
}

Bytes largest_output(const MemoryPlan& plan) {
  Bytes largest = plan.breakdown.output;
  for (const PhasePlan* phase : {&plan.prefill, &plan.decode}) {
    for (const Tensor& tensor : phase->graph.tensors()) {
      if (tensor.kind == TensorKind::kOutput) largest = std::max(largest, tensor.bytes);
    }
  }
  return largest;
}

std::optional<TensorId> find_tensor(const Graph& graph, const std::string& name) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.name == name) return tensor.id;
  }
  return std::nullopt;
}

// What may be added to the tensor's offset in one arena: down to its front, and up to its size past
// its end.
struct ShiftRange {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  std::string_view arena{};  // of the phase that is left first

  bool contains(int64_t bytes) const { return bytes >= least && bytes <= most; }
};

// Looks the tensor up in one phase and narrows the range; what is wrong, or nothing.
Diagnostics narrow(const OffsetShift& shift, const PhasePlan& phase, const ArenaLayout& layout,
                   ShiftRange& range) {
  const std::string flag = "--shift-offset";
  const std::optional<TensorId> id = find_tensor(phase.graph, shift.tensor);
  if (!id) {
    // The decode graph lacks what only a prefill needs.
    if (phase.phase == Phase::kDecode) return {};
    return one_error(flag, fmt::format("there is no tensor {}", in_quotes(shift.tensor)),
                     "names are those of `tidemark plan MODEL --show ranges`, as blk.0.q");
  }
  const std::optional<Bytes>& offset = layout.of(phase.phase)[id->index()];
  if (!offset) {
    return one_error(flag, fmt::format("{} is not in the arena", in_quotes(shift.tensor)),
                     "states and outputs have memory of their own");
  }
  const Tensor& tensor = phase.graph.tensor(*id);
  if (tensor.dtype == DType::kI32 && shift.bytes % 4 != 0) {
    return one_error(flag, fmt::format("{} holds 4-byte numbers", in_quotes(shift.tensor)),
                     "shift it by a multiple of 4");
  }
  const ShiftRange here{.least = -offset->count(),
                        .most = (2 * layout.size - tensor.bytes - *offset).count()};
  if (range.contains(shift.bytes) && !here.contains(shift.bytes)) {
    range.arena = name_of(phase.phase);
  }
  range.least = std::max(range.least, here.least);
  range.most = std::min(range.most, here.most);
  return {};
}

void move(const OffsetShift& shift, const PhasePlan& phase, TensorOffsets& offsets) {
  const std::optional<TensorId> id = find_tensor(phase.graph, shift.tensor);
  if (!id) return;
  Bytes& offset = offsets[id->index()].value();
  offset = offset + Bytes::of(shift.bytes);
}

}  // namespace

ArenaLayout planned_layout(const MemoryPlan& plan) {
  return {.prefill = planned_offsets(plan.prefill),
          .decode = planned_offsets(plan.decode),
          .size = plan.activations,
          .guard = kLeastGuard};
}

ArenaLayout separate_layout(const MemoryPlan& plan) {
  ArenaLayout layout{.guard = kLeastGuard};
  layout.prefill = separate_offsets(plan.prefill, layout.size);
  layout.decode = separate_offsets(plan.decode, layout.size);
  return layout;
}

Result<ArenaLayout> shifted(ArenaLayout layout, const MemoryPlan& plan, const OffsetShift& shift) {
  ShiftRange range;
  for (const PhasePlan* phase : {&plan.prefill, &plan.decode}) {
    Diagnostics problems = narrow(shift, *phase, layout, range);
    if (!problems.empty()) return problems;
  }
  if (!range.contains(shift.bytes)) {
    return one_error("--shift-offset",
                     fmt::format("{} bytes move {} out of the {} arena", shift.bytes,
                                 in_quotes(shift.tensor), range.arena),
                     fmt::format("from {} to {}", range.least, range.most));
  }
  move(shift, plan.prefill, layout.prefill);
  move(shift, plan.decode, layout.decode);
  layout.guard += Bytes::of(std::max<int64_t>(shift.bytes, 0));
  return layout;
}

Bytes state_bytes(const PhasePlan& phase) {
  Bytes total;
  for (const Tensor& tensor : phase.graph.tensors()) {
    if (tensor.kind == TensorKind::kState) total += tensor.bytes;
  }
  return total;
}

TensorMemory::TensorMemory(const MemoryPlan& plan, const ArenaLayout& layout, Fault fault,
                           Fault of_state)
    : layout_(layout),
      prefill_states_(offsets_of_states(plan.prefill.graph)),
      decode_states_(offsets_of_states(plan.decode.graph)),
      arena_(layout.size + layout.guard, fault),
      scratch_(plan.scratch, fault),
      state_(state_bytes(plan.prefill), of_state),
      output_(largest_output(plan), fault) {
  check(state_bytes(plan.prefill) == state_bytes(plan.decode), "both phases share one KV cache");
  std::ranges::fill(guard(), kGuardByte);
}

void TensorMemory::touch_state(const PhasePlan& phase, int64_t cells) const {
  for (const Tensor& tensor : phase.graph.tensors()) {
    if (tensor.kind != TensorKind::kState) continue;
    const std::span<std::byte> bytes = this->tensor(phase, tensor.id);
    const bool is_recurrent = tensor.dtype == DType::kF32;  // as large from the start
    const int64_t there = is_recurrent ? tensor.shape[1] : std::min(cells, tensor.shape[1]);
    touch_pages(bytes.first(static_cast<size_t>(std::ssize(bytes) / tensor.shape[1] * there)));
  }
}

bool TensorMemory::in_arena(const PhasePlan& phase, TensorId id) const {
  return layout_.of(phase.phase).at(id.index()).has_value();
}

std::span<std::byte> TensorMemory::tensor(const PhasePlan& phase, TensorId id) const {
  const Tensor& tensor = phase.graph.tensor(id);
  const auto size = static_cast<size_t>(tensor.bytes.count());
  if (tensor.kind == TensorKind::kOutput) return output_.bytes().first(size);
  if (tensor.kind == TensorKind::kState) {
    const auto& offsets = phase.phase == Phase::kPrefill ? prefill_states_ : decode_states_;
    return state_.bytes().subspan(static_cast<size_t>(offsets.at(id.index()).count()), size);
  }
  const Bytes offset = layout_.of(phase.phase).at(id.index()).value();
  return arena_.bytes().subspan(static_cast<size_t>(offset.count()), size);
}

std::span<float> TensorMemory::scratch() const {
  return {reinterpret_cast<float*>(scratch_.bytes().data()),
          scratch_.bytes().size() / sizeof(float)};
}

std::span<std::byte> TensorMemory::guard() const {
  return arena_.bytes().subspan(static_cast<size_t>(layout_.size.count()));
}

void TensorMemory::add_ranges(std::vector<AddressRange>& ranges) const {
  for (const Mapping* mapping : {&arena_, &scratch_, &state_, &output_}) {
    if (!mapping->bytes().empty()) ranges.push_back(mapping->range());
  }
}

}  // namespace tidemark

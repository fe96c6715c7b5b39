// Where the tensors of a run live. In the run under test: one arena with every activation at its
// planned offset. In the run that judges it: the same class with a layout in which no two tensors
// share a byte.
//
//   | arena, planned size | guard bytes |   | scratch |   | KV cache, tensor by tensor |   | output
//   |
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/base/result.h"
#include "planner/capacity/memory_plan.h"
#include "sim/replay/mapping.h"

namespace tidemark {

// Offsets in the arena by TensorId, for each phase; none for a tensor that lives elsewhere.
using TensorOffsets = std::vector<std::optional<Bytes>>;

struct ArenaLayout {
  TensorOffsets prefill{};
  TensorOffsets decode{};
  Bytes size{};
  Bytes guard{};  // at least; the rest of the last page is guard as well
  const TensorOffsets& of(Phase phase) const { return phase == Phase::kPrefill ? prefill : decode; }
};

inline constexpr Bytes kLeastGuard = Bytes::of(64);
inline constexpr std::byte kGuardByte{0xA5};  // what the guard holds from the start

ArenaLayout planned_layout(const MemoryPlan& plan);
// No two tensors share a byte, not even those that the plan computes in place.
ArenaLayout separate_layout(const MemoryPlan& plan);

// Breaks a plan on purpose: moves one tensor in both phases. Bad input comes back as diagnostics: a
// tensor that is not in the arena, an offset below 0 or more than the arena's size past its end, a
// 4-byte number at an odd place.
struct OffsetShift {
  std::string tensor{};
  int64_t bytes = 0;
};
Result<ArenaLayout> shifted(ArenaLayout layout, const MemoryPlan& plan, const OffsetShift& shift);

class TensorMemory {
 public:
  // `layout` must outlive it. `of_state`: of the KV cache. Throws std::system_error.
  TensorMemory(const MemoryPlan& plan, const ArenaLayout& layout, Fault fault, Fault of_state);
  TensorMemory(const MemoryPlan& plan, const ArenaLayout& layout, Fault fault)
      : TensorMemory(plan, layout, fault, fault) {}

  // Makes the first `cells` cells of every tensor of the KV cache resident, or all that it has.
  void touch_state(const PhasePlan& phase, int64_t cells) const;

  // Every byte the plan reserves for the tensor.
  std::span<std::byte> tensor(const PhasePlan& phase, TensorId id) const;
  bool in_arena(const PhasePlan& phase, TensorId id) const;
  std::span<float> scratch() const;
  std::span<std::byte> guard() const;
  void add_ranges(std::vector<AddressRange>& ranges) const;

 private:
  const ArenaLayout& layout_;
  std::vector<Bytes> prefill_states_{};  // offsets in the KV cache, by TensorId
  std::vector<Bytes>
      decode_states_{};  // the same places: the n-th state of one graph is the n-th of the other
  Mapping arena_;
  Mapping scratch_;
  Mapping state_;
  Mapping output_;
};

// What TensorMemory reserves without the arena's guard, before rounding to pages.
Bytes state_bytes(const PhasePlan& phase);

}  // namespace tidemark

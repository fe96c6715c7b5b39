// The tensors of a pass through heap allocators instead of a planned arena: what each would need.
//
// Each allocator sees the buffers of the plan's largest phase, allocated and released in the order
// of the steps. Footprint and fragmentation are those of a heap without a limit; `fails` counts the
// requests that fail in a heap of the planned arena's size.
#pragma once

#include <vector>

#include "planner/capacity/memory_plan.h"
#include "sim/memory/allocation_trace.h"

namespace tidemark {

struct AllocatorUse {
  AllocatorRow row{};
  int64_t fails = 0;
  Bytes largest_failed{};
};

AllocationTrace allocation_trace_of(const PhasePlan& phase);
std::vector<AllocatorUse> compare_allocators(const PhasePlan& phase);

}  // namespace tidemark

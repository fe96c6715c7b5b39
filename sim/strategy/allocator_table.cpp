#include "sim/strategy/allocator_table.h"

#include <bit>

namespace tidemark {
namespace {

// A power of two, as buddies need, and room for all at once twice over.
Bytes roomy_heap(const AllocationTrace& trace) {
  uint64_t sum = 4096;
  for (const HeapRequest& request : trace.requests) {
    sum += static_cast<uint64_t>(request.size.count());
  }
  return Bytes::of(static_cast<int64_t>(std::bit_ceil(2 * sum)));
}

}  // namespace

AllocationTrace allocation_trace_of(const PhasePlan& phase) {
  std::vector<HeapLifetime> lifetimes;
  for (size_t i = 0; i < phase.buffers.size(); ++i) {
    const ArenaBuffer& buffer = phase.buffers[i];
    if (buffer.size == Bytes{}) continue;
    lifetimes.push_back({.request = {.name = phase.graph.tensor(buffer.members.front()).name,
                                     .size = buffer.size,
                                     .alignment = phase.problem.buffers.at(i).alignment},
                         .steps = buffer.lifetime});
  }
  return allocation_trace(lifetimes);
}

std::vector<AllocatorUse> compare_allocators(const PhasePlan& phase) {
  const AllocationTrace trace = allocation_trace_of(phase);
  std::vector<AllocatorUse> uses;
  for (const AllocatorKind kind : kAllocatorKinds) {
    const AllocatorRow tight = run_trace(kind, phase.plan.peak, trace);
    uses.push_back({.row = run_trace(kind, roomy_heap(trace), trace),
                    .fails = tight.failed,
                    .largest_failed = tight.largest_failed});
  }
  return uses;
}

}  // namespace tidemark

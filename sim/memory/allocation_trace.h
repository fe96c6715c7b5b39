// The same requests through each allocator of heap_allocators.h, side by side.
//
//   lifetimes (64 KiB each): x [0,2)  y [1,3)  z [2,4)
//   trace: +x, +y, -x, +z, -y, -z        at a step, what ended goes before what begins comes
//   best fit puts z where x was: footprint 128 KiB; an arena cannot: 192 KiB.
//   Checked by AllocationTraceTest.WorkedInTheHeader.
//
// TLB: an entry translates one page, so `entries` of them reach entries x page bytes: 1,024 entries
// reach 4 MiB of 4 KiB pages and 2 GiB of 2 MiB pages. What a trace touches is counted in both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"
#include "planner/base/interval.h"
#include "sim/memory/heap_allocators.h"

namespace tidemark {

struct HeapRequest {
  std::string name{};
  Bytes size{};
  Alignment alignment{};
};

struct AllocationTrace {
  struct Event {
    int64_t request = 0;
    bool allocates = true;  // or releases it
    bool operator==(const Event&) const = default;
  };
  std::vector<HeapRequest> requests{};
  std::vector<Event> events{};
};

// What a tensor of a schedule, or a buffer of several, asks of an allocator.
struct HeapLifetime {
  HeapRequest request{};
  Interval<StepIndex> steps{};
};

// Events by step: what ends there is released, then what begins there is allocated; each in the
// order given. Lifetimes without a step are left out.
AllocationTrace allocation_trace(std::span<const HeapLifetime> lifetimes);

struct AllocatorRow {
  AllocatorKind kind = AllocatorKind::kBestFit;
  Bytes peak_requested{};  // no allocator needs less
  Bytes peak_held{};
  Bytes footprint{};                  // the highest end
  double internal_fragmentation = 0;  // when most was asked for
  double external_fragmentation = 0;  // the worst while something lived
  int64_t failed = 0;
  int64_t failed_though_free = 0;  // of them, those for which enough was free, in pieces
  Bytes largest_failed{};
  int64_t pages_4k = 0;  // touched, over the whole trace
  int64_t pages_2m = 0;
};

// A request that fails is gone; its release does nothing. Each request is allocated at most once
// at a time, and released only after that (else it is a bug).
AllocatorRow run_trace(AllocatorKind kind, Bytes heap, const AllocationTrace& trace);
// One row a kind, in the order of kAllocatorKinds.
std::vector<AllocatorRow> compare_allocators(Bytes heap, const AllocationTrace& trace);

// entries x page.
Bytes tlb_reach(int64_t entries, Bytes page);

}  // namespace tidemark

#include "sim/memory/allocation_trace.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "planner/base/check.h"
#include "sim/memory/page_set.h"

namespace tidemark {
namespace {

constexpr int64_t kSmallPage = 4096;
constexpr int64_t kHugePage = 2 * 1024 * 1024;

void touch(PageSet& pages, int64_t page, Bytes offset, Bytes size) {
  pages.add({offset.count() / page, (offset.count() + size.count() - 1) / page + 1});
}

}  // namespace

AllocationTrace allocation_trace(std::span<const HeapLifetime> lifetimes) {
  AllocationTrace trace;
  std::vector<std::tuple<StepIndex, bool, int64_t>> order;  // false, a release, comes first
  for (const HeapLifetime& lifetime : lifetimes) {
    if (lifetime.steps.empty()) continue;
    const auto request = static_cast<int64_t>(trace.requests.size());
    trace.requests.push_back(lifetime.request);
    order.emplace_back(lifetime.steps.lower, true, request);
    order.emplace_back(lifetime.steps.upper, false, request);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [step, allocates, request] : order) {
    trace.events.push_back({.request = request, .allocates = allocates});
  }
  return trace;
}

AllocatorRow run_trace(AllocatorKind kind, Bytes heap, const AllocationTrace& trace) {
  const auto allocator = make_allocator(kind, heap);
  AllocatorRow row{.kind = kind};
  std::vector<std::optional<Bytes>> places(trace.requests.size());
  std::vector<bool> asked(trace.requests.size(), false);
  PageSet small;
  PageSet huge;
  for (const AllocationTrace::Event& event : trace.events) {
    const auto index = static_cast<size_t>(event.request);
    const HeapRequest& request = trace.requests.at(index);
    check(asked[index] != event.allocates, "a request is allocated, then released");
    asked[index] = event.allocates;
    if (event.allocates) {
      const Bytes free = allocator->use().free;
      places[index] = allocator->allocate(request.size, request.alignment);
      if (places[index]) {
        touch(small, kSmallPage, *places[index], request.size);
        touch(huge, kHugePage, *places[index], request.size);
      } else {
        ++row.failed;
        if (free >= request.size) ++row.failed_though_free;
        row.largest_failed = std::max(row.largest_failed, request.size);
      }
    } else if (places[index]) {
      allocator->release(*places[index]);
    }
    const HeapUse use = allocator->use();
    if (use.requested == Bytes{}) continue;
    row.peak_held = std::max(row.peak_held, use.held);
    if (use.requested > row.peak_requested) {
      row.peak_requested = use.requested;
      row.internal_fragmentation = use.internal_fragmentation();
    }
    row.external_fragmentation = std::max(row.external_fragmentation, use.external_fragmentation());
  }
  row.footprint = allocator->use().footprint;
  row.pages_4k = small.count();
  row.pages_2m = huge.count();
  return row;
}

std::vector<AllocatorRow> compare_allocators(Bytes heap, const AllocationTrace& trace) {
  std::vector<AllocatorRow> rows;
  for (const AllocatorKind kind : kAllocatorKinds) rows.push_back(run_trace(kind, heap, trace));
  return rows;
}

Bytes tlb_reach(int64_t entries, Bytes page) { return page * entries; }

}  // namespace tidemark

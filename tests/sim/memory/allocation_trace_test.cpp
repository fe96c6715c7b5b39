#include "sim/memory/allocation_trace.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "planner/base/check.h"
#include "sim/memory/draw.h"

namespace tidemark {
namespace {

using namespace literals;

HeapLifetime lifetime(std::string name, Bytes size, int64_t first, int64_t end) {
  return {.request = {.name = std::move(name), .size = size},
          .steps = {StepIndex(first), StepIndex(end)}};
}

TEST(AllocationTraceTest, WorkedInTheHeader) {
  const std::vector<HeapLifetime> lifetimes{
      lifetime("x", 64_KiB, 0, 2), lifetime("y", 64_KiB, 1, 3), lifetime("z", 64_KiB, 2, 4)};
  const AllocationTrace trace = allocation_trace(lifetimes);
  EXPECT_EQ(trace.events,
            (std::vector<AllocationTrace::Event>{
                {0, true}, {1, true}, {0, false}, {2, true}, {1, false}, {2, false}}));
  for (const AllocatorRow& row : compare_allocators(1_MiB, trace)) {
    SCOPED_TRACE(name_of(row.kind));
    EXPECT_EQ(row.peak_requested, 128_KiB);
    EXPECT_EQ(row.footprint, row.kind == AllocatorKind::kArena ? 192_KiB : 128_KiB);
    EXPECT_EQ(row.failed, 0);
    EXPECT_EQ(row.pages_4k, row.footprint / 4_KiB);
    EXPECT_EQ(row.pages_2m, 1);
  }
}

TEST(AllocationTraceTest, WhatNeverLivesIsLeftOut) {
  EXPECT_TRUE(allocation_trace(std::vector{lifetime("x", 1_B, 3, 3)}).events.empty());
}

// A heap of 1 MiB in 16 pieces of 64 KiB, every second one released: half is free, but 128 KiB in
// one piece are not to be had. Nothing is free in an arena, nor in pools, whose slots wait for
// their like.
TEST(AllocationTraceTest, ALargeRequestFailsThoughHalfTheHeapIsFree) {
  AllocationTrace trace;
  for (int64_t i = 0; i < 16; ++i) {
    trace.requests.push_back({.name = "piece", .size = 64_KiB});
    trace.events.push_back({.request = i});
  }
  for (int64_t i = 0; i < 16; i += 2) trace.events.push_back({.request = i, .allocates = false});
  trace.requests.push_back({.name = "large", .size = 128_KiB});
  trace.events.push_back({.request = 16});
  trace.events.push_back({.request = 16, .allocates = false});
  for (const AllocatorRow& row : compare_allocators(1_MiB, trace)) {
    SCOPED_TRACE(name_of(row.kind));
    EXPECT_EQ(row.failed, 1);
    EXPECT_EQ(row.largest_failed, 128_KiB);
    const bool is_free = row.kind != AllocatorKind::kArena && row.kind != AllocatorKind::kPools;
    EXPECT_EQ(row.failed_though_free, is_free ? 1 : 0);
    // Eight pieces of one size: 1 - 64/512.
    EXPECT_EQ(row.external_fragmentation, is_free ? 0.875 : 0.0);
    EXPECT_EQ(row.peak_held, 1_MiB);
    EXPECT_EQ(row.internal_fragmentation, 0.0);
  }
}

// 3 KiB each: a buddy holds 4 of them in 16 KiB, 1/4 for nobody.
TEST(AllocationTraceTest, InternalFragmentationWhenMostWasHeld) {
  std::vector<HeapLifetime> lifetimes;
  for (int64_t i = 0; i < 4; ++i) lifetimes.push_back(lifetime("t", 3_KiB, i, 4));
  const AllocatorRow row = run_trace(AllocatorKind::kBuddy, 1_MiB, allocation_trace(lifetimes));
  EXPECT_EQ(row.peak_held, 16_KiB);
  EXPECT_EQ(row.internal_fragmentation, 0.25);
}

// Sizes and lifetimes by chance: nobody needs less than what is asked for, an arena that is never
// empty needs it all, and what is held is at least what is live.
TEST(AllocationTraceTest, NobodyNeedsLessThanWhatLives) {
  std::mt19937_64 bits(2);
  std::vector<HeapLifetime> lifetimes{lifetime("all along", 1_KiB, 0, 1000)};
  Bytes sum = 1_KiB;
  for (int64_t step = 0; step < 999; ++step) {
    const Bytes size = Bytes::of(1 + static_cast<int64_t>(draw_below(bits, 100000)));
    sum += size;
    lifetimes.push_back(
        lifetime("t", size, step, step + 1 + static_cast<int64_t>(draw_below(bits, 12))));
  }
  const AllocationTrace trace = allocation_trace(lifetimes);
  const std::vector<AllocatorRow> rows = compare_allocators(1_GiB, trace);
  for (const AllocatorRow& row : rows) {
    SCOPED_TRACE(name_of(row.kind));
    EXPECT_EQ(row.peak_requested, rows.front().peak_requested);
    EXPECT_GE(row.peak_held, row.peak_requested);
    EXPECT_GE(row.footprint, row.peak_requested);
    EXPECT_EQ(row.failed, 0);
    EXPECT_GE(row.pages_4k * 4_KiB + 1000 * 4_KiB, row.peak_requested);
    EXPECT_LE(row.pages_2m, row.footprint / 2_MiB + 1);
  }
  EXPECT_EQ(rows.back().footprint, sum);
}

TEST(AllocationTraceTest, ARequestIsAllocatedBeforeItIsReleased) {
  AllocationTrace trace{.requests = {{.name = "x", .size = 1_KiB}},
                        .events = {{.request = 0, .allocates = false}}};
  EXPECT_THROW(run_trace(AllocatorKind::kBestFit, 1_MiB, trace), InternalError);
  trace.events = {{0, true}, {0, true}};
  EXPECT_THROW(run_trace(AllocatorKind::kBestFit, 1_MiB, trace), InternalError);
}

TEST(AllocationTraceTest, TlbReachIsEntriesTimesPage) {
  EXPECT_EQ(tlb_reach(1024, 4_KiB), 4_MiB);
  EXPECT_EQ(tlb_reach(1024, 2_MiB), 2_GiB);
}

}  // namespace
}  // namespace tidemark

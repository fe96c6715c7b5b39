#include "sim/memory/heap_allocators.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string_view>

#include "planner/base/check.h"
#include "sim/memory/free_chunks.h"

namespace tidemark {
namespace {

using namespace literals;

std::optional<int64_t> kib(std::optional<Bytes> offset) {
  if (!offset) return std::nullopt;
  return *offset / 1_KiB;
}

struct HeaderRow {
  AllocatorKind kind{};
  std::optional<int64_t> a{}, b{}, c{}, d{};
  int64_t held = 0, free = 0, largest = 0;
};

TEST(HeapAllocatorTest, WorkedInTheHeader) {
  constexpr auto kRefused = std::nullopt;
  const std::array rows{HeaderRow{AllocatorKind::kPools, 0, 40, 64, kRefused, 104, 24, 24},
                        HeaderRow{AllocatorKind::kBuddy, 0, 64, kRefused, 64, 96, 32, 32},
                        HeaderRow{AllocatorKind::kSlab, 0, 40, 64, kRefused, 80, 48, 24},
                        HeaderRow{AllocatorKind::kBestFit, 0, 40, 64, kRefused, 80, 48, 24},
                        HeaderRow{AllocatorKind::kArena, 0, 40, 64, kRefused, 104, 24, 24}};
  for (const HeaderRow& row : rows) {
    SCOPED_TRACE(name_of(row.kind));
    const auto heap = make_allocator(row.kind, 128_KiB);
    EXPECT_EQ(kib(heap->allocate(40_KiB)), row.a);
    const auto b = heap->allocate(24_KiB);
    EXPECT_EQ(kib(b), row.b);
    EXPECT_EQ(kib(heap->allocate(40_KiB)), row.c);
    heap->release(*b);
    EXPECT_EQ(kib(heap->allocate(32_KiB)), row.d);
    const HeapUse use = heap->use();
    EXPECT_EQ(use.held, row.held * 1_KiB);
    EXPECT_EQ(use.free, row.free * 1_KiB);
    EXPECT_EQ(use.largest_free, row.largest * 1_KiB);
    EXPECT_EQ(use.external_fragmentation(), row.free == row.largest ? 0.0 : 0.5);
  }
}

// 100 B: a class of 112 (four classes from 64 on: 64, 80, 96, 112), a buddy of 128.
TEST(HeapAllocatorTest, SmallRequestsAreRoundedUp) {
  struct Row {
    AllocatorKind kind{};
    int64_t size = 0;
    int64_t alignment = 1;
    int64_t step = 0;  // between two that follow each other
  };
  for (const Row& row :
       {Row{AllocatorKind::kPools, 100, 1, 112}, Row{AllocatorKind::kSlab, 100, 1, 112},
        Row{AllocatorKind::kBuddy, 100, 1, 128}, Row{AllocatorKind::kBestFit, 100, 1, 112},
        Row{AllocatorKind::kArena, 100, 1, 100}, Row{AllocatorKind::kPools, 1, 1, 64},
        Row{AllocatorKind::kPools, 129, 1, 160}, Row{AllocatorKind::kSlab, 100, 64, 128},
        Row{AllocatorKind::kBuddy, 100, 512, 512}, Row{AllocatorKind::kBestFit, 100, 256, 256},
        Row{AllocatorKind::kArena, 100, 256, 256}}) {
    SCOPED_TRACE(name_of(row.kind));
    const auto heap = make_allocator(row.kind, 1_MiB);
    const auto alignment = Alignment::of(row.alignment);
    EXPECT_EQ(heap->allocate(Bytes::of(row.size), alignment), 0_B);
    EXPECT_EQ(heap->allocate(Bytes::of(row.size), alignment), Bytes::of(row.step));
  }
}

TEST(HeapAllocatorTest, ASlabGoesBackWithItsLastSlotAndAPoolNever) {
  for (const AllocatorKind kind : {AllocatorKind::kSlab, AllocatorKind::kPools}) {
    const auto heap = make_allocator(kind, 1_MiB);
    const auto first = heap->allocate(100_B);
    const auto second = heap->allocate(100_B);
    EXPECT_EQ(heap->use().held, kind == AllocatorKind::kSlab ? 64_KiB : 224_B);
    heap->release(*first);
    heap->release(*second);
    EXPECT_EQ(heap->use().held, kind == AllocatorKind::kSlab ? 0_B : 224_B);
    EXPECT_EQ(heap->allocate(100_B), 0_B);  // the same slot
  }
}

TEST(HeapAllocatorTest, AnArenaStartsAnewWhenNothingLives) {
  const auto heap = make_allocator(AllocatorKind::kArena, 100_B);
  const auto a = heap->allocate(60_B);
  const auto b = heap->allocate(40_B);
  heap->release(*a);
  EXPECT_EQ(heap->allocate(1_B), std::nullopt);
  EXPECT_EQ(heap->use().internal_fragmentation(), 0.6);  // spent, and nobody's
  heap->release(*b);
  EXPECT_EQ(heap->allocate(100_B), 0_B);
}

TEST(HeapAllocatorTest, WhatCannotFitIsRefusedAndMisuseIsABug) {
  for (const AllocatorKind kind : kAllocatorKinds) {
    const auto heap = make_allocator(kind, 64_KiB);
    EXPECT_EQ(heap->allocate(64_KiB + 1_B), std::nullopt);
    EXPECT_EQ(heap->allocate(Bytes::of(INT64_MAX)), std::nullopt);
    EXPECT_EQ(heap->allocate(1_B, Alignment::of(int64_t{1} << 62)), std::nullopt);
    EXPECT_EQ(heap->allocate(64_KiB), 0_B);
    EXPECT_EQ(heap->allocate(1_B), std::nullopt);
    EXPECT_THROW(heap->release(1_B), InternalError);
    EXPECT_THROW(heap->allocate(0_B), InternalError);
  }
  EXPECT_THROW(make_allocator(AllocatorKind::kArena, 63_B), InternalError);
}

TEST(FreeChunksTest, WorkedInTheHeader) {
  FreeChunks chunks(100);
  EXPECT_EQ(chunks.take(30, 1), 0);
  EXPECT_EQ(chunks.take(20, 1), 30);
  EXPECT_EQ(chunks.take(10, 1), 50);
  chunks.give(0, 30);
  EXPECT_EQ(chunks.take(25, 1), 0);
  chunks.give(30, 20);
  EXPECT_EQ(chunks.free(), 25 + 40);
  EXPECT_EQ(chunks.take(26, 1), 60);
  EXPECT_EQ(chunks.take(25, 1), 25);
  EXPECT_EQ(chunks.take(8, 8), 88);  // 86 is not a multiple of 8
  EXPECT_EQ(chunks.largest(), 4);    // [96,100); [86,88) stays free too
  EXPECT_THROW(chunks.give(87, 2), InternalError);
}

}  // namespace
}  // namespace tidemark

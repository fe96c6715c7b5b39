// The allocators under random requests: laws for all of them, and judges for two.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/memory/heap_allocators.h"

namespace tidemark {
namespace {

using namespace literals;

int64_t number(int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); }

// Every byte of a heap, with the block that owns it; what is free is found by looking.
class NaiveHeap {
 public:
  explicit NaiveHeap(int64_t size) : owners_(static_cast<size_t>(size), 0) {}

  bool is_free(int64_t offset, int64_t size) const {
    const auto first = owners_.begin() + offset;
    return std::all_of(first, first + size, [](int owner) { return owner == 0; });
  }
  void fill(int64_t offset, int64_t size, int owner) {
    std::fill_n(owners_.begin() + offset, size, owner);
  }

  // The smallest gap that holds the block, then the lowest.
  std::optional<int64_t> best_fit(int64_t size, int64_t alignment) const {
    std::optional<int64_t> best;
    int64_t best_gap = 0;
    const auto heap = static_cast<int64_t>(owners_.size());
    for (int64_t begin = 0; begin < heap;) {
      int64_t end = begin;
      while (end < heap && owners_[static_cast<size_t>(end)] == 0) ++end;
      const int64_t offset = (begin + alignment - 1) / alignment * alignment;
      if (offset + size <= end && (!best || end - begin < best_gap)) {
        best = offset;
        best_gap = end - begin;
      }
      begin = end + 1;
    }
    return best;
  }

  // Free blocks of buddies: free as a whole, but their parent is not. The smallest that will do.
  std::optional<int64_t> buddy(int64_t wanted) const {
    const auto heap = static_cast<int64_t>(owners_.size());
    for (int64_t size = wanted; size <= heap; size *= 2) {
      for (int64_t offset = 0; offset < heap; offset += size) {
        if (!is_free(offset, size)) continue;
        const int64_t parent = offset / (2 * size) * (2 * size);
        if (size < heap && is_free(parent, 2 * size)) continue;
        return offset;
      }
    }
    return std::nullopt;
  }

 private:
  std::vector<int> owners_;
};

struct Held {
  int64_t offset = 0;
  int64_t size = 0;
};

// One in three steps releases something; the rest ask for 1 to `most` bytes.
template <typename Allocated>
void random_steps(HeapAllocator& heap, int64_t most, Allocated allocated,
                  const std::function<void(Held)>& released) {
  std::vector<Held> held;
  for (int64_t step = number(0, 80); step > 0; --step) {
    if (!held.empty() && number(0, 2) == 0) {
      const auto one = held.begin() + number(0, static_cast<int64_t>(held.size()) - 1);
      heap.release(Bytes::of(one->offset));
      released(*one);
      held.erase(one);
      continue;
    }
    const int64_t size = number(1, most);
    const int64_t alignment = int64_t{1} << number(0, 8);
    const auto offset = heap.allocate(Bytes::of(size), Alignment::of(alignment));
    allocated(size, alignment, offset);
    if (offset) held.push_back({offset->count(), size});
  }
  for (const Held& one : held) {
    heap.release(Bytes::of(one.offset));
    released(one);
  }
}

TEST(HeapAllocatorLawsTest, BlocksAreApartAlignedAndInside) {
  for (const AllocatorKind kind : kAllocatorKinds) {
    EXPECT_TRUE(rc::check(std::string(name_of(kind)), [kind] {
      constexpr int64_t kHeap = 256 * 1024;
      const auto heap = make_allocator(kind, Bytes::of(kHeap));
      NaiveHeap judge(kHeap);
      int64_t requested = 0;
      random_steps(
          *heap, number(0, 1) == 0 ? 500 : 40000,
          [&](int64_t size, int64_t alignment, std::optional<Bytes> offset) {
            const HeapUse use = heap->use();
            RC_ASSERT(use.held + use.free == Bytes::of(kHeap));
            RC_ASSERT(use.largest_free <= use.free);
            if (!offset) return;
            requested += size;
            RC_ASSERT(offset->count() % alignment == 0);
            RC_ASSERT(offset->count() + size <= kHeap);
            RC_ASSERT(judge.is_free(offset->count(), size));
            judge.fill(offset->count(), size, 1);
            RC_ASSERT(use.requested == Bytes::of(requested));
            RC_ASSERT(use.held >= use.requested);
            RC_ASSERT(use.footprint >= *offset + Bytes::of(size));
          },
          [&](Held one) {
            requested -= one.size;
            judge.fill(one.offset, one.size, 0);
          });
      // All is released: all is one piece again, but for what pools keep.
      const HeapUse use = heap->use();
      RC_ASSERT(use.requested == Bytes{});
      if (kind == AllocatorKind::kPools) return;
      RC_ASSERT(use.held == Bytes{});
      RC_ASSERT(use.largest_free == Bytes::of(kHeap));
    }));
  }
}

// A request of at least 64 B whose alignment is not larger wastes less than half its block.
TEST(HeapAllocatorLawsTest, ABuddyWastesLessThanHalf) {
  EXPECT_TRUE(rc::check([] {
    const auto heap = make_allocator(AllocatorKind::kBuddy, 1_MiB);
    const int64_t size = number(64, 1 << 20);
    const int64_t alignment = int64_t{1} << number(0, 6);
    RC_ASSERT(heap->allocate(Bytes::of(size), Alignment::of(alignment)).has_value());
    RC_ASSERT(heap->use().held < Bytes::of(2 * size));
  }));
}

TEST(HeapAllocatorJudgeTest, BestFitPlacesAsItsNaiveJudge) {
  EXPECT_TRUE(rc::check("byte by byte", [] {
    constexpr int64_t kHeap = 4096;
    const auto fit = make_allocator(AllocatorKind::kBestFit, Bytes::of(kHeap));
    NaiveHeap gaps(kHeap);
    const auto granules = [](int64_t size) { return (size + 15) / 16 * 16; };
    random_steps(
        *fit, 700,
        [&](int64_t size, int64_t alignment, std::optional<Bytes> offset) {
          const auto want = gaps.best_fit(granules(size), std::max<int64_t>(alignment, 16));
          RC_ASSERT(offset.has_value() == want.has_value());
          if (!want) return;
          RC_ASSERT(offset->count() == *want);
          gaps.fill(*want, granules(size), 1);
        },
        [&](Held one) { gaps.fill(one.offset, granules(one.size), 0); });
  }));
}

TEST(HeapAllocatorJudgeTest, ABuddyPlacesAsItsNaiveJudge) {
  EXPECT_TRUE(rc::check("byte by byte", [] {
    constexpr int64_t kHeap = 4096;
    const auto pairs = make_allocator(AllocatorKind::kBuddy, Bytes::of(kHeap));
    NaiveHeap halves(kHeap);
    std::vector<Held> blocks;
    random_steps(
        *pairs, 700,
        [&](int64_t size, int64_t alignment, std::optional<Bytes> offset) {
          int64_t block = 64;
          while (block < size || block < alignment) block *= 2;
          const auto want = halves.buddy(block);
          RC_ASSERT(offset.has_value() == want.has_value());
          if (!want) return;
          RC_ASSERT(offset->count() == *want);
          halves.fill(*want, block, 1);
          blocks.push_back({*want, block});
        },
        [&](Held one) {
          const auto block = std::find_if(blocks.begin(), blocks.end(), [&](const Held& other) {
            return other.offset == one.offset;
          });
          halves.fill(block->offset, block->size, 0);
          blocks.erase(block);
        });
  }));
}

}  // namespace
}  // namespace tidemark

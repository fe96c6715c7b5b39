#include "sim/memory/heap_allocators.h"

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "planner/base/check.h"
#include "sim/memory/free_chunks.h"

namespace tidemark {
namespace {

constexpr int64_t kLeastBlock = 64;
constexpr int64_t kGranule = 16;  // of best fit
constexpr int64_t kPage = 4096;
constexpr int64_t kSlab = 64 * 1024;
constexpr int64_t kLargestSlot = kSlab / 8;

int64_t power_of_two(int64_t size) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size)));
}

int64_t round_up(int64_t size, int64_t multiple) {  // a power of two
  return (size + multiple - 1) & ~(multiple - 1);
}

// Four to a doubling: multiples of a quarter of the power of two below.
int64_t size_class(int64_t size, int64_t alignment) {
  size = std::max(size, kLeastBlock);
  const int64_t step = std::max(power_of_two(size) / 8, kGranule);
  return round_up(size, std::max(step, alignment));
}

// The largest alignment that every multiple of `size` has.
int64_t alignment_of(int64_t size) { return size & -size; }

class BestFit : public HeapAllocator {
 public:
  explicit BestFit(int64_t heap) : HeapAllocator(heap), chunks_(heap) {}

 private:
  std::optional<Block> take(int64_t size, int64_t alignment) override {
    size = round_up(size, kGranule);
    const std::optional<int64_t> offset = chunks_.take(size, std::max(alignment, kGranule));
    if (!offset) return std::nullopt;
    return Block{.offset = *offset, .size = size};
  }
  void give(Block block) override { chunks_.give(block.offset, block.size); }
  int64_t held() const override { return heap() - chunks_.free(); }
  int64_t largest_free() const override { return chunks_.largest(); }

  FreeChunks chunks_;
};

class Buddy : public HeapAllocator {
 public:
  explicit Buddy(int64_t heap) : HeapAllocator(heap), free_(64) { at(heap).insert(0); }

 private:
  std::optional<Block> take(int64_t size, int64_t alignment) override {
    const int64_t wanted = power_of_two(std::max({size, alignment, kLeastBlock}));
    int64_t found = wanted;
    while (found <= heap() && at(found).empty()) found *= 2;
    if (found > heap()) return std::nullopt;
    const int64_t offset = *at(found).begin();
    at(found).erase(at(found).begin());
    while (found > wanted) {
      found /= 2;
      at(found).insert(offset + found);
    }
    held_ += wanted;
    return Block{.offset = offset, .size = wanted};
  }

  void give(Block block) override {
    held_ -= block.size;
    while (block.size < heap() && at(block.size).erase(block.offset ^ block.size) == 1) {
      block.offset = std::min(block.offset, block.offset ^ block.size);
      block.size *= 2;
    }
    at(block.size).insert(block.offset);
  }

  int64_t held() const override { return held_; }

  int64_t largest_free() const override {
    for (int64_t size = heap(); size >= kLeastBlock; size /= 2) {
      if (!at(size).empty()) return size;
    }
    return 0;
  }

  static size_t power(int64_t size) {
    return static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(size)));
  }
  std::set<int64_t>& at(int64_t size) { return free_[power(size)]; }
  const std::set<int64_t>& at(int64_t size) const { return free_[power(size)]; }

  std::vector<std::set<int64_t>> free_;  // by the power of their size
  int64_t held_ = 0;
};

class Pools : public HeapAllocator {
 public:
  explicit Pools(int64_t heap) : HeapAllocator(heap), chunks_(heap) {}

 private:
  std::optional<Block> take(int64_t size, int64_t alignment) override {
    const int64_t slot = size_class(size, alignment);
    std::set<int64_t>& free = free_[slot];
    if (!free.empty()) {
      const int64_t offset = *free.begin();
      free.erase(free.begin());
      return Block{.offset = offset, .size = slot};
    }
    const std::optional<int64_t> offset = chunks_.take(slot, alignment_of(slot));
    if (!offset) return std::nullopt;
    return Block{.offset = *offset, .size = slot};
  }
  void give(Block block) override { free_[block.size].insert(block.offset); }
  int64_t held() const override { return heap() - chunks_.free(); }
  int64_t largest_free() const override { return chunks_.largest(); }

  FreeChunks chunks_;
  std::map<int64_t, std::set<int64_t>> free_{};  // slots, by their size
};

class Slab : public HeapAllocator {
 public:
  explicit Slab(int64_t heap) : HeapAllocator(heap), chunks_(heap) {}

 private:
  struct OneSlab {
    int64_t slot = 0;
    std::set<int64_t> free{};  // offsets of slots
    int64_t used = 0;
  };

  std::optional<Block> take(int64_t size, int64_t alignment) override {
    const int64_t slot = size_class(size, alignment);
    if (slot > kLargestSlot) {
      // Never as small as a slot, also where only the alignment is large.
      size = round_up(std::max(size, kLargestSlot + 1), kPage);
      return take_pages(size, std::max(alignment, kPage));
    }
    std::set<int64_t>& partial = partial_[slot];
    if (partial.empty()) {
      const std::optional<int64_t> slab = chunks_.take(kSlab, kSlab);
      if (!slab) return std::nullopt;
      OneSlab& fresh = slabs_[*slab];
      fresh.slot = slot;
      for (int64_t i = 0; i < kSlab / slot; ++i) fresh.free.insert(*slab + i * slot);
      partial.insert(*slab);
    }
    OneSlab& slab = slabs_.at(*partial.begin());
    const int64_t offset = *slab.free.begin();
    slab.free.erase(slab.free.begin());
    ++slab.used;
    if (slab.free.empty()) partial.erase(partial.begin());
    return Block{.offset = offset, .size = slot};
  }

  std::optional<Block> take_pages(int64_t size, int64_t alignment) {
    const std::optional<int64_t> offset = chunks_.take(size, alignment);
    if (!offset) return std::nullopt;
    return Block{.offset = *offset, .size = size};
  }

  void give(Block block) override {
    if (block.size > kLargestSlot) return chunks_.give(block.offset, block.size);
    const int64_t first = block.offset / kSlab * kSlab;
    OneSlab& slab = slabs_.at(first);
    slab.free.insert(block.offset);
    partial_[slab.slot].insert(first);
    if (--slab.used > 0) return;
    partial_[slab.slot].erase(first);
    slabs_.erase(first);
    chunks_.give(first, kSlab);
  }
  int64_t held() const override { return heap() - chunks_.free(); }
  int64_t largest_free() const override { return chunks_.largest(); }

  FreeChunks chunks_;
  std::map<int64_t, OneSlab> slabs_{};              // by offset
  std::map<int64_t, std::set<int64_t>> partial_{};  // slabs with a free slot, by slot size
};

class Arena : public HeapAllocator {
 public:
  using HeapAllocator::HeapAllocator;

 private:
  std::optional<Block> take(int64_t size, int64_t alignment) override {
    const int64_t offset = round_up(top_, alignment);
    if (offset > heap() - size) return std::nullopt;
    top_ = offset + size;
    ++living_;
    return Block{.offset = offset, .size = size};
  }
  void give(Block) override {
    if (--living_ == 0) top_ = 0;
  }
  int64_t held() const override { return top_; }
  int64_t largest_free() const override { return heap() - top_; }

  int64_t top_ = 0;
  int64_t living_ = 0;
};

double ratio(Bytes part, Bytes whole) {
  return whole == Bytes{} ? 0.0
                          : static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

}  // namespace

std::string_view name_of(AllocatorKind kind) {
  switch (kind) {
    case AllocatorKind::kPools:
      return "pools";
    case AllocatorKind::kBuddy:
      return "buddy";
    case AllocatorKind::kSlab:
      return "slab";
    case AllocatorKind::kBestFit:
      return "best-fit";
    case AllocatorKind::kArena:
      return "arena";
  }
  check(false, "every allocator has a name");
  return {};
}

double HeapUse::internal_fragmentation() const { return ratio(held - requested, held); }
double HeapUse::external_fragmentation() const { return ratio(free - largest_free, free); }

std::optional<Bytes> HeapAllocator::allocate(Bytes size, Alignment alignment) {
  check(size >= Bytes::of(1), "something is asked for");
  // No heap is larger, and sums below cannot overflow.
  if (size.count() > heap_ || alignment.count() > heap_) return std::nullopt;
  const std::optional<Block> block = take(size.count(), alignment.count());
  if (!block) return std::nullopt;
  live_.emplace(block->offset, Live{.requested = size.count(), .size = block->size});
  requested_ += size.count();
  footprint_ = std::max(footprint_, block->offset + block->size);
  return Bytes::of(block->offset);
}

void HeapAllocator::release(Bytes offset) {
  const auto found = live_.find(offset.count());
  check(found != live_.end(), "what is released was allocated");
  requested_ -= found->second.requested;
  give({.offset = offset.count(), .size = found->second.size});
  live_.erase(found);
}

HeapUse HeapAllocator::use() const {
  return {.requested = Bytes::of(requested_),
          .held = Bytes::of(held()),
          .free = Bytes::of(heap_ - held()),
          .largest_free = Bytes::of(largest_free()),
          .footprint = Bytes::of(footprint_)};
}

std::unique_ptr<HeapAllocator> make_allocator(AllocatorKind kind, Bytes heap) {
  const int64_t size = heap.count();
  check(size >= kLeastBlock && size <= int64_t{1} << 60, "a heap's size");
  switch (kind) {
    case AllocatorKind::kPools:
      return std::make_unique<Pools>(size);
    case AllocatorKind::kBuddy:
      return std::make_unique<Buddy>(
          static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size))));
    case AllocatorKind::kSlab:
      return std::make_unique<Slab>(size);
    case AllocatorKind::kBestFit:
      return std::make_unique<BestFit>(size);
    case AllocatorKind::kArena:
      return std::make_unique<Arena>(size);
  }
  check(false, "every allocator can be made");
  return nullptr;
}

}  // namespace tidemark

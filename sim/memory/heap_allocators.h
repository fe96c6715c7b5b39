// Ways to give out a heap at run time, without knowing what comes: what an engine without a plan
// does. The planner's offsets are the alternative; allocation_trace.h runs the same requests
// through each.
//
//   kind       a request gets
//   pools      a slot of its size class; what is given back serves that class alone, for good
//   buddy      a power of two at a multiple of itself; joined with its buddy when that is free
//   slab       a slot of its class in a slab of 64 KiB, which goes back with its last slot;
//              over 8 KiB whole pages of 4 KiB
//   best-fit   the smallest chunk that holds it; joined with its neighbours
//   arena      the next bytes; all given back at once, when nothing lives any more
//
//   Heap of 128 KiB; a 40, b 24, c 40 KiB; b is released; d 32 KiB:
//
//   kind      a       b        c         d        held  free  largest piece
//   pools     [0,40)  [40,64)  [64,104)  refused   104    24    24
//   buddy     [0,64)  [64,96)  refused   [64,96)    96    32    32
//   slab      [0,40)  [40,64)  [64,104)  refused    80    48    24
//   best-fit  [0,40)  [40,64)  [64,104)  refused    80    48    24
//   arena     [0,40)  [40,64)  [64,104)  refused   104    24    24
//
//   Pools keep b's slot for requests of its like; c would need 64 KiB of a buddy. External
//   fragmentation of slab and best-fit: 1/2. Checked by HeapAllocatorTest.WorkedInTheHeader.
//
// Size classes: four in each doubling (64, 80, 96, 112, 128, 160, ...), those that are a multiple
// of the alignment; the least is 64. So a class wastes less than a fifth of a size above 64 with
// a small alignment, a buddy less than half of its block.
// Sources: Wilson et al., Dynamic Storage Allocation: A Survey and Critical Review (1995), for the
// terms; Knowlton (1965), buddies; Bonwick (1994), slabs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "planner/base/bytes.h"

namespace tidemark {

enum class AllocatorKind { kPools, kBuddy, kSlab, kBestFit, kArena };
inline constexpr std::array kAllocatorKinds{AllocatorKind::kPools, AllocatorKind::kBuddy,
                                            AllocatorKind::kSlab, AllocatorKind::kBestFit,
                                            AllocatorKind::kArena};
// "pools", "buddy", "slab", "best-fit", "arena"
std::string_view name_of(AllocatorKind kind);

struct HeapUse {
  Bytes requested{};     // by those that live
  Bytes held{};          // what others cannot have: blocks, slots free or not, spent arena
  Bytes free{};          // heap - held
  Bytes largest_free{};  // in one piece
  Bytes footprint{};     // the highest end there ever was

  // Of what is held, the share that nobody asked for.
  double internal_fragmentation() const;
  // Of what is free, the share outside the largest piece.
  double external_fragmentation() const;
};

class HeapAllocator {
 public:
  explicit HeapAllocator(int64_t heap) : heap_(heap) {}
  virtual ~HeapAllocator() = default;
  HeapAllocator(const HeapAllocator&) = delete;
  HeapAllocator& operator=(const HeapAllocator&) = delete;

  // An offset into the heap, or nothing if there is no room. `size` is at least 1.
  std::optional<Bytes> allocate(Bytes size, Alignment alignment = {});
  // `offset` was returned by allocate and not released since.
  void release(Bytes offset);
  HeapUse use() const;

 protected:
  struct Block {
    int64_t offset = 0;
    int64_t size = 0;  // as handed out
  };
  virtual std::optional<Block> take(int64_t size, int64_t alignment) = 0;
  virtual void give(Block block) = 0;
  virtual int64_t held() const = 0;
  virtual int64_t largest_free() const = 0;
  int64_t heap() const { return heap_; }

 private:
  struct Live {
    int64_t requested = 0;
    int64_t size = 0;
  };
  int64_t heap_;
  std::map<int64_t, Live> live_{};  // by offset
  int64_t requested_ = 0;
  int64_t footprint_ = 0;
};

// `heap` is at least 64 B, and at most 2^60. A buddy allocator uses the largest power of two in it.
std::unique_ptr<HeapAllocator> make_allocator(AllocatorKind kind, Bytes heap);

}  // namespace tidemark

// A cache of blocks of unequal size with a byte capacity and an eviction policy. Laws, checked
// after every change:
//   resident bytes = sum loaded - sum evicted, and resident bytes <= capacity.
// A block larger than the capacity is refused (outcome kTooLarge); it never empties the cache.
//
//   capacity 1536, lru      access   outcome  evicted   resident after       used
//   a 512, b 768, c 768     a        miss     -         a                     512
//                           b        miss     -         a b                  1280
//                           c        miss     a         b c                  1536
//   Checked by FoundingTableTest.AccessByAccess, whose sequence begins like this.
//
// Prefetch. A block may be loaded before it is asked for, in the place of others but for those that
// are spared: the block in use, and what is asked for sooner. If that leaves too little room,
// nothing changes. A block that goes before it was asked for was read for nothing, and is counted
// as lost.
//
//   capacity 3, lru, blocks of 1     prefetch  spared  outcome   evicted   resident after
//   a b c accessed                                                          a b c
//   c is in use, d comes next        d         c       miss      a          b c d
//   and then b: it is there          b         c d     hit       -          b c d
//   and then a: b, c, d are spared   a         c d b   too large -          b c d
//   a demanded all the same                            miss      b          c d a
//   Checked by BlockCachePrefetchTest.WorkedInTheHeader.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"
#include "sim/memory/eviction_policy.h"

namespace tidemark {

enum class AccessOutcome { kHit, kMiss, kTooLarge };

struct Access {
  AccessOutcome outcome = AccessOutcome::kMiss;
  std::vector<UnitId> evicted{};  // in order of eviction
};

// A refused access counts nowhere.
struct CacheStats {
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t evictions = 0;
  int64_t prefetches = 0;  // loads that nobody waited for; their first access is a hit
  int64_t lost = 0;        // prefetched, and evicted before the first access
  Bytes bytes_read{};
  Bytes resident{};
  Bytes peak{};
  bool operator==(const CacheStats&) const = default;
};

class BlockCache {
 public:
  // pinned[i]: block i is never evicted once loaded. Empty = none is pinned.
  BlockCache(std::vector<Bytes> sizes, Bytes capacity, std::unique_ptr<EvictionPolicy> policy,
             std::vector<bool> pinned = {});
  ~BlockCache();
  BlockCache(BlockCache&& other) noexcept;
  BlockCache& operator=(BlockCache&& other) noexcept;

  // kTooLarge also when what is pinned or held leaves too little room.
  Access access(UnitId block);
  // Loads `block` ahead of its access. kMiss: it is to be read, in the place of `evicted`; none of
  // them is in `spared`. kHit: it is there. kTooLarge: no room, and nothing has changed.
  Access prefetch(UnitId block, std::span<const UnitId> spared);
  // What is being read cannot go: a held block is resident and stays until it is let go.
  void hold(UnitId block);
  void let_go(UnitId block);
  // What must go for a lower one goes, by the policy; returned in order. It becomes no lower than
  // what is pinned or held takes.
  std::vector<UnitId> set_capacity(Bytes capacity);
  Bytes capacity() const;
  bool resident(UnitId block) const;
  std::vector<UnitId> resident_blocks() const;  // oldest load first
  const CacheStats& stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark

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
#pragma once

#include <cstdint>
#include <memory>
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

  // kTooLarge also when what is pinned leaves too little room.
  Access access(UnitId block);
  // What must go for a lower one goes, by the policy; returned in order. Requires room for what is
  // pinned.
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

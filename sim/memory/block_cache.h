// A cache of blocks of unequal size with a byte capacity and an eviction policy. Laws, checked after every change:
//   resident bytes = sum loaded - sum evicted <= capacity.
// A block larger than the capacity is refused (outcome kTooLarge); it never empties the cache.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"
#include "planner/capacity/scenario.h"

namespace tidemark {

enum class AccessOutcome { kHit, kMiss, kTooLarge };

struct Access {
  AccessOutcome outcome = AccessOutcome::kMiss;
  std::vector<UnitId> evicted{};  // in order of eviction
};

struct CacheStats {
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t evictions = 0;
  Bytes bytes_read{};
  Bytes resident{};
  Bytes peak{};
};

// Chooses whom to evict. Blocks are ids 0..n-1. on_load and on_access are called after the fact.
class EvictionPolicy {
 public:
  virtual ~EvictionPolicy() = default;
  virtual void on_load(UnitId block) = 0;
  virtual void on_access(UnitId block) = 0;  // a hit
  virtual void on_evict(UnitId block) = 0;
  virtual UnitId victim() = 0;               // some resident, evictable block
};

std::unique_ptr<EvictionPolicy> make_lru(int64_t blocks);   // O(1): list and index
std::unique_ptr<EvictionPolicy> make_mru(int64_t blocks);   // O(1)
// Evicts the resident block whose next access in `sequence` lies farthest ahead (never = farthest); ties: the
// largest, then the lowest id. Greedy, not optimal, for unequal sizes. The cache must be accessed in `sequence`.
std::unique_ptr<EvictionPolicy> make_next_use(std::span<const UnitId> sequence, std::span<const Bytes> sizes);

class BlockCache {
 public:
  // pinned[i]: block i is never evicted once loaded.
  BlockCache(std::vector<Bytes> sizes, Bytes capacity, std::unique_ptr<EvictionPolicy> policy,
             std::vector<bool> pinned = {});
  ~BlockCache();

  // kTooLarge also when what is pinned leaves too little room.
  Access access(UnitId block);
  bool resident(UnitId block) const;
  std::vector<UnitId> resident_blocks() const;  // oldest load first
  const CacheStats& stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark

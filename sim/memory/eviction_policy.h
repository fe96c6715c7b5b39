// Whom to evict. A policy sees the blocks that may be evicted and nothing else: the cache keeps
// pinned blocks to itself, so a pinned set needs no policy of its own.
//
//   policy     victim                                                    cost of an access
//   lru        the block whose last access is oldest                     O(1): list and index
//   mru        the block whose last access is youngest                   O(1): the same list, other
//   end next-use   the block whose next access lies farthest ahead           O(log resident)
//
// For blocks of one size next-use is Belady's rule and no policy misses less; for blocks of unequal
// size it is a greedy rule without that promise. Cyclic access (a decoder's layers, token after
// token) is the worst case of lru and a good one of mru: with N equal blocks and room for C < N,
// lru never hits, mru hits (C-1)/(N-1) of the time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"

namespace tidemark {

// Blocks are ids 0..n-1. The three notices come after the fact; a notice about a block that is not
// resident (or, for on_load, already is) is a bug.
class EvictionPolicy {
 public:
  EvictionPolicy() = default;
  virtual ~EvictionPolicy() = default;
  EvictionPolicy(const EvictionPolicy&) = delete;
  EvictionPolicy& operator=(const EvictionPolicy&) = delete;

  virtual void on_load(UnitId block) = 0;
  virtual void on_access(UnitId block) = 0;  // a hit
  virtual void on_evict(UnitId block) = 0;
  virtual UnitId victim() = 0;  // some resident, evictable block; there must be one
};

std::unique_ptr<EvictionPolicy> make_lru(int64_t blocks);
std::unique_ptr<EvictionPolicy> make_mru(int64_t blocks);
// "Farthest ahead" in `sequence`; a block that never comes again lies farthest. Ties: the largest,
// then the lowest id. The cache must be accessed in `sequence`; accesses it refuses may be left
// out.
std::unique_ptr<EvictionPolicy> make_next_use(std::span<const UnitId> sequence,
                                              std::span<const Bytes> sizes);

}  // namespace tidemark

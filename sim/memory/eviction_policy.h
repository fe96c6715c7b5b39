// Whom to evict. A policy sees the blocks that may be evicted and nothing else: the cache keeps
// pinned blocks to itself, so a pinned set needs no policy of its own.
//
//   policy     victim                                                    cost of an access
//   lru        the block whose last access is oldest                     O(1): list and index
//   mru        the block whose last access is youngest                   O(1): the same list, other
//              end
//   fifo       the block whose load is oldest                            O(1)
//   clock      the first, in a circle in order of load, that was not     O(1), amortised
//              accessed since the hand last passed it
//   lfu        the block accessed least often; ties: the oldest access   O(log resident)
//   random     any, each as likely                                       O(1)
//   next-use   the block whose next access lies farthest ahead           O(log resident)
//
// For blocks of one size next-use is Belady's rule and no policy misses less; for blocks of unequal
// size it is a greedy rule without that promise.
//
// Cyclic access (a decoder's layers, token after token) with N equal blocks and room for C < N:
//
//   policy                     share of hits          N = 32, C = 16    24      31
//   lru, fifo, clock, lfu      0                      0                 0       0
//   mru, next-use              (C-1)/(N-1)            0.484             0.742   0.968
//   C-1 blocks pinned          (C-1)/N                0.469             0.719   0.938
//   random                     h = exp(-(1-h) N/C)    0.20              0.54    0.94
//
// lru and those like it always evict the block that comes next. Next-use evicts the block just
// passed, as its next access is a whole round away, and so does mru: a hole in the circle is met,
// filled, and opened again one place further back. Each of the N-C holes is thus met once in N-1
// accesses, which leaves (C-1)/(N-1) of hits. Under random, each miss picks one of C, and a round
// has (1-h) N of them; the equation takes that number for its mean (its solution below 1). With a
// single hole it is exact otherwise: the hole moves 1 to N-1 places on, each as likely, so a miss
// comes every N/2 accesses and h = 1 - 2/N.
// Checked by CyclicAccessTest.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"

namespace tidemark {

// Blocks are ids 0..n-1. The notices come after the fact; a notice about a block that is not
// resident (or, for on_load and on_prefetch, already is) is a bug.
class EvictionPolicy {
 public:
  EvictionPolicy() = default;
  virtual ~EvictionPolicy() = default;
  EvictionPolicy(const EvictionPolicy&) = delete;
  EvictionPolicy& operator=(const EvictionPolicy&) = delete;

  virtual void on_load(UnitId block) = 0;
  virtual void on_access(UnitId block) = 0;  // a hit
  virtual void on_evict(UnitId block) = 0;
  // Loaded before it was asked for. That counts as a load, but not as an access: on_access follows
  // when it is asked for.
  virtual void on_prefetch(UnitId block) { on_load(block); }
  // Some resident, evictable block; there must be one. Random draws anew at each call.
  virtual UnitId victim() = 0;
  // The one that victim() would name if those with a mark in `spared` (one a block) were not there;
  // nothing when they are all there is.
  virtual std::optional<UnitId> victim_but(const std::vector<bool>& spared) = 0;
};

std::unique_ptr<EvictionPolicy> make_lru(int64_t blocks);
std::unique_ptr<EvictionPolicy> make_mru(int64_t blocks);
std::unique_ptr<EvictionPolicy> make_fifo(int64_t blocks);
// A load counts as an access: a block is passed over once even if it is never accessed again.
std::unique_ptr<EvictionPolicy> make_clock(int64_t blocks);
// Loads and hits count alike, and a block keeps its count while it is not resident. Ageing: after
// every `halve_after` accesses all counts are halved, rounded down; 0 = never. At least the number
// of blocks otherwise, so that halving costs O(log resident) an access.
std::unique_ptr<EvictionPolicy> make_lfu(int64_t blocks, int64_t halve_after = 0);
std::unique_ptr<EvictionPolicy> make_random(int64_t blocks, uint64_t seed);
// "Farthest ahead" in `sequence`; a block that never comes again lies farthest. Ties: the largest,
// then the lowest id. The cache must be accessed in `sequence`; accesses it refuses may be left
// out.
std::unique_ptr<EvictionPolicy> make_next_use(std::span<const UnitId> sequence,
                                              std::span<const Bytes> sizes);

}  // namespace tidemark

// What the tests of the cache share: sequences of accesses, and a cache from the definition.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/memory/block_cache.h"
#include "sim/memory/make_policy.h"

namespace tidemark {

using Sequence = std::vector<UnitId>;

inline Sequence cyclic(int64_t blocks, int64_t rounds) {
  Sequence sequence;
  for (int64_t i = 0; i < blocks * rounds; ++i) sequence.push_back(UnitId(i % blocks));
  return sequence;
}

inline CacheStats run(BlockCache& cache, const Sequence& sequence) {
  for (const UnitId block : sequence) cache.access(block);
  return cache.stats();
}

// A cache from the definition: residents in a plain list with their last access, searched for each
// victim.
class NaiveCache {
 public:
  struct Resident {
    UnitId block{};
    size_t last_access = 0;
    size_t loaded = 0;
    int64_t uses = 0;  // of the block, also before it was last evicted
  };
  // Is `a` a better victim than `b`?
  using Better = std::function<bool(const Resident& a, const Resident& b)>;

  NaiveCache(std::vector<Bytes> sizes, Bytes capacity, Better better)
      : sizes_(std::move(sizes)),
        capacity_(capacity),
        better_(std::move(better)),
        uses_(sizes_.size(), 0) {}

  int64_t misses(const Sequence& sequence) {
    int64_t count = 0;
    for (size_t i = 0; i < sequence.size(); ++i) count += access(sequence[i], i) ? 0 : 1;
    return count;
  }

 private:
  Bytes used() const {
    Bytes sum;
    for (const Resident& resident : residents_) sum += sizes_[resident.block.index()];
    return sum;
  }

  bool access(UnitId block, size_t position) {
    const int64_t uses = ++uses_[block.index()];
    for (Resident& resident : residents_) {
      if (resident.block == block) {
        resident.last_access = position;
        resident.uses = uses;
        return true;
      }
    }
    while (used() + sizes_[block.index()] > capacity_) {
      auto victim = residents_.begin();
      for (auto other = residents_.begin(); other != residents_.end(); ++other) {
        if (better_(*other, *victim)) victim = other;
      }
      residents_.erase(victim);
    }
    residents_.push_back(
        {.block = block, .last_access = position, .loaded = position, .uses = uses});
    return false;
  }

  std::vector<Bytes> sizes_;
  Bytes capacity_;
  Better better_;
  std::vector<int64_t> uses_;
  std::vector<Resident> residents_{};
};

struct Instance {
  std::vector<Bytes> sizes{};
  Bytes capacity{};
  Sequence sequence{};
};

// Up to eight blocks, a capacity that holds each of them, up to a hundred accesses.
inline Instance random_instance(int largest_size) {
  Instance instance;
  const auto blocks = *rc::gen::inRange<size_t>(1, 9);
  Bytes largest;
  Bytes sum;
  for (size_t i = 0; i < blocks; ++i) {
    const Bytes size = Bytes::of(*rc::gen::inRange(1, largest_size + 1));
    instance.sizes.push_back(size);
    largest = std::max(largest, size);
    sum += size;
  }
  instance.capacity = Bytes::of(*rc::gen::inRange(largest.count(), sum.count() + 1));
  const auto length = *rc::gen::inRange<size_t>(0, 100);
  for (size_t i = 0; i < length; ++i) {
    instance.sequence.push_back(UnitId::of(*rc::gen::inRange<size_t>(0, blocks)));
  }
  return instance;
}

inline BlockCache cache_of(std::string_view policy, const Instance& instance) {
  return BlockCache(
      instance.sizes, instance.capacity,
      make_policy(policy, {.sizes = instance.sizes, .sequence = instance.sequence, .seed = 1}));
}

}  // namespace tidemark

#include "sim/memory/block_cache.h"

#include <algorithm>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {

struct BlockCache::Impl {
  std::vector<Bytes> sizes{};
  Bytes capacity{};
  std::unique_ptr<EvictionPolicy> policy{};
  std::vector<bool> pinned{};
  std::vector<int64_t> load_number{};  // of the load that made it resident; 0 = not resident
  Bytes pinned_bytes{};                // resident and pinned
  Bytes evicted_bytes{};
  CacheStats stats{};

  bool resident(UnitId block) const { return load_number.at(block.index()) != 0; }

  void load(UnitId block) {
    const Bytes size = sizes[block.index()];
    load_number[block.index()] = ++stats.misses;
    stats.bytes_read += size;
    stats.resident += size;
    stats.peak = std::max(stats.peak, stats.resident);
    if (pinned[block.index()]) {
      pinned_bytes += size;
    } else {
      policy->on_load(block);
    }
    check_laws();
  }

  UnitId evict_one() {
    const UnitId block = policy->victim();
    check(resident(block) && !pinned[block.index()], "a victim is resident and not pinned");
    policy->on_evict(block);
    load_number[block.index()] = 0;
    ++stats.evictions;
    evicted_bytes += sizes[block.index()];
    stats.resident -= sizes[block.index()];
    check_laws();
    return block;
  }

  void check_laws() const {
    check(stats.resident == stats.bytes_read - evicted_bytes,
          "resident is what was loaded and not evicted");
    check(stats.resident <= capacity, "the cache stays within its capacity");
  }
};

BlockCache::BlockCache(std::vector<Bytes> sizes, Bytes capacity,
                       std::unique_ptr<EvictionPolicy> policy, std::vector<bool> pinned)
    : impl_(std::make_unique<Impl>()) {
  check(capacity >= Bytes{}, "a capacity is not negative");
  check(pinned.empty() || pinned.size() == sizes.size(), "one pinned flag a block");
  for (const Bytes size : sizes) check(size >= Bytes{}, "a block's size is not negative");
  if (pinned.empty()) pinned.assign(sizes.size(), false);
  impl_->load_number.assign(sizes.size(), 0);
  impl_->sizes = std::move(sizes);
  impl_->capacity = capacity;
  impl_->policy = std::move(policy);
  impl_->pinned = std::move(pinned);
}

BlockCache::~BlockCache() = default;
BlockCache::BlockCache(BlockCache&& other) noexcept = default;
BlockCache& BlockCache::operator=(BlockCache&& other) noexcept = default;

Access BlockCache::access(UnitId block) {
  if (impl_->resident(block)) {
    ++impl_->stats.hits;
    if (!impl_->pinned[block.index()]) impl_->policy->on_access(block);
    return {.outcome = AccessOutcome::kHit};
  }
  // Refused before anything is evicted: what can never fit must not cost the others their place.
  const Bytes size = impl_->sizes[block.index()];
  if (size > impl_->capacity - impl_->pinned_bytes) return {.outcome = AccessOutcome::kTooLarge};
  Access access{.outcome = AccessOutcome::kMiss};
  while (size > impl_->capacity - impl_->stats.resident)
    access.evicted.push_back(impl_->evict_one());
  impl_->load(block);
  return access;
}

std::vector<UnitId> BlockCache::set_capacity(Bytes capacity) {
  check(capacity >= impl_->pinned_bytes, "a capacity holds what is pinned");
  std::vector<UnitId> evicted;
  while (impl_->stats.resident > capacity) evicted.push_back(impl_->evict_one());
  impl_->capacity = capacity;
  return evicted;
}

Bytes BlockCache::capacity() const { return impl_->capacity; }

bool BlockCache::resident(UnitId block) const { return impl_->resident(block); }

std::vector<UnitId> BlockCache::resident_blocks() const {
  std::vector<UnitId> blocks;
  for (size_t i = 0; i < impl_->sizes.size(); ++i) {
    if (impl_->load_number[i] != 0) blocks.push_back(UnitId::of(i));
  }
  std::sort(blocks.begin(), blocks.end(), [this](UnitId a, UnitId b) {
    return impl_->load_number[a.index()] < impl_->load_number[b.index()];
  });
  return blocks;
}

const CacheStats& BlockCache::stats() const { return impl_->stats; }

}  // namespace tidemark

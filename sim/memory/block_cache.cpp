#include "sim/memory/block_cache.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {

struct BlockCache::Impl {
  std::vector<Bytes> sizes{};
  Bytes capacity{};
  std::unique_ptr<EvictionPolicy> policy{};
  std::vector<bool> pinned{};
  std::vector<int64_t> load_number{};  // of the load that made it resident; 0 = not resident
  std::vector<bool> kept{};            // held, or spared for the moment
  std::vector<bool> unused{};          // prefetched, and not yet accessed
  int64_t loads = 0;
  Bytes pinned_bytes{};  // resident and pinned
  Bytes kept_bytes{};    // resident, kept and not pinned
  int64_t kept_count = 0;
  Bytes evicted_bytes{};
  CacheStats stats{};

  bool resident(UnitId block) const { return load_number.at(block.index()) != 0; }

  bool is_kept(UnitId block) const { return kept[block.index()]; }

  // What nothing but pinned and kept blocks would leave.
  Bytes most_room() const { return capacity - pinned_bytes - kept_bytes; }

  // False when there is nothing to keep it from.
  bool keep(UnitId block) {
    if (!resident(block) || pinned[block.index()] || is_kept(block)) return false;
    kept[block.index()] = true;
    kept_bytes += sizes[block.index()];
    ++kept_count;
    return true;
  }

  void free(UnitId block) {
    if (!is_kept(block)) return;
    kept[block.index()] = false;
    kept_bytes -= sizes[block.index()];
    --kept_count;
  }

  void load(UnitId block, bool is_wanted) {
    const Bytes size = sizes[block.index()];
    load_number[block.index()] = ++loads;
    ++(is_wanted ? stats.misses : stats.prefetches);
    unused[block.index()] = !is_wanted;
    stats.bytes_read += size;
    stats.resident += size;
    stats.peak = std::max(stats.peak, stats.resident);
    if (pinned[block.index()]) {
      pinned_bytes += size;
    } else if (is_wanted) {
      policy->on_load(block);
    } else {
      policy->on_prefetch(block);
    }
    check_laws();
  }

  std::vector<UnitId> make_room(Bytes size) {
    std::vector<UnitId> evicted;
    while (size > capacity - stats.resident) evicted.push_back(evict_one());
    return evicted;
  }

  UnitId victim() {
    if (kept_count == 0) return policy->victim();
    const std::optional<UnitId> found = policy->victim_but(kept);
    check(found.has_value(), "there is room when all that can go is gone");
    return *found;
  }

  UnitId evict_one() {
    const UnitId block = victim();
    check(resident(block) && !pinned[block.index()], "a victim is resident and not pinned");
    policy->on_evict(block);
    if (unused[block.index()]) ++stats.lost;
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
  impl_->kept.assign(sizes.size(), false);
  impl_->unused.assign(sizes.size(), false);
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
    impl_->unused[block.index()] = false;
    if (!impl_->pinned[block.index()]) impl_->policy->on_access(block);
    return {.outcome = AccessOutcome::kHit};
  }
  // Refused before anything is evicted: what can never fit must not cost the others their place.
  const Bytes size = impl_->sizes[block.index()];
  if (size > impl_->most_room()) return {.outcome = AccessOutcome::kTooLarge};
  Access access{.outcome = AccessOutcome::kMiss, .evicted = impl_->make_room(size)};
  impl_->load(block, true);
  return access;
}

Access BlockCache::prefetch(UnitId block, std::span<const UnitId> spared) {
  if (impl_->resident(block)) return {.outcome = AccessOutcome::kHit};
  std::vector<UnitId> newly_kept;
  for (const UnitId other : spared) {
    if (impl_->keep(other)) newly_kept.push_back(other);
  }
  Access access{.outcome = AccessOutcome::kTooLarge};
  const Bytes size = impl_->sizes[block.index()];
  if (size <= impl_->most_room()) {
    access = {.outcome = AccessOutcome::kMiss, .evicted = impl_->make_room(size)};
    impl_->load(block, false);
  }
  for (const UnitId other : newly_kept) impl_->free(other);
  return access;
}

void BlockCache::hold(UnitId block) {
  check(impl_->resident(block), "only what is resident can be held");
  impl_->keep(block);
}

void BlockCache::let_go(UnitId block) { impl_->free(block); }

std::vector<UnitId> BlockCache::set_capacity(Bytes capacity) {
  capacity = std::max(capacity, impl_->pinned_bytes + impl_->kept_bytes);
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

#include "planner/alloc/exact_table.h"

#include <algorithm>

namespace tidemark::exact {
namespace {

constexpr size_t kFirstSlots = 1024;

}  // namespace

FailedStates::FailedStates(size_t limit, const FailedStates* below)
    : limit_(limit), below_(below), slots_(kFirstSlots, 0) {}

bool FailedStates::may_contain(uint64_t hash) const {
  for (uint32_t at = slots_[slot_of(hash)]; at != 0; at = entries_[at - 1].next) {
    if (entries_[at - 1].hash == hash) return true;
  }
  return below_ != nullptr && below_->may_contain(hash);
}

bool FailedStates::contains(uint64_t hash, std::span<const uint64_t> key) const {
  for (uint32_t at = slots_[slot_of(hash)]; at != 0; at = entries_[at - 1].next) {
    const Entry& entry = entries_[at - 1];
    if (entry.hash != hash || entry.end - entry.begin != key.size()) continue;
    if (std::equal(key.begin(), key.end(), words_.begin() + static_cast<int64_t>(entry.begin))) {
      return true;
    }
  }
  return below_ != nullptr && below_->contains(hash, key);
}

void FailedStates::insert(uint64_t hash, std::span<const uint64_t> key) {
  const size_t bytes = (words_.size() + key.size()) * sizeof(uint64_t) +
                       (entries_.size() + 1) * (sizeof(Entry) + 2 * sizeof(uint32_t));
  if (bytes > limit_) return;
  if (entries_.size() >= slots_.size()) grow();
  uint32_t& slot = slots_[slot_of(hash)];
  entries_.push_back({hash, words_.size(), words_.size() + key.size(), slot});
  words_.insert(words_.end(), key.begin(), key.end());
  slot = static_cast<uint32_t>(entries_.size());
}

void FailedStates::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (size_t i = 0; i < entries_.size(); ++i) {
    uint32_t& slot = slots_[slot_of(entries_[i].hash)];
    entries_[i].next = slot;
    slot = static_cast<uint32_t>(i + 1);
  }
}

void FailedStates::absorb(FailedStates& other) {
  for (const Entry& entry : other.entries_) {
    const std::span key = std::span(other.words_).subspan(entry.begin, entry.end - entry.begin);
    if (!contains(entry.hash, key)) insert(entry.hash, key);
  }
  other.clear();
}

void FailedStates::clear() {
  if (entries_.empty()) return;
  std::ranges::fill(slots_, 0);
  entries_.clear();
  words_.clear();
}

}  // namespace tidemark::exact

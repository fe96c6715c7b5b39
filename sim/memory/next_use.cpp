#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "planner/base/check.h"
#include "sim/memory/eviction_policy.h"

namespace tidemark {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// The positions at which each block is accessed, ascending, block after block in one array.
class Occurrences {
 public:
  Occurrences(std::span<const UnitId> sequence, size_t blocks)
      : positions_(sequence.size()), cursor_(blocks, 0), end_(blocks, 0) {
    for (const UnitId block : sequence) ++end_.at(block.index());
    size_t start = 0;
    for (size_t block = 0; block < blocks; ++block) {
      cursor_[block] = start;
      start += end_[block];
      end_[block] = cursor_[block];
    }
    for (size_t i = 0; i < sequence.size(); ++i) {
      positions_[end_[sequence[i].index()]++] = static_cast<int64_t>(i);
    }
  }

  // Moves to the first access of `block` after position `last` and returns it.
  int64_t advance(UnitId block, int64_t last) {
    size_t& cursor = cursor_.at(block.index());
    while (cursor < end_[block.index()] && positions_[cursor] <= last) ++cursor;
    check(cursor < end_[block.index()], "the cache must be accessed in the announced sequence");
    return positions_[cursor++];
  }

  // The first access of `block` after position `last`, which stays to come.
  int64_t ahead(UnitId block, int64_t last) {
    size_t& cursor = cursor_.at(block.index());
    while (cursor < end_[block.index()] && positions_[cursor] <= last) ++cursor;
    return next(block);
  }

  // The access after the one advance() returned.
  int64_t next(UnitId block) const {
    const size_t cursor = cursor_.at(block.index());
    return cursor < end_[block.index()] ? positions_[cursor] : kNever;
  }

 private:
  std::vector<int64_t> positions_;
  std::vector<size_t> cursor_;
  std::vector<size_t> end_;
};

class NextUse : public EvictionPolicy {
 public:
  NextUse(std::span<const UnitId> sequence, std::span<const Bytes> sizes)
      : sizes_(sizes.begin(), sizes.end()),
        next_(sizes.size(), kNever),
        occurrences_(sequence, sizes.size()) {}

  void on_load(UnitId block) override {
    look_ahead(block);
    const bool added = candidates_.insert(candidate(block)).second;
    check(added, "a block is loaded once until it is evicted");
  }

  void on_access(UnitId block) override {
    remove(block);
    look_ahead(block);
    candidates_.insert(candidate(block));
  }

  void on_prefetch(UnitId block) override {
    next_[block.index()] = occurrences_.ahead(block, position_);
    const bool added = candidates_.insert(candidate(block)).second;
    check(added, "a block is loaded once until it is evicted");
  }

  void on_evict(UnitId block) override { remove(block); }

  UnitId victim() override {
    check(!candidates_.empty(), "no block can be evicted");
    return candidates_.begin()->block;
  }

  std::optional<UnitId> victim_but(const std::vector<bool>& spared) override {
    const auto found =
        std::find_if(candidates_.begin(), candidates_.end(),
                     [&](const Candidate& candidate) { return !spared[candidate.block.index()]; });
    return found == candidates_.end() ? std::nullopt : std::optional(found->block);
  }

 private:
  // In order of eviction: farthest next use, then largest, then lowest id.
  struct Candidate {
    int64_t next = 0;
    Bytes size{};
    UnitId block{};
    bool operator<(const Candidate& other) const {
      return std::tie(other.next, other.size, block) < std::tie(next, size, other.block);
    }
  };

  Candidate candidate(UnitId block) const {
    return {.next = next_[block.index()], .size = sizes_[block.index()], .block = block};
  }

  void remove(UnitId block) {
    check(candidates_.erase(candidate(block)) == 1, "the block is not resident");
  }

  void look_ahead(UnitId block) {
    position_ = occurrences_.advance(block, position_);
    next_[block.index()] = occurrences_.next(block);
  }

  std::vector<Bytes> sizes_;
  std::vector<int64_t> next_;  // next access of each block, as of its last one
  Occurrences occurrences_;
  int64_t position_ = -1;  // of the last access
  std::set<Candidate> candidates_{};
};

}  // namespace

std::unique_ptr<EvictionPolicy> make_next_use(std::span<const UnitId> sequence,
                                              std::span<const Bytes> sizes) {
  return std::make_unique<NextUse>(sequence, sizes);
}

}  // namespace tidemark

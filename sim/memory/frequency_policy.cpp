#include <algorithm>
#include <compare>
#include <set>
#include <vector>

#include "planner/base/check.h"
#include "sim/memory/eviction_policy.h"

namespace tidemark {
namespace {

class Lfu : public EvictionPolicy {
 public:
  Lfu(int64_t blocks, int64_t halve_after)
      : halve_after_(halve_after), of_(static_cast<size_t>(blocks)) {
    check(halve_after == 0 || halve_after >= std::max<int64_t>(blocks, 1),
          "counts are halved after as many accesses as there are blocks, at the earliest");
  }

  void on_load(UnitId block) override {
    count(block);
    check(residents_.insert(rank(block)).second && !is_resident(block),
          "a block is loaded once until it is evicted");
    of_[block.index()].resident = true;
    halve_when_due();
  }

  void on_access(UnitId block) override {
    remove(block);
    count(block);
    residents_.insert(rank(block));
    halve_when_due();
  }

  void on_evict(UnitId block) override {
    remove(block);
    of_[block.index()].resident = false;
  }

  UnitId victim() override {
    check(!residents_.empty(), "no block can be evicted");
    return residents_.begin()->block;
  }

  std::optional<UnitId> victim_but(const std::vector<bool>& spared) override {
    const auto found = std::find_if(residents_.begin(), residents_.end(),
                                    [&](const Rank& rank) { return !spared[rank.block.index()]; });
    return found == residents_.end() ? std::nullopt : std::optional(found->block);
  }

  void on_prefetch(UnitId block) override {
    check(residents_.insert(rank(block)).second && !is_resident(block),
          "a block is loaded once until it is evicted");
    of_[block.index()].resident = true;
  }

 private:
  struct Uses {
    int64_t count = 0;
    int64_t last = 0;  // number of its last access
    bool resident = false;
  };
  struct Rank {  // in order of eviction
    int64_t count = 0;
    int64_t last = 0;
    UnitId block{};
    auto operator<=>(const Rank&) const = default;
  };

  bool is_resident(UnitId block) const { return of_.at(block.index()).resident; }

  Rank rank(UnitId block) const {
    const Uses& uses = of_[block.index()];
    return {.count = uses.count, .last = uses.last, .block = block};
  }

  void remove(UnitId block) {
    check(is_resident(block) && residents_.erase(rank(block)) == 1, "the block is not resident");
  }

  void count(UnitId block) {
    Uses& uses = of_.at(block.index());
    ++uses.count;
    uses.last = ++accesses_;
  }

  // Counts that become equal are told apart by their last access, so the order is made anew.
  void halve_when_due() {
    if (halve_after_ == 0 || accesses_ % halve_after_ != 0) return;
    residents_.clear();
    for (size_t i = 0; i < of_.size(); ++i) {
      of_[i].count /= 2;
      if (of_[i].resident) residents_.insert(rank(UnitId::of(i)));
    }
  }

  int64_t halve_after_;
  int64_t accesses_ = 0;
  std::vector<Uses> of_;
  std::set<Rank> residents_{};
};

}  // namespace

std::unique_ptr<EvictionPolicy> make_lfu(int64_t blocks, int64_t halve_after) {
  return std::make_unique<Lfu>(blocks, halve_after);
}

}  // namespace tidemark

#include <random>
#include <vector>

#include "planner/base/check.h"
#include "sim/memory/draw.h"
#include "sim/memory/eviction_policy.h"

namespace tidemark {
namespace {

constexpr size_t kNowhere = SIZE_MAX;

class Random : public EvictionPolicy {
 public:
  Random(int64_t blocks, uint64_t seed)
      : bits_(seed), place_(static_cast<size_t>(blocks), kNowhere) {}

  void on_load(UnitId block) override {
    check(place_.at(block.index()) == kNowhere, "a block is loaded once until it is evicted");
    place_[block.index()] = residents_.size();
    residents_.push_back(block);
  }

  void on_access(UnitId block) override { place_of(block); }

  // The last one takes the place that becomes free.
  void on_evict(UnitId block) override {
    const size_t place = place_of(block);
    residents_[place] = residents_.back();
    place_[residents_[place].index()] = place;
    residents_.pop_back();
    place_[block.index()] = kNowhere;
  }

  UnitId victim() override {
    check(!residents_.empty(), "no block can be evicted");
    return residents_[draw_below(bits_, residents_.size())];
  }

  std::optional<UnitId> victim_but(const std::vector<bool>& spared) override {
    std::vector<UnitId> left;
    for (const UnitId block : residents_) {
      if (!spared[block.index()]) left.push_back(block);
    }
    if (left.empty()) return std::nullopt;
    return left[draw_below(bits_, left.size())];
  }

 private:
  size_t place_of(UnitId block) const {
    check(place_.at(block.index()) != kNowhere, "the block is not resident");
    return place_[block.index()];
  }

  std::mt19937_64 bits_;
  std::vector<UnitId> residents_{};
  std::vector<size_t> place_;  // of each block in residents_
};

}  // namespace

std::unique_ptr<EvictionPolicy> make_random(int64_t blocks, uint64_t seed) {
  return std::make_unique<Random>(blocks, seed);
}

}  // namespace tidemark

#include "sim/memory/eviction_policy.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <optional>
#include <vector>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// Resident blocks in a list that a load joins at the end, and where each stands in it.
class ListPolicy : public EvictionPolicy {
 public:
  explicit ListPolicy(int64_t blocks) : place_(static_cast<size_t>(blocks)) {}

  void on_load(UnitId block) override {
    std::optional<Place>& place = place_.at(block.index());
    check(!place.has_value(), "a block is loaded once until it is evicted");
    place = order_.insert(order_.end(), block);
  }

  void on_evict(UnitId block) override {
    order_.erase(place_of(block));
    place_.at(block.index()).reset();
  }

 protected:
  const std::list<UnitId>& order() const {
    check(!order_.empty(), "no block can be evicted");
    return order_;
  }

  std::optional<UnitId> first_but(const std::vector<bool>& spared) const {
    for (const UnitId block : order_) {
      if (!spared[block.index()]) return block;
    }
    return std::nullopt;
  }

  void to_the_end(UnitId block) { order_.splice(order_.end(), order_, place_of(block)); }

  void check_resident(UnitId block) const {
    check(place_.at(block.index()).has_value(), "the block is not resident");
  }

  std::list<UnitId> order_{};

 private:
  using Place = std::list<UnitId>::iterator;

  Place place_of(UnitId block) const {
    check_resident(block);
    return *place_[block.index()];
  }

  std::vector<std::optional<Place>> place_;
};

class Lru : public ListPolicy {
 public:
  using ListPolicy::ListPolicy;
  void on_access(UnitId block) override { to_the_end(block); }
  UnitId victim() override { return order().front(); }
  std::optional<UnitId> victim_but(const std::vector<bool>& spared) override {
    return first_but(spared);
  }
};

class Mru : public ListPolicy {
 public:
  using ListPolicy::ListPolicy;
  void on_access(UnitId block) override { to_the_end(block); }
  UnitId victim() override { return order().back(); }
  std::optional<UnitId> victim_but(const std::vector<bool>& spared) override {
    const auto found = std::find_if(order_.rbegin(), order_.rend(),
                                    [&](UnitId block) { return !spared[block.index()]; });
    return found == order_.rend() ? std::nullopt : std::optional(*found);
  }
};

class Fifo : public ListPolicy {
 public:
  using ListPolicy::ListPolicy;
  void on_access(UnitId block) override { check_resident(block); }
  UnitId victim() override { return order().front(); }
  std::optional<UnitId> victim_but(const std::vector<bool>& spared) override {
    return first_but(spared);
  }
};

// The circle cut open at the hand: what the hand passes goes to the end.
class Clock : public ListPolicy {
 public:
  explicit Clock(int64_t blocks)
      : ListPolicy(blocks), accessed_(static_cast<size_t>(blocks), false) {}

  void on_load(UnitId block) override {
    ListPolicy::on_load(block);
    accessed_[block.index()] = true;
  }

  void on_access(UnitId block) override {
    check_resident(block);
    accessed_[block.index()] = true;
  }

  UnitId victim() override {
    while (accessed_[order().front().index()]) {
      accessed_[order().front().index()] = false;
      to_the_end(order().front());
    }
    return order().front();
  }

  // The hand passes over those that are spared and leaves their marks.
  std::optional<UnitId> victim_but(const std::vector<bool>& spared) override {
    if (!first_but(spared)) return std::nullopt;
    while (true) {
      const UnitId block = order().front();
      const bool is_spared = spared[block.index()];
      if (!is_spared && !accessed_[block.index()]) return block;
      if (!is_spared) accessed_[block.index()] = false;
      to_the_end(block);
    }
  }

  void on_prefetch(UnitId block) override {
    ListPolicy::on_load(block);
    accessed_[block.index()] = false;
  }

 private:
  std::vector<bool> accessed_;  // since the hand last passed
};

}  // namespace

std::unique_ptr<EvictionPolicy> make_lru(int64_t blocks) { return std::make_unique<Lru>(blocks); }
std::unique_ptr<EvictionPolicy> make_mru(int64_t blocks) { return std::make_unique<Mru>(blocks); }
std::unique_ptr<EvictionPolicy> make_fifo(int64_t blocks) { return std::make_unique<Fifo>(blocks); }
std::unique_ptr<EvictionPolicy> make_clock(int64_t blocks) {
  return std::make_unique<Clock>(blocks);
}

}  // namespace tidemark

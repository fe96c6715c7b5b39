#include "sim/memory/eviction_policy.h"

#include <iterator>
#include <list>
#include <optional>
#include <vector>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// Resident blocks in order of last access, oldest first, and where each stands in that order.
class RecencyPolicy : public EvictionPolicy {
 public:
  explicit RecencyPolicy(int64_t blocks) : place_(static_cast<size_t>(blocks)) {}

  void on_load(UnitId block) override {
    std::optional<Place>& place = place_.at(block.index());
    check(!place.has_value(), "a block is loaded once until it is evicted");
    place = order_.insert(order_.end(), block);
  }

  void on_access(UnitId block) override { order_.splice(order_.end(), order_, place_of(block)); }

  void on_evict(UnitId block) override {
    order_.erase(place_of(block));
    place_.at(block.index()).reset();
  }

 protected:
  const std::list<UnitId>& order() const {
    check(!order_.empty(), "no block can be evicted");
    return order_;
  }

 private:
  using Place = std::list<UnitId>::iterator;

  Place place_of(UnitId block) const {
    const std::optional<Place>& place = place_.at(block.index());
    check(place.has_value(), "the block is not resident");
    return *place;
  }

  std::list<UnitId> order_{};
  std::vector<std::optional<Place>> place_;
};

class Lru : public RecencyPolicy {
 public:
  using RecencyPolicy::RecencyPolicy;
  UnitId victim() override { return order().front(); }
};

class Mru : public RecencyPolicy {
 public:
  using RecencyPolicy::RecencyPolicy;
  UnitId victim() override { return order().back(); }
};

}  // namespace

std::unique_ptr<EvictionPolicy> make_lru(int64_t blocks) { return std::make_unique<Lru>(blocks); }
std::unique_ptr<EvictionPolicy> make_mru(int64_t blocks) { return std::make_unique<Mru>(blocks); }

}  // namespace tidemark

#include "planner/alloc/pool_spill.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tidemark {
namespace {

// A time at which the load exceeds the capacity.
struct Excess {
  Interval<int64_t> when{};
  Bytes bytes{};
};

// So many are looked at one by one, the rest as one stretch of the largest excess among them.
constexpr size_t kMostStretches = 1000;
// Work of all rounds together, in pairs of a body and a stretch.
constexpr size_t kMostPairs = 200'000'000;

double length(const Interval<int64_t>& when) {
  return static_cast<double>(when.upper) - static_cast<double>(when.lower);
}

// Neighbours joined until few enough are left.
std::vector<Excess> coarsened(std::vector<Excess> all) {
  if (all.size() <= kMostStretches) return all;
  std::vector<Excess> few;
  const size_t each = all.size() / kMostStretches + 1;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % each == 0) {
      few.push_back(all[i]);
    } else {
      few.back().when.upper = all[i].when.upper;
      few.back().bytes = std::max(few.back().bytes, all[i].bytes);
    }
  }
  return few;
}

class Spill {
 public:
  Spill(const std::vector<Body>& bodies, std::span<const size_t> staying,
        std::span<const SpillCandidate> leaving, Bytes capacity)
      : bodies_(bodies), left_(leaving.begin(), leaving.end()), capacity_(capacity) {
    for (const size_t body : staying) add(body, 1);
    for (const SpillCandidate& candidate : left_) add(candidate.body, 1);
  }

  std::vector<size_t> run() {
    std::vector<size_t> gone;
    std::vector<Excess> excess = excesses();
    const size_t pairs = std::max<size_t>(1, left_.size() * std::max<size_t>(1, excess.size()));
    const size_t rounds = std::max<size_t>(1, kMostPairs / pairs);
    const size_t batch = left_.size() / rounds + 1;
    while (!excess.empty()) {
      const size_t before = gone.size();
      for (const size_t k : best_first(excess)) {
        if (gone.size() - before == batch) break;
        add(left_[k].body, -1);
        gone.push_back(left_[k].body);
        left_[k].cost = -1;
      }
      if (gone.size() == before) break;
      std::erase_if(left_, [](const SpillCandidate& c) { return c.cost < 0; });
      excess = excesses();
    }
    return gone;
  }

 private:
  void add(size_t body, int64_t factor) {
    for (const UseChange& change : use_changes(bodies_[body])) {
      changes_[change.instant] += change.change * factor;
    }
  }

  std::vector<Excess> excesses() const {
    std::vector<Excess> all;
    Bytes load;
    for (auto at = changes_.begin(); at != changes_.end(); ++at) {
      load += at->second;
      if (load <= capacity_) continue;
      all.push_back({{at->first, std::next(at)->first}, load - capacity_});
    }
    return coarsened(std::move(all));
  }

  // By how many byte-instants the excess falls without the body.
  double relief(const Body& body, const std::vector<Excess>& excess) const {
    double relief = 0;
    Bytes use;
    int64_t from = 0;
    for (const UseChange& change : use_changes(body)) {
      const Interval<int64_t> when{from, change.instant};
      if (use > Bytes{}) {
        auto at = std::ranges::upper_bound(excess, when.lower, {},
                                           [](const Excess& e) { return e.when.upper; });
        for (; at != excess.end() && at->when.lower < when.upper; ++at) {
          const Interval<int64_t> both{std::max(at->when.lower, when.lower),
                                       std::min(at->when.upper, when.upper)};
          relief += static_cast<double>(std::min(use, at->bytes).count()) * length(both);
        }
      }
      use += change.change;
      from = change.instant;
    }
    return relief;
  }

  // Of those that relieve anything: least cost for it first, then the larger relief.
  std::vector<size_t> best_first(const std::vector<Excess>& excess) const {
    std::vector<double> reliefs(left_.size());
    std::vector<size_t> order;
    for (size_t k = 0; k < left_.size(); ++k) {
      reliefs[k] = relief(bodies_[left_[k].body], excess);
      if (reliefs[k] > 0) order.push_back(k);
    }
    std::ranges::stable_sort(order, {}, [&](size_t k) {
      return std::pair(static_cast<double>(left_[k].cost) / reliefs[k], -reliefs[k]);
    });
    return order;
  }

  const std::vector<Body>& bodies_;
  std::vector<SpillCandidate> left_;
  Bytes capacity_;
  std::map<int64_t, Bytes> changes_{};  // of the load, by instant
};

}  // namespace

std::vector<size_t> spill_by_load(const std::vector<Body>& bodies, std::span<const size_t> staying,
                                  std::span<const SpillCandidate> leaving, Bytes capacity) {
  return Spill(bodies, staying, leaving, capacity).run();
}

}  // namespace tidemark

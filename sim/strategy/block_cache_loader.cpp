// A block cache of weight units. The unit that computes is the most recent access, and the next
// access comes only after it: nothing asked for can evict it while it is in use.
//
// Prefetch. When a visit begins, the units of the next visits are read behind it, in order, each in
// the place of a unit that is not needed sooner: never in that of the one at hand. The first for
// which there is no such place ends it until the next visit, so that a later one never takes the
// room of a sooner one. Four layers of 100 B, a cache of 300 B, lru, 100 ns a read, 250 ns a
// compute:
//
//   lru evicts what comes next, so every visit reads; by itself   r0 c0 r1 c1 r2 c2 r3 c3: 350 a
//   visit with --prefetch 1, behind compute                             r0 c0 c1 c2 c3 c0 ...   250
//   a visit
//                                                                    r1 r2 r3 r0 ...
//   The cliff stays for storage, which reads as much, and is gone for whoever waits, as long as a
//   layer computes for longer than it is read. Checked by CachePrefetchTest.TheCliffIsHidden.
#include <algorithm>
#include <utility>
#include <vector>

#include "planner/base/check.h"
#include "sim/strategy/weight_loader.h"

namespace tidemark {
namespace {

class BlockCacheLoader : public WeightLoader {
 public:
  BlockCacheLoader(WeightStore& store, const Itinerary& itinerary, BlockCache& cache,
                   CachePrefetch& prefetch)
      : store_(store), itinerary_(itinerary), cache_(cache), prefetch_(prefetch) {}

  void need(int64_t visit, Action on_resident) override {
    visit_ = visit;
    on_resident_ = std::move(on_resident);
    serve();
  }

  std::string drop_prefetch() override {
    return std::exchange(prefetch_.depth, 0) > 0 ? "nothing is read ahead" : "";
  }

 private:
  // What is being read keeps its place, so there may be no room until a read has ended.
  void serve() {
    const UnitId unit = itinerary_.unit_at(visit_);
    const Access access = cache_.access(unit);
    waits_for_room_ = access.outcome == AccessOutcome::kTooLarge;
    check(!waits_for_room_ || reads_ > 0, "every unit visited fits the cache");
    if (waits_for_room_) return;
    release(access.evicted);
    waiting_for_ = unit;
    const bool is_hit = access.outcome == AccessOutcome::kHit;
    if (!is_hit) {
      start_read(unit);
    } else if (is_coming(unit)) {
      ++prefetch_.late;
    }
    read_ahead();
    if (is_hit && !is_coming(unit)) std::exchange(on_resident_, nullptr)();
  }

  void read_ahead() {
    const int64_t last = std::min(visit_ + prefetch_.depth, itinerary_.visits() - 1);
    std::vector<UnitId> sooner{itinerary_.unit_at(visit_)};
    for (int64_t ahead = visit_ + 1; ahead <= last; ++ahead) {
      const UnitId unit = itinerary_.unit_at(ahead);
      const Access access = cache_.prefetch(unit, sooner);
      if (access.outcome == AccessOutcome::kTooLarge) return;
      release(access.evicted);
      if (access.outcome == AccessOutcome::kMiss) start_read(unit);
      sooner.push_back(unit);
    }
  }

  void start_read(UnitId unit) {
    if (coming_.size() <= unit.index()) coming_.resize(unit.index() + 1);
    coming_[unit.index()] = true;
    ++reads_;
    cache_.hold(unit);
    store_.read(unit, [this, unit] { on_read(unit); });
  }

  void on_read(UnitId unit) {
    coming_[unit.index()] = false;
    --reads_;
    cache_.let_go(unit);
    if (waits_for_room_) return serve();
    if (unit == waiting_for_ && on_resident_) std::exchange(on_resident_, nullptr)();
  }

  bool is_coming(UnitId unit) const {
    return unit.index() < coming_.size() && coming_[unit.index()];
  }

  void release(const std::vector<UnitId>& evicted) {
    for (const UnitId unit : evicted) store_.release(unit);
  }

  WeightStore& store_;
  const Itinerary& itinerary_;
  BlockCache& cache_;
  CachePrefetch& prefetch_;
  int64_t visit_ = 0;
  UnitId waiting_for_{};
  Action on_resident_{};
  bool waits_for_room_ = false;
  std::vector<bool> coming_{};  // by unit: being read
  int64_t reads_ = 0;           // of them
};

}  // namespace

std::unique_ptr<WeightLoader> make_block_cache_loader(WeightStore& store,
                                                      const Itinerary& itinerary, BlockCache& cache,
                                                      CachePrefetch& prefetch) {
  return std::make_unique<BlockCacheLoader>(store, itinerary, cache, prefetch);
}

}  // namespace tidemark

// Resident, layerwise and block-cache: each a handful of lines.
#include <utility>

#include "planner/base/check.h"
#include "sim/strategy/weight_loader.h"

namespace tidemark {
namespace {

class ResidentLoader : public WeightLoader {
 public:
  ResidentLoader(WeightStore& store, int64_t units) : store_(store), units_(units) {}

  void prepare(Action on_prepared) override {
    if (units_ == 0) return on_prepared();
    for (int64_t unit = 0; unit + 1 < units_; ++unit) store_.read(UnitId(unit), nullptr);
    store_.read(UnitId(units_ - 1), std::move(on_prepared));
  }

  void need(int64_t /*visit*/, Action on_resident) override { on_resident(); }

 private:
  WeightStore& store_;
  int64_t units_;
};

class LayerwiseLoader : public WeightLoader {
 public:
  LayerwiseLoader(WeightStore& store, const Itinerary& itinerary)
      : store_(store), itinerary_(itinerary) {}

  void need(int64_t visit, Action on_resident) override {
    store_.read(itinerary_.unit_at(visit), std::move(on_resident));
  }

  void done(int64_t visit) override { store_.release(itinerary_.unit_at(visit)); }

 private:
  WeightStore& store_;
  const Itinerary& itinerary_;
};

// The unit being computed is the most recent access, and the next access comes only after it:
// nothing can evict it while it is in use.
class BlockCacheLoader : public WeightLoader {
 public:
  BlockCacheLoader(WeightStore& store, const Itinerary& itinerary, BlockCache& cache)
      : store_(store), itinerary_(itinerary), cache_(cache) {}

  void need(int64_t visit, Action on_resident) override {
    const UnitId unit = itinerary_.unit_at(visit);
    const Access access = cache_.access(unit);
    check(access.outcome != AccessOutcome::kTooLarge, "every unit visited fits the cache");
    for (const UnitId evicted : access.evicted) store_.release(evicted);
    if (access.outcome == AccessOutcome::kHit) return on_resident();
    store_.read(unit, std::move(on_resident));
  }

 private:
  WeightStore& store_;
  const Itinerary& itinerary_;
  BlockCache& cache_;
};

}  // namespace

std::unique_ptr<WeightLoader> make_resident_loader(WeightStore& store, int64_t units) {
  return std::make_unique<ResidentLoader>(store, units);
}

std::unique_ptr<WeightLoader> make_layerwise_loader(WeightStore& store,
                                                    const Itinerary& itinerary) {
  return std::make_unique<LayerwiseLoader>(store, itinerary);
}

std::unique_ptr<WeightLoader> make_block_cache_loader(WeightStore& store,
                                                      const Itinerary& itinerary,
                                                      BlockCache& cache) {
  return std::make_unique<BlockCacheLoader>(store, itinerary, cache);
}

}  // namespace tidemark

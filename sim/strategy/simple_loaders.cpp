// Resident and layerwise: each a handful of lines.
#include <utility>

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

}  // namespace

std::unique_ptr<WeightLoader> make_resident_loader(WeightStore& store, int64_t units) {
  return std::make_unique<ResidentLoader>(store, units);
}

std::unique_ptr<WeightLoader> make_layerwise_loader(WeightStore& store,
                                                    const Itinerary& itinerary) {
  return std::make_unique<LayerwiseLoader>(store, itinerary);
}

}  // namespace tidemark

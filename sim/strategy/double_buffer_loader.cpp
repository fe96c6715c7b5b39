// Two slots. While visit i computes in one, the other takes the unit of visit i + 1; it became free
// when visit i - 1 was done. The next pass follows on without a break: during its last visit the
// first unit of the next is read.
//
//   slot 0   blk.0 [read|compute]          blk.2 [read |compute]
//   slot 1            blk.1 [read |compute]          blk.3 [read ...
//
// A unit that is in a slot is not read again. When visits i and i + 1 share a unit (a tied
// embedding ends one pass and begins the next), they share a slot, and the other one may already
// take the unit of visit i + 2.
//
// With the prefetch dropped, the unit at hand alone is read, and only one that the next visit needs
// as well stays.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "planner/base/check.h"
#include "sim/strategy/weight_loader.h"

namespace tidemark {
namespace {

class DoubleBufferLoader : public WeightLoader {
 public:
  DoubleBufferLoader(WeightStore& store, const Itinerary& itinerary)
      : store_(store), itinerary_(itinerary) {}

  void need(int64_t visit, Action on_resident) override {
    const UnitId unit = itinerary_.unit_at(visit);
    read_ahead(visit);
    Slot* slot = slot_of(unit);
    check(slot != nullptr, "a slot is free for the visit at hand");
    if (slot->filled) return on_resident();
    slot->on_filled = std::move(on_resident);
  }

  void done(int64_t visit) override {
    for (std::optional<Slot>& slot : slots_) {
      if (!slot || is_visited(slot->unit, visit + 1)) continue;
      if (ahead_ > 0 && is_visited(slot->unit, visit + 2)) continue;
      check(slot->filled, "a slot is released after its visit");
      store_.release(slot->unit);
      slot.reset();
    }
  }

  std::string drop_prefetch() override {
    return std::exchange(ahead_, 0) > 0 ? "one slot instead of two" : "";
  }

 private:
  struct Slot {
    UnitId unit{};
    bool filled = false;
    Action on_filled{};
  };

  bool is_visited(UnitId unit, int64_t visit) const {
    return visit < itinerary_.visits() && itinerary_.unit_at(visit) == unit;
  }

  Slot* slot_of(UnitId unit) {
    for (std::optional<Slot>& slot : slots_) {
      if (slot && slot->unit == unit) return &*slot;
    }
    return nullptr;
  }

  // Fills free slots with the units of this visit and the next two, in that order.
  void read_ahead(int64_t visit) {
    const int64_t last = std::min(visit + ahead_, itinerary_.visits() - 1);
    for (int64_t ahead = visit; ahead <= last; ++ahead) {
      const UnitId unit = itinerary_.unit_at(ahead);
      if (slot_of(unit) == nullptr && !start_reading(unit)) return;
    }
  }

  // False when no slot is free.
  bool start_reading(UnitId unit) {
    for (std::optional<Slot>& slot : slots_) {
      if (slot) continue;
      slot = Slot{.unit = unit};
      store_.read(unit, [this, unit] { on_slot_filled(unit); });
      return true;
    }
    return false;
  }

  void on_slot_filled(UnitId unit) {
    Slot* slot = slot_of(unit);
    check(slot != nullptr, "a slot stays reserved while it is being filled");
    slot->filled = true;
    const Action on_filled = std::exchange(slot->on_filled, nullptr);
    if (on_filled) on_filled();
  }

  WeightStore& store_;
  const Itinerary& itinerary_;
  int64_t ahead_ = 2;  // visits that are read for before they come
  std::array<std::optional<Slot>, 2> slots_{};
};

}  // namespace

std::unique_ptr<WeightLoader> make_double_buffer_loader(WeightStore& store,
                                                        const Itinerary& itinerary) {
  return std::make_unique<DoubleBufferLoader>(store, itinerary);
}

}  // namespace tidemark

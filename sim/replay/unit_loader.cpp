#include "sim/replay/unit_loader.h"

#include <array>
#include <future>
#include <optional>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// A unit in pages of its own, read when it is made.
Mapping read_now(const WeightFile& weights, UnitId unit) {
  Mapping pages(weights.unit_bytes(unit), Fault::kNow);
  weights.read_unit(unit, pages.bytes());
  return pages;
}

class ResidentLoader : public UnitLoader {
 public:
  ResidentLoader(const WeightFile& weights, const Itinerary& itinerary, int64_t units)
      : weights_(weights), itinerary_(itinerary), units_(units) {}

  void prepare() override {
    for (int64_t i = 0; i < units_; ++i) {
      loaded_.push_back(read_now(weights_, UnitId(i)));
      bytes_read_ += weights_.unit_bytes(UnitId(i));
    }
  }

  std::span<const std::byte> need(int64_t visit) override {
    return loaded_.at(itinerary_.unit_at(visit).index()).bytes();
  }

  void add_ranges(std::vector<AddressRange>& ranges) const override {
    for (const Mapping& pages : loaded_) ranges.push_back(pages.range());
  }

 private:
  const WeightFile& weights_;
  const Itinerary& itinerary_;
  int64_t units_;
  std::vector<Mapping> loaded_{};
};

class LayerwiseLoader : public UnitLoader {
 public:
  LayerwiseLoader(const WeightFile& weights, const Itinerary& itinerary)
      : weights_(weights), itinerary_(itinerary) {}

  std::span<const std::byte> need(int64_t visit) override {
    const UnitId unit = itinerary_.unit_at(visit);
    loaded_ = read_now(weights_, unit);
    bytes_read_ += weights_.unit_bytes(unit);
    return loaded_.bytes();
  }

  void done(int64_t /*visit*/) override { loaded_ = Mapping(); }

  void add_ranges(std::vector<AddressRange>& ranges) const override {
    ranges.push_back(loaded_.range());
  }

 private:
  const WeightFile& weights_;
  const Itinerary& itinerary_;
  Mapping loaded_{};
};

// The simulator's two slots (double_buffer_loader.cpp) with a thread that reads. The unit of the
// visit at hand is waited for first; then the free slot, if there is one, takes the next unit that
// is in neither.
class DoubleBufferLoader : public UnitLoader {
 public:
  DoubleBufferLoader(const WeightFile& weights, const Itinerary& itinerary)
      : weights_(weights), itinerary_(itinerary), visits_(itinerary.visits()) {}

  std::span<const std::byte> need(int64_t visit) override {
    const UnitId unit = itinerary_.unit_at(visit);
    if (slot_of(unit) == nullptr) start_reading(unit);
    Slot* slot = slot_of(unit);
    check(slot != nullptr, "a slot is free for the visit at hand");
    if (slot->reading.valid()) slot->reading.get();
    read_ahead(visit);
    return slot->pages.bytes();
  }

  void done(int64_t visit) override {
    for (std::optional<Slot>& slot : slots_) {
      if (!slot || is_visited(slot->unit, visit + 1) || is_visited(slot->unit, visit + 2)) continue;
      slot.reset();
    }
  }

  void add_ranges(std::vector<AddressRange>& ranges) const override {
    for (const std::optional<Slot>& slot : slots_) {
      if (slot) ranges.push_back(slot->pages.range());
    }
  }

 private:
  struct Slot {
    UnitId unit{};
    Mapping pages{};
    std::future<void> reading{};  // last, so that it is waited for before the pages go
  };

  bool is_visited(UnitId unit, int64_t visit) const {
    return visit < visits_ && itinerary_.unit_at(visit) == unit;
  }

  Slot* slot_of(UnitId unit) {
    for (std::optional<Slot>& slot : slots_) {
      if (slot && slot->unit == unit) return &*slot;
    }
    return nullptr;
  }

  void read_ahead(int64_t visit) {
    for (int64_t ahead = visit + 1; ahead <= visit + 2 && ahead < visits_; ++ahead) {
      const UnitId unit = itinerary_.unit_at(ahead);
      if (slot_of(unit) == nullptr && !start_reading(unit)) return;
    }
  }

  // False when no slot is free.
  bool start_reading(UnitId unit) {
    for (std::optional<Slot>& slot : slots_) {
      if (slot) continue;
      slot.emplace();
      slot->unit = unit;
      slot->pages = Mapping(weights_.unit_bytes(unit), Fault::kNow);
      slot->reading = std::async(std::launch::async, [this, unit, into = slot->pages.bytes()] {
        weights_.read_unit(unit, into);
      });
      bytes_read_ += weights_.unit_bytes(unit);
      return true;
    }
    return false;
  }

  const WeightFile& weights_;
  const Itinerary& itinerary_;
  int64_t visits_;
  std::array<std::optional<Slot>, 2> slots_{};
};

}  // namespace

std::unique_ptr<UnitLoader> make_unit_loader(StrategyKind strategy, const WeightFile& weights,
                                             const Itinerary& itinerary, int64_t units) {
  switch (strategy) {
    case StrategyKind::kResident:
      return std::make_unique<ResidentLoader>(weights, itinerary, units);
    case StrategyKind::kLayerwise:
      return std::make_unique<LayerwiseLoader>(weights, itinerary);
    case StrategyKind::kDoubleBuffer:
      return std::make_unique<DoubleBufferLoader>(weights, itinerary);
    case StrategyKind::kChunked:
    case StrategyKind::kMmap:
    case StrategyKind::kBlockCache:
      break;
  }
  check(false, "a replay is refused before it begins when it has no such strategy");
  return nullptr;
}

}  // namespace tidemark

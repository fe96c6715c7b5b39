#include <array>
#include <future>
#include <optional>

#include "planner/base/check.h"
#include "sim/replay/reading_thread.h"
#include "sim/replay/unit_loader.h"

namespace tidemark {
namespace {

// The simulator's two slots (double_buffer_loader.cpp) with a thread that makes a slot's pages and
// reads into them. The unit of the visit at hand is waited for first; then the free slot, if there
// is one, takes the next unit that is in neither.
class DoubleBufferLoader : public UnitLoader {
 public:
  explicit DoubleBufferLoader(const LoaderParts& parts)
      : parts_(parts), visits_(parts.itinerary.visits()) {}

  std::span<const std::byte> need(int64_t visit) override {
    const UnitId unit = parts_.itinerary.unit_at(visit);
    if (slot_of(unit) == nullptr) start_reading(unit);
    Slot* slot = slot_of(unit);
    check(slot != nullptr, "a slot is free for the visit at hand");
    if (slot->reading.valid()) slot->reading.get();
    read_ahead(visit);
    return slot->piece.bytes;
  }

  void done(int64_t visit) override {
    for (std::optional<Slot>& slot : slots_) {
      if (!slot || is_visited(slot->unit, visit + 1) || is_visited(slot->unit, visit + 2)) continue;
      slot.reset();
    }
  }

  void add_ranges(std::vector<AddressRange>& ranges) const override {
    for (const std::optional<Slot>& slot : slots_) {
      if (!slot) continue;
      slot->populated.wait();  // they count from the start of the read
      ranges.push_back(slot->piece.pages.range());
    }
  }

 private:
  struct Slot {
    UnitId unit{};
    LoadedPiece piece{};
    std::future<void> populated{};
    std::future<void> reading{};
  };

  bool is_visited(UnitId unit, int64_t visit) const {
    return visit < visits_ && parts_.itinerary.unit_at(visit) == unit;
  }

  Slot* slot_of(UnitId unit) {
    for (std::optional<Slot>& slot : slots_) {
      if (slot && slot->unit == unit) return &*slot;
    }
    return nullptr;
  }

  void read_ahead(int64_t visit) {
    for (int64_t ahead = visit + 1; ahead <= visit + 2 && ahead < visits_; ++ahead) {
      const UnitId unit = parts_.itinerary.unit_at(ahead);
      if (slot_of(unit) == nullptr && !start_reading(unit)) return;
    }
  }

  // False when no slot is free.
  bool start_reading(UnitId unit) {
    for (std::optional<Slot>& slot : slots_) {
      if (slot) continue;
      slot.emplace();
      slot->unit = unit;
      const Interval<Bytes> extent = parts_.layout.extent(unit);
      slot->piece = pages_for(extent);
      const Mapping& pages = slot->piece.pages;
      slot->populated = reader_.run([&pages] { pages.populate(); });
      slot->reading = reader_.run([this, extent, &pages] {
        read_piece(parts_.weights, extent, pages.bytes(), parts_.way);
      });
      bytes_read_ += parts_.layout.bytes(unit);
      return true;
    }
    return false;
  }

  LoaderParts parts_;
  int64_t visits_;
  std::array<std::optional<Slot>, 2> slots_{};
  ReadingThread reader_{};  // last, so that it is waited for before the pages go
};

}  // namespace

std::unique_ptr<UnitLoader> make_double_buffer_unit_loader(const LoaderParts& parts) {
  return std::make_unique<DoubleBufferLoader>(parts);
}

}  // namespace tidemark

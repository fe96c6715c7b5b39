// Loading strategies for real: a unit is resident from the moment its pages are made, at the start
// of its read, until they are given back. What is resident while a visit computes is what the
// simulator says (sim/strategy/weight_loader.h), because pages are made and released at the same
// places there and here; only how long a read takes is the machine's own.
//
// The run calls prepare once, then need and done in turn for visit 0, 1, 2, ...
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/replay/mapping.h"
#include "sim/replay/weight_file.h"
#include "sim/strategy/passes.h"

namespace tidemark {

class UnitLoader {
 public:
  UnitLoader() = default;
  virtual ~UnitLoader() = default;
  UnitLoader(const UnitLoader&) = delete;
  UnitLoader& operator=(const UnitLoader&) = delete;

  // All throw std::system_error.
  virtual void prepare() {}
  // The bytes of the visit's unit, valid until done(visit).
  virtual std::span<const std::byte> need(int64_t visit) = 0;
  virtual void done(int64_t /*visit*/) {}

  // The pages of the units held now.
  virtual void add_ranges(std::vector<AddressRange>& ranges) const = 0;
  Bytes bytes_read() const { return bytes_read_; }

 protected:
  Bytes bytes_read_{};
};

// Resident, layerwise or double-buffer. What it is given must outlive it.
std::unique_ptr<UnitLoader> make_unit_loader(StrategyKind strategy, const WeightFile& weights,
                                             const Itinerary& itinerary, int64_t units);

}  // namespace tidemark

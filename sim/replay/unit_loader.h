// Loading strategies for real: a unit is resident from the moment its pages are made, at the start
// of its read, until they are given back. What is resident while a visit computes is what the
// simulator says (sim/strategy/weight_loader.h), because pages are made and released at the same
// places there and here; only how long a read takes is the machine's own.
//
//   resident, layerwise, double-buffer, chunked   pages of this process alone, read past the page
//                                                 cache, or, where the file lies in it when the run
//                                                 begins (--page-cache warm), out of it
//   block-cache   the same; whom to evict is asked of the simulator's own cache (sim/memory)
//   mmap          pages of the file (mapped_weights.h); which are asked for, and which are dropped
//                 when there is room for less than the file, is asked of the simulator's own page
//                 cache
//
// The run calls prepare once, then need and done in turn for visit 0, 1, 2, ...
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/replay/mapping.h"
#include "sim/replay/unit_layout.h"
#include "sim/replay/weight_file.h"
#include "sim/strategy/passes.h"
#include "sim/strategy/weight_loader.h"

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

  // The pages of the units held now that are this process's own,
  virtual void add_ranges(std::vector<AddressRange>& ranges) const = 0;
  // and those that are a file's.
  virtual Bytes resident_of_file() const { return {}; }
  // Of a block cache; none otherwise.
  virtual const CacheStats* cache_stats() const { return nullptr; }
  Bytes bytes_read() const { return bytes_read_; }

 protected:
  Bytes bytes_read_{};
};

// What a loader is given must outlive it.
struct LoaderParts {
  const WeightFile& weights;
  const UnitLayout& layout;
  const Itinerary& itinerary;
  ReadWay way = ReadWay::kDirect;
};

std::unique_ptr<UnitLoader> make_resident_unit_loader(const LoaderParts& parts);
std::unique_ptr<UnitLoader> make_layerwise_unit_loader(const LoaderParts& parts);
std::unique_ptr<UnitLoader> make_double_buffer_unit_loader(const LoaderParts& parts);
std::unique_ptr<UnitLoader> make_cached_unit_loader(const LoaderParts& parts, BlockCache cache);
std::unique_ptr<UnitLoader> make_mapped_unit_loader(const LoaderParts& parts, MappedFile file,
                                                    bool is_cached);

// As the scenario says; `plan` is of it, and the simulator has accepted both (CHECK). The file is
// brought into the page cache or out of it first.
std::unique_ptr<UnitLoader> make_unit_loader(const Scenario& scenario, const MemoryPlan& plan,
                                             const LoaderParts& parts);

}  // namespace tidemark

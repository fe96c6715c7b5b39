#include "sim/replay/unit_loader.h"

#include <utility>

#include "planner/base/check.h"
#include "sim/memory/make_policy.h"
#include "sim/strategy/run_input.h"

namespace tidemark {
namespace {

// A unit in pages of its own, read when they are made.
LoadedPiece read_now(const LoaderParts& parts, UnitId unit) {
  LoadedPiece piece = pages_for(parts.layout.extent(unit));
  piece.pages.populate();
  read_piece(parts.weights, parts.layout.extent(unit), piece.pages.bytes(), parts.way);
  return piece;
}

class ResidentLoader : public UnitLoader {
 public:
  explicit ResidentLoader(const LoaderParts& parts) : parts_(parts) {}

  void prepare() override {
    for (int64_t i = 0; i < parts_.layout.units(); ++i) {
      loaded_.push_back(read_now(parts_, UnitId(i)));
      bytes_read_ += parts_.layout.bytes(UnitId(i));
    }
  }

  std::span<const std::byte> need(int64_t visit) override {
    return loaded_.at(parts_.itinerary.unit_at(visit).index()).bytes;
  }

  void add_ranges(std::vector<AddressRange>& ranges) const override {
    for (const LoadedPiece& piece : loaded_) ranges.push_back(piece.pages.range());
  }

 private:
  LoaderParts parts_;
  std::vector<LoadedPiece> loaded_{};
};

class LayerwiseLoader : public UnitLoader {
 public:
  explicit LayerwiseLoader(const LoaderParts& parts) : parts_(parts) {}

  std::span<const std::byte> need(int64_t visit) override {
    const UnitId unit = parts_.itinerary.unit_at(visit);
    loaded_ = read_now(parts_, unit);
    bytes_read_ += parts_.layout.bytes(unit);
    return loaded_.bytes;
  }

  void done(int64_t /*visit*/) override { loaded_ = {}; }

  void add_ranges(std::vector<AddressRange>& ranges) const override {
    ranges.push_back(loaded_.pages.range());
  }

 private:
  LoaderParts parts_;
  LoadedPiece loaded_{};
};

// As the simulator's (sim/strategy/simple_loaders.cpp): what is evicted goes before the read
// begins.
class CachedLoader : public UnitLoader {
 public:
  CachedLoader(const LoaderParts& parts, BlockCache cache)
      : parts_(parts), cache_(std::move(cache)) {
    held_.resize(static_cast<size_t>(parts.layout.units()));
  }

  std::span<const std::byte> need(int64_t visit) override {
    const UnitId unit = parts_.itinerary.unit_at(visit);
    const Access access = cache_.access(unit);
    check(access.outcome != AccessOutcome::kTooLarge, "every unit visited fits the cache");
    for (const UnitId evicted : access.evicted) held_.at(evicted.index()) = {};
    LoadedPiece& piece = held_.at(unit.index());
    if (access.outcome == AccessOutcome::kMiss) {
      piece = read_now(parts_, unit);
      bytes_read_ += parts_.layout.bytes(unit);
    }
    return piece.bytes;
  }

  void add_ranges(std::vector<AddressRange>& ranges) const override {
    for (const LoadedPiece& piece : held_) {
      if (!piece.pages.bytes().empty()) ranges.push_back(piece.pages.range());
    }
  }

  const CacheStats* cache_stats() const override { return &cache_.stats(); }

 private:
  LoaderParts parts_;
  BlockCache cache_;
  std::vector<LoadedPiece> held_{};  // by unit
};

RunInput input_of(const Scenario& scenario, const MemoryPlan& plan) {
  Result<RunInput> input = run_input(scenario, plan, {.steps = true});
  check(input.ok(), "the simulator has accepted the scenario");
  return std::move(input).value();
}

BlockCache cache_of(const Scenario& scenario, const MemoryPlan& plan) {
  const RunInput input = input_of(scenario, plan);
  std::vector<Bytes> sizes;
  for (const WeightUnit& unit : plan.units) sizes.push_back(unit.bytes);
  std::vector<UnitId> sequence;
  for (int64_t visit = 0; visit < input.itinerary.visits(); ++visit) {
    sequence.push_back(input.itinerary.unit_at(visit));
  }
  auto policy = make_policy(name_of(scenario.cache.policy),
                            {.sizes = sizes, .sequence = sequence, .seed = scenario.seed});
  return BlockCache(std::move(sizes), input.cache_capacity, std::move(policy), input.pinned);
}

// Where the file lies when the run begins, and so how units are read; a mapped file sees to that
// itself.
ReadWay begin_with(const LoadChoices& load, const ScratchFile& file) {
  if (load.is_cached) {
    file.read_through();
    return ReadWay::kCached;
  }
  file.forget(0, file.size());
  return ReadWay::kDirect;
}

}  // namespace

std::unique_ptr<UnitLoader> make_resident_unit_loader(const LoaderParts& parts) {
  return std::make_unique<ResidentLoader>(parts);
}

std::unique_ptr<UnitLoader> make_layerwise_unit_loader(const LoaderParts& parts) {
  return std::make_unique<LayerwiseLoader>(parts);
}

std::unique_ptr<UnitLoader> make_cached_unit_loader(const LoaderParts& parts, BlockCache cache) {
  return std::make_unique<CachedLoader>(parts, std::move(cache));
}

std::unique_ptr<UnitLoader> make_unit_loader(const Scenario& scenario, const MemoryPlan& plan,
                                             const LoaderParts& parts) {
  if (scenario.strategy == StrategyKind::kMmap) {
    const Bytes capacity = input_of(scenario, plan).cache_capacity;
    return make_mapped_unit_loader(parts, MappedFile(scenario, plan.units, capacity),
                                   scenario.load.is_cached);
  }
  const LoaderParts read{.weights = parts.weights,
                         .layout = parts.layout,
                         .itinerary = parts.itinerary,
                         .way = begin_with(scenario.load, parts.weights.file())};
  switch (scenario.strategy) {
    case StrategyKind::kLayerwise:
      return make_layerwise_unit_loader(read);
    case StrategyKind::kDoubleBuffer:
    case StrategyKind::kChunked:
      return make_double_buffer_unit_loader(read);
    case StrategyKind::kBlockCache:
      return make_cached_unit_loader(read, cache_of(scenario, plan));
    case StrategyKind::kResident:
    case StrategyKind::kMmap:
      break;
  }
  return make_resident_unit_loader(read);
}

}  // namespace tidemark

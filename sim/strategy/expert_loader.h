// A run of a mixture whose experts come and go: what is not an expert is read before the first pass
// and stays; the experts of a layer are read, each in one request at a random place, when a token
// of the pass is sent to them and they are not in the cache.
//
// Which experts a token is sent to is made up (sim/memory/expert_routing.h). A pass of several
// tokens asks for each expert once, in the order of the first token that needs it; an expert that
// was read is computed before the next one may take its place, so a prefill that needs more experts
// than are kept still runs. Reads are not hidden: the router knows them only within its layer.
//
//   1 layer of 4 experts of 100 B, 2 used, 2 kept, lru, storage 1 B/ns; tokens sent to ab, ab, cb:
//     prefill of one token: a b read, 200 ns    decode 0: hits    decode 1: c for a, 100 ns; b hits
//   decode: 3 hits, 1 miss, 50 B a token. Checked by ExpertCachesTest.WorkedInTheHeader.
//
// With N slots a layer each layer has a cache of its own; with SIZE there is one for all of them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "planner/capacity/memory_plan.h"
#include "planner/report/report.h"
#include "sim/memory/expert_routing.h"
#include "sim/strategy/run_input.h"
#include "sim/strategy/weight_loader.h"

namespace tidemark {

// The units of a run that moves experts: the plan's without their experts, then every expert.
struct ExpertUnits {
  RoutingOptions routing{};
  std::vector<WeightUnit> units{};
  size_t dense = 0;                 // of them, at the front
  std::vector<int64_t> layer_of{};  // by the plan's units: number of the layer, -1 = no experts
  std::vector<Bytes> expert{};      // by that number: bytes of one

  UnitId unit_of(int64_t layer, UnitId expert_id) const {
    return UnitId::of(static_cast<int64_t>(dense) + layer * routing.n_expert + expert_id.value());
  }
  Bytes largest() const;
};

// Nothing for a model without experts, or whose layers differ in their number.
std::optional<ExpertUnits> expert_units(const Scenario& scenario, const MemoryPlan& plan);

// Which experts the passes ask for, layer by layer; the same from the same seed.
class ExpertRouter {
 public:
  explicit ExpertRouter(const RoutingOptions& options);
  // Of the layer's next tokens, so many: each expert once, in the order of the first that needs it.
  std::vector<UnitId> route(int64_t layer, int64_t tokens);

 private:
  std::vector<bool> is_wanted_{};  // by expert; all false between two calls
  std::vector<LayerRouting> layers_{};
};

// Experts in caches, and what became of the accesses.
class ExpertCaches {
 public:
  // `input`: of the run, for a policy that must know what comes.
  ExpertCaches(const Scenario& scenario, const ExpertUnits& units, const RunInput& input);

  // Of that layer's cache. Units of the run.
  Access access(int64_t layer, UnitId expert, Phase phase);

  Bytes capacity() const;
  // Falls by `excess` below what is held now, by whole slots where layers have slots; to what a
  // token uses at least. The units of the run that went.
  std::vector<UnitId> shrink(Bytes excess);

  void add_to(SimReport& report, int64_t decode_passes) const;

 private:
  struct Place {
    size_t cache = 0;
    UnitId block{};
  };
  Place place_of(int64_t layer, UnitId expert) const;
  // The same the other way round.
  std::vector<UnitId> units_of(size_t cache, const std::vector<UnitId>& blocks) const;
  std::vector<std::vector<UnitId>> sequences(const RunInput& input) const;

  const Scenario& scenario_;
  const ExpertUnits& units_;
  std::vector<BlockCache> caches_{};
  int64_t slots_ = 0;  // of each layer; 0 = one cache for all of them
  int64_t decode_hits_ = 0;
  int64_t decode_misses_ = 0;
  Bytes decode_read_{};
};

std::unique_ptr<WeightLoader> make_expert_loader(WeightStore& store, const RunInput& input,
                                                 const ExpertUnits& units, ExpertCaches& caches);

}  // namespace tidemark

// The weights of one run: in which files they lie, what reads them, the cache or the mapping that
// the strategy keeps them in, and how far they have come.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "planner/capacity/memory_plan.h"
#include "planner/report/report.h"
#include "sim/core/trace.h"
#include "sim/strategy/expert_loader.h"
#include "sim/strategy/hot_rows.h"
#include "sim/strategy/load_progress.h"
#include "sim/strategy/run_input.h"
#include "sim/strategy/weight_loader.h"
#include "sim/strategy/weight_store.h"

namespace tidemark {

// Is what is loaded a mapping of the file, so that memory that is short drops it?
bool weights_stay_in_file(const Scenario& scenario);

class RunWeights {
 public:
  // `input` is followed while it changes; `trace` may be null.
  RunWeights(Simulation& simulation, const Scenario& scenario, const MemoryPlan& plan,
             const RunInput& input, MemoryLedger& ledger, Trace* trace);

  // Of the scenario's strategy. Once; for several processes over one mapping once for each.
  std::unique_ptr<WeightLoader> make_loader();

  WeightStore& store() { return store_; }
  const WeightStore& store() const { return store_; }
  BlockCache* cache() { return cache_ ? &*cache_ : nullptr; }
  ExpertCaches* experts() { return expert_caches_ ? &*expert_caches_ : nullptr; }
  MappedFile* mapped() { return mapped_ ? &*mapped_ : nullptr; }

  // Reads, faults, hits, notes and the events of loading.
  void add_to(SimReport& report);

 private:
  // What is moved: the plan's units, or those of a run of which some parts come and go.
  const std::vector<WeightUnit>& units() const;
  std::unique_ptr<WeightLoader> make_resident_part();
  void add_cache(SimReport& report) const;

  const Scenario& scenario_;
  const MemoryPlan& plan_;
  const RunInput& input_;
  MemoryLedger& ledger_;
  std::optional<WeightFiles> files_{};
  std::optional<ExpertUnits> experts_{};
  std::optional<RowUnits> rows_{};
  LoadProgress progress_;
  WeightStore store_;
  std::optional<MappedFile> mapped_{};
  std::optional<BlockCache> cache_{};
  std::optional<ExpertCaches> expert_caches_{};
  CachePrefetch prefetch_{};
};

}  // namespace tidemark

// What a run gives up when memory gets short: the actions of `adapt`, one between two passes.
//
// Memory is short when the process's own memory is above app_available (or the budget) less the
// margin: the states "approaching limit" and "critical" of system_watch.h. If it was short at any
// moment of a pass, or still is, the first action of the list that can be taken is taken before the
// next one, and so again as long as it lasts. Excess: the most it was above that line.
//
//   action            what it does                                     it cannot be taken
//   drop-prefetch     double-buffer, chunked: one slot instead of      without one, or again
//                     two; mmap: nothing is asked for ahead
//   shrink-cache      the capacity of the block cache, or of the       without one; at the least
//                     experts' caches, falls by the excess             that serves every visit, or
//                                                                      what a token uses
//   shrink-ubatch     prefill passes to come take half the tokens,     below 32 tokens; where the
//                     the arena is that of the plan for so many        arena is not ours to plan
//   shorten-context   generation stops at the cells reached            before it has begun
//   spill-kv          so much less of the KV cache stays; the slots    by engines that keep it all;
//                     for reading back are counted                     when nothing is left
//
// Pages of a mapped file are nobody's own memory: the system drops them by itself, so the page
// cache is not shrunk here. Writing spilled cells out takes no time (kv_cells.h).
//
//   A cache of 600 B over layers of 100, 200 and 300 B, a line of 540 B: the first pass fills it,
//   60 B too much. shrink-cache: 540 B from the second pass on, in which nothing is short.
//   Checked by ControlTest.ShrinkCache. Experts: ControlTest.ShrinkCacheOfExperts.
#pragma once

#include <optional>
#include <vector>

#include "sim/core/trace.h"
#include "sim/strategy/expert_loader.h"
#include "sim/strategy/kv_cells.h"
#include "sim/strategy/run_input.h"
#include "sim/strategy/system_watch.h"
#include "sim/strategy/weight_loader.h"

namespace tidemark {

// Below it, a pass costs much and its arena is next to nothing.
inline constexpr int64_t kLeastUbatch = 32;

struct ControlParts {
  Simulation& simulation;
  const Scenario& scenario;
  const MemoryPlan& plan;
  RunInput& input;  // its passes and itinerary change
  WeightLoader& loader;
  WeightStore& store;
  KvCells& cells;
  MemoryLedger& ledger;
  SystemWatch& watch;
  BlockCache* cache = nullptr;      // null = there is none
  ExpertCaches* experts = nullptr;  // likewise
  Trace* trace = nullptr;           // null = none wanted
};

class Control {
 public:
  explicit Control(const ControlParts& parts) : parts_(parts) {}

  // What is resident has changed, and the watch knows.
  void on_change(const CurvePoint& now);
  void before_pass(int64_t next);

 private:
  // What was done, "" when the action cannot be taken.
  std::string take(AdaptAction action, int64_t next);
  std::string shrink_cache();
  std::string shrink_experts();
  std::string shrink_ubatch(int64_t next);
  std::string shorten_context(int64_t next);
  std::string spill_kv();
  Bytes excess() const;
  void tell(std::string detail, size_t place);

  ControlParts parts_;
  std::optional<CurvePoint> worst_{};  // since the last pass, when it was short
  bool has_given_up_ = false;
  bool has_least_arena_ = false;  // half the ubatch was planned, and is no smaller
};

}  // namespace tidemark

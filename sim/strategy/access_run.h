// A given list of accesses instead of a model's passes: each waits for its unit and computes
// nothing. This is how a cache trace is replayed; the handlers read as the decoder's do.
#pragma once

#include "sim/strategy/memory_ledger.h"
#include "sim/strategy/passes.h"
#include "sim/strategy/weight_loader.h"

namespace tidemark {

class AccessRun {
 public:
  AccessRun(Simulation& simulation, const Itinerary& accesses, WeightLoader& loader,
            MemoryLedger& ledger);

  void start();

  Duration stall() const { return stall_; }

 private:
  void on_prepared();
  void start_access();
  void on_unit_resident();

  Simulation& simulation_;
  const Itinerary& accesses_;
  WeightLoader& loader_;
  MemoryLedger& ledger_;
  int64_t access_ = 0;
  SimTime waiting_since_{};
  Duration stall_{};
};

}  // namespace tidemark

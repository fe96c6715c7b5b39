// Several processes that map one model file, one after the other: each starts when the one before
// it has ended its answer, and stays open. Pages of the file are there once for all of them; what a
// process has of its own (KV cache, arena, output, runtime) is there once for each.
//
//   a file of 1,000 pages that fits, 100 pages of own memory each
//                      reads    RSS      PSS       the system holds
//   1 has answered     1,000    1,100    1,100     1,100
//   2 has answered         0    1,100      600     1,200 = 1,000 + 2 x 100
//                               (and 1 likewise)   the sum of the PSS; of the RSS it is 2,200
//   Checked by ProcessesTest.WorkedInTheHeader.
//
// Own memory of a further process takes the room of pages: unless the cache's size was stated, the
// limit of the page cache falls to what all processes leave of the device's. Live activations are
// there once: only the process that answers has some.
#pragma once

#include <memory>
#include <vector>

#include "planner/capacity/memory_plan.h"
#include "planner/report/report.h"
#include "sim/core/trace.h"
#include "sim/strategy/decoder.h"
#include "sim/strategy/run_weights.h"

namespace tidemark {

class Processes {
 public:
  // `own`: what each has beside the file, but for live activations.
  Processes(const Simulation& simulation, const Scenario& scenario, const MemoryPlan& plan,
            const CurvePoint& own, RunWeights& weights, MemoryLedger& ledger);

  // The loader of the next one, which tells this what is mapped. The first one's memory is there.
  std::unique_ptr<WeightLoader> start_next();
  // It has ended.
  void note_end(const Decoder& decoder, int64_t decode_passes);

  void add_to(SimReport& report);

 private:
  struct Open {
    std::vector<ViewId> views{};
    Bytes read_before{};
    int64_t major_before = 0;
    int64_t minor_before = 0;
    Bytes mapped{};  // when it was last noted
  };

  void shrink_page_cache();
  void note_mapped();
  Bytes sum(const Open& process, Bytes (PageCache::*of)(ViewId) const) const;

  const Simulation& simulation_;
  const Scenario& scenario_;
  const MemoryPlan& plan_;
  CurvePoint own_;
  RunWeights& weights_;
  MemoryLedger& ledger_;
  std::vector<Open> open_{};
  std::vector<ProcessFacts> facts_{};  // of each in open_
};

// RSS and PSS of each process, where they change.
void trace_processes(const std::vector<ProcessFacts>& processes, Trace& trace);

}  // namespace tidemark

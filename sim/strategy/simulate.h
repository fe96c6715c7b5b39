// Replays load / compute / release of a planned scenario on its device, event by event.
//
// A run: read weights as the strategy says, prefill the prompt in ubatches, then one decode pass
// per further token (the first token comes out of the prefill). Time 0 is a cold start: nothing of
// the model is in memory.
//
//   strategy        resident while computing visit i          reads
//   resident        all units                                 once, before the first pass
//   layerwise       unit i, released after its visit          every visit, not overlapped
//   double-buffer   units i and i+1                           visit i+1 while i computes
//   block-cache     what the policy keeps                     on a miss
//
// What an engine reserves (KV cache, output, runtime, the arena) is resident from time 0; where it
// allocates activations one by one instead, the compute part follows what is live. A unit is
// resident from the start of its read. The founding demo, layer sizes and live activations:
// layerwise 864 MB, double-buffer 1464 MB, resident 3400 + 256 MB. Checked by FoundingDemoTest.
#pragma once

#include "planner/capacity/memory_plan.h"
#include "planner/report/report.h"
#include "sim/core/trace.h"

namespace tidemark {

struct SimResult {
  SimReport report{};
  Trace trace{};  // empty unless asked for
  std::vector<CurvePoint>
      steps{};  // what is resident at the end of each step, over all passes; empty unless asked for
};

struct SimOptions {
  bool curve = true;  // false: memory for what is resident, not for what happened
  bool trace = false;
  bool steps = false;  // of an access list there are none
};

// Bad input (a unit that does not exist, a block larger than the cache, more work than a run may
// take) comes back as diagnostics. With scenario.trace, its accesses replace the passes: nothing is
// computed and no token comes out, so ttft is 0 and tpot undefined. peak_step counts steps, or
// accesses.
Result<SimResult> simulate(const Scenario& scenario, const MemoryPlan& plan,
                           SimOptions options = {});

}  // namespace tidemark

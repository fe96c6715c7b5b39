// Several requests served by one model that is resident: the rounds of serving_queue.h, timed.
//
// Weights are loaded first; requests that come meanwhile wait. A round's prefill pass and decode
// pass are computed one after the other, each reads the weights once and costs what
// serving_cost.h says. Requests that arrive during a round are seen at its end.
//
// The KV cache is a pool. kv_growth whole: a context for each of `parallel` sequences, or as many
// as there is room for, all there from the start. kv_growth blocks: blocks of `kv_block` tokens,
// counted as they are held; the pool is what bounds them. Its size is kv_pool, or what the limit
// leaves, and no more than all sequences can fill. A pool nobody asked for that is too small for
// the longest request gives way to it. Layers that see a window are counted as if they kept all
// cells.
//
//   whole, contexts of 256 cells, room for 1,024: 4 requests together, whatever their lengths
//   blocks of 16, the same room: 64 blocks; requests of 97 to 112 tokens hold 7 each: 9 together
//   Checked by ServingRunTest.BlocksServeMoreTogether.
#pragma once

#include "sim/strategy/simulate.h"

namespace tidemark {

// Bounds of one run, beside kMostRequests.
inline constexpr int64_t kMostServedPasses = 1'000'000;
inline constexpr int64_t kMostServedTokens = 10'000'000;

// `scenario.serving` names requests. Refused: a strategy other than resident, a model that does not
// decode or keeps no KV cache, choices that mean one prompt (adapt, kv_resident, a trace of units),
// a pool too small for a request, more passes or tokens than above.
Result<SimResult> simulate_serving(const Scenario& scenario, const MemoryPlan& plan,
                                   SimOptions options);

}  // namespace tidemark

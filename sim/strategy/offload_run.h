// Layers that move between storage, main memory and an accelerator while many batches pass through
// them: FlexGen's block schedule (arXiv 2303.06865, section 3 and experimental/cost_model.py of its
// repository), as events on six servers: two ways of the link, two ways of the storage, the
// accelerator and the main processor.
//
// A pass takes one layer after another for all `batches` x `parallel` sequences; a layer ends when
// all it moves and computes has ended. Time to the right:
//
//   prefill   storage -> device ........   decode   to device, then
//             device -> storage ....                  from device ..    from storage .......
//             products and attention ............     to storage .      products, host attention
//             ...
//   load_overlap off: the same one after another.
//
//   What a layer moves: w its weights, c cache rows a sequence and cell, h a hidden state, b
//   sequences, s tokens of the prompt, k cells attended. Shares: of a cache off the device, c is
//   moved out as it is made; attention over it is the main processor's in decode.
//     to device      w (off device) + h b s (off device)               1 for s in decode
//     from device    c b s (off device) + h b s (off device)
//     from storage   w (stored) + h b s (stored), in decode also c b k (stored)
//     to storage     c b s (stored) + h b s (stored)
//
// Of embedding and head neither time nor bytes are counted, as there. Checked by OffloadRunTest
// and, against the published runs, PublishedTest.
#pragma once

#include "planner/capacity/memory_plan.h"
#include "sim/strategy/simulate.h"

namespace tidemark {

// `scenario.offload` is given. The report is of the whole block: tokens_per_second of its decode
// passes, an event at the end with the rate over both phases. Refused: a model that is no stack of
// plain attention layers, a prompt of no tokens.
Result<SimResult> simulate_offload(const Scenario& scenario, const MemoryPlan& plan,
                                   SimOptions options);

}  // namespace tidemark

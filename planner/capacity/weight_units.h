// Weight units: what a loading strategy moves. The simulator and the replay see units and ops,
// never layers. A transformer has token_embd, one unit per layer, and output (final norm and head;
// a tied head uses token_embd again, so that unit is visited twice in a pass).
//
//   uses of a 2-layer tied model, 17 ops a layer (select_rows falls to the visit it follows):
//     token_embd [0,1)  blk.0 [1,18)  blk.1 [18,36)  output [36,37)  token_embd [37,38)
//   Checked by UnitUsesTest.TwoLayerTiedModel.
#pragma once

#include <string>
#include <vector>

#include "planner/base/interval.h"
#include "planner/capacity/scenario.h"
#include "planner/graph/schedule.h"
#include "planner/model/weights.h"

namespace tidemark {

struct WeightUnit {
  std::string name{};  // "token_embd", "blk.0", "output"
  Bytes bytes{};
  std::vector<WeightId> tensors{};
};

// One visit: the steps [first, last + 1) of a pass that need the unit. Visits of a pass cover its
// steps without gap or overlap, in order.
struct UnitUse {
  UnitId unit{};
  Interval<StepIndex> steps{};
};

// `embedding_rows` > 0: the token embedding lives in flash, and its unit is a buffer of that many
// rows.
std::vector<WeightUnit> weight_units(const WeightsInventory& weights, int64_t embedding_rows = 0);

// The same weights in chunks, for the strategy of that name.
//   layers k:  what stands before the layers + the first layer, then k layers a chunk, the rest
//              alone. 6 layers, k = 2: token_embd-blk.0  blk.1-blk.2  blk.3-blk.4  blk.5  output
//   parts p:   each layer in at most p units of consecutive tensors, about alike in bytes, a bias
//              with its matrix: blk.0/1  blk.0/2
//   Checked by ChunkedUnitsTest.SixLayers and HalvesOfALayer.
std::vector<WeightUnit> chunked_units(const std::vector<WeightUnit>& units,
                                      const WeightsInventory& weights, int64_t layers);
std::vector<WeightUnit> parted_units(const std::vector<WeightUnit>& units,
                                     const WeightsInventory& weights, int64_t parts);

std::vector<UnitUse> unit_uses(const std::vector<WeightUnit>& units, const Graph& graph,
                               const Schedule& schedule);

// Most weight bytes resident at once under a strategy:
//   resident sum of units; layerwise max w_i; double-buffer max (w_i + w_(i+1)) over consecutive
//   visits, cyclic; chunked likewise; mmap and block-cache min(capacity, sum).
Bytes resident_weight_bytes(StrategyKind strategy, const std::vector<WeightUnit>& units,
                            const std::vector<UnitUse>& uses, Bytes cache_capacity);

}  // namespace tidemark

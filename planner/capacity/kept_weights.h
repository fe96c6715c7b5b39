// Weights of which a part is kept and the rest comes when it is needed: units in a block cache or
// mapped pages, experts of a mixture (--expert-cache), neurons of the feed-forwards (--hot-rows).
// Of the last two, what the resident strategy holds:
//
//   2 layers of 100 B, of which 80 B are 4 experts, and 10 B beside:
//     2 slots a layer     10 + 2 x (20 + 2 x 20) = 130 B
//     50 B in all         10 + 2 x 20 + 50       = 100 B
//   2 layers of 100 B, of which 60 B are 6 neurons, half of them hot:
//     10 + 2 x 70, and while a prompt is in one layer that layer's other 30 B: 180 B
//   Checked by KeptWeightsTest.WorkedInTheHeader and RowsOfTheHeader.
#pragma once

#include <vector>

#include "planner/capacity/scenario.h"
#include "planner/capacity/weight_units.h"

namespace tidemark {

// Is it a matrix, or a bias, of all experts of a layer of the main stack?
bool is_expert(const WeightTensor& tensor);

// Of all experts of the unit.
Bytes expert_bytes(const WeightUnit& unit, const WeightsInventory& weights);

// What of one unit is not kept.
struct ColdPart {
  int64_t neurons = 0;
  int64_t kept = 0;
  int64_t read = 0;           // by one token
  std::vector<Bytes> rows{};  // of one neuron, matrix by matrix; none without a feed-forward

  Bytes neuron() const;
  Bytes cold() const { return neuron() * (neurons - kept); }
};
ColdPart cold_part(const WeightUnit& unit, const WeightsInventory& weights,
                   const TransformerSpec& spec, const HotRows& choice);

// Does a plan count a part of the weights? By our own arena, held resident.
bool keeps_in_part(const Scenario& scenario);

// Most of them at once, when all caches are full; all units' bytes where nothing comes and goes. A
// cache holds the experts that a token uses at least.
Bytes kept_weight_bytes(const Scenario& scenario, const std::vector<WeightUnit>& units,
                        const WeightsInventory& weights);

// What a block cache or mapped pages hold: as asked for, else what the limit leaves after
// everything else, but room for the largest unit and no more than all of them.
Bytes cache_capacity(const Scenario& scenario, const std::vector<WeightUnit>& units,
                     const std::vector<UnitUse>& uses, Bytes everything_else);

}  // namespace tidemark

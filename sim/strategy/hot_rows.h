// A run that keeps a share of the feed-forward's neurons and reads of the others, token by token,
// those that the token needs: the layout of LLM in a flash (arXiv 2312.11514) and PowerInfer-2
// (arXiv 2406.06282). A neuron is a row of gate and of up and a column of down; the file is taken
// to hold that column in one piece. How many neurons a token needs is stated, not predicted.
//
//   a layer of 64 neurons, gate, up and down of 64 B each a neuron; hot 25 %, cold 10 %
//   kept       16 neurons: 3,072 B     in storage 48: 9,216 B
//   a token    ceil(48 x 10 %) = 5 neurons: 960 B, in 5 requests of 192 B when bundled, else in 15
//              of 64 B, at random places
//   Checked by HotRowsTest.WorkedInTheHeader.
//
// A pass of several tokens is taken to need all neurons: it reads a layer's cold part whole, in one
// stretch. What was read is released after its layer; a window over tokens is not kept (its hits
// can be left out of the cold share). Reads are not hidden, and the layer computes as if it were
// dense.
#pragma once

#include <memory>
#include <vector>

#include "planner/capacity/kept_weights.h"
#include "planner/capacity/memory_plan.h"
#include "planner/report/report.h"
#include "sim/strategy/run_input.h"
#include "sim/strategy/weight_loader.h"

namespace tidemark {

// The plan's units without what is not kept, then two for each layer with a feed-forward: what one
// token reads of it, and all of it.
struct RowUnits {
  std::vector<WeightUnit> units{};
  size_t kept = 0;                  // of them, at the front
  std::vector<int64_t> layer_of{};  // by the plan's units: index into layers, -1 = none
  std::vector<ColdPart> layers{};

  UnitId of_token(int64_t layer) const {
    return UnitId::of(static_cast<int64_t>(kept) + 2 * layer);
  }
  UnitId whole(int64_t layer) const { return UnitId(of_token(layer).value() + 1); }
};

// Requires scenario.residency.rows.
RowUnits row_units(const Scenario& scenario, const MemoryPlan& plan);

ColdRowFacts cold_row_facts(const RowUnits& units, bool is_bundled);

std::unique_ptr<WeightLoader> make_row_loader(WeightStore& store, const Scenario& scenario,
                                              const RunInput& input, const RowUnits& units);

}  // namespace tidemark

// Which weight units llama.cpp copies to a device (-ngl): a run that maps the file reads those once
// and then no more.
//
//   80 layers, -ngl 22: the output and the last 21 layers are on the device, blk.59 to blk.79.
//   Checked by DeviceUnitsTest.TheOutputAndTheLastLayersGoFirst.
#pragma once

#include <vector>

#include "planner/capacity/weight_units.h"

namespace tidemark {

// By unit; none under engines that know no devices, and of a list of layers. Weights placed by hand
// (--override-tensor, --n-cpu-moe) are not followed: their unit counts where its layer is.
std::vector<bool> units_on_device(const Scenario& scenario, const std::vector<WeightUnit>& units,
                                  const WeightsInventory& weights);

}  // namespace tidemark

// Parts of a device file that most devices do not have: `compute_rates`, `op_overhead`, `cores`,
// `zram`, `energy`.
#pragma once

#include "planner/capacity/device_spec.h"
#include "planner/config/yaml_reader.h"

namespace tidemark {

// Of the device's mapping, after `swap` and `estimates`; problems go to its document. Rates that
// are marked as estimates are named in `estimates`; cores are where a run asks for some of them.
void read_device_parts(YamlMap& map, DeviceSpec& device);

}  // namespace tidemark

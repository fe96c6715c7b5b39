// The key `op_rates` of a device: kernels that were measured.
#pragma once

#include <vector>

#include "planner/capacity/op_rate.h"
#include "planner/config/yaml_reader.h"

namespace tidemark {

// Of the device's mapping; problems go to its document.
std::vector<OpRate> read_op_rates(YamlMap& map);

}  // namespace tidemark

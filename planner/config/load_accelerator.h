// The part `accelerator` of a device file.
#pragma once

#include <optional>

#include "planner/capacity/accelerator.h"
#include "planner/config/yaml_reader.h"

namespace tidemark {

// All its keys are required; nullopt when the file has no such part.
std::optional<Accelerator> read_accelerator(YamlMap& map);

}  // namespace tidemark

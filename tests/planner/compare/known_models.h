#pragma once

#include <vector>

#include "planner/model/model_spec.h"

namespace tidemark {

// The models that come with the program, read once.
const std::vector<ModelSpec>& known_models();
ModelSpec known_model(const std::string& name);

}  // namespace tidemark

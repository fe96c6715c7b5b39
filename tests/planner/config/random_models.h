// Random models of every kind that a model file can say, for laws.
#pragma once

#include "planner/model/model_spec.h"

namespace tidemark::testing {

// Draws from RapidCheck; call inside a property.
ModelSpec random_model();

}  // namespace tidemark::testing

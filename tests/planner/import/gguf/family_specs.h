// Random models of an architecture: any mix of layers that its GGUF files can hold.
#pragma once

#include "planner/import/gguf/architecture.h"
#include "planner/model/model_spec.h"

namespace tidemark::testing {

// To be called inside rc::check. Widths are small; what the keys state once is the same in all
// layers, what they state by layer differs.
ModelSpec random_model(const GgufArchitecture& architecture);

}  // namespace tidemark::testing

// The "<architecture>.*" keys that say how wide a model is: what widths.h reads.
#pragma once

#include "planner/import/gguf/architecture.h"
#include "planner/import/gguf/key_writer.h"
#include "planner/model/model_spec.h"

namespace tidemark {

// `spec` with all its stacks counted. A width that differs between layers where GGUF has one value
// is a problem of `keys`.
void write_model_keys(const GgufArchitecture& architecture, const TransformerSpec& spec,
                      GgufKeyWriter& keys);

}  // namespace tidemark

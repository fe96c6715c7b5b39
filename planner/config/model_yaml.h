// ModelSpec -> model file: the shortest text that parse_model() reads as the same model.
//
//   Gemma-3-1B:  n_layer: 26                  what has its default is not said
//                kinds:
//                  sliding: {window: 512}     equal layers are one kind, and what all kinds have
//                  full: {}                   in common stands at the top
//                layer_order: [5 sliding, full]
//
// Law: parse_model(model_to_yaml(m)) == m for every m that a model file can say. Left out are
// `stored` (a file's own tensors) and, of `stored_as`, all but its name.
// Checked by ModelYamlTest.EveryModelReadsBack.
#pragma once

#include <string>

#include "planner/model/model_spec.h"

namespace tidemark {

// Name, architecture and source must not be empty, or the reader asks for them.
std::string model_to_yaml(const ModelSpec& model);

// The part of it that sizes depend on: no schema, name, source and comment.
std::string model_dims_to_yaml(const ModelSpec& model);

}  // namespace tidemark

// The layers of a model file, main ones or those of a stack, from the mapping that holds their
// keys.
//
//   n_head: 4                           every layer's, unless its kind says otherwise
//   kinds:
//     sliding: {window: 512}
//     full: {}
//   layer_order: [5 sliding, full]      repeated until n_layer is reached
//
// A kind takes over every key of the mapping around it but those of the mixer when it names another
// one. Without kinds all layers are alike.
#pragma once

#include <string_view>
#include <vector>

#include "planner/config/layer_keys.h"
#include "planner/config/yaml_reader.h"

namespace tidemark {

// Of the layers being read; 0 = missing or wrong, already reported.
struct LayerContext {
  int64_t n_embd = 0;
  int64_t n_layer = 0;
  bool rotates = true;  // by rotary position embedding, which turns pairs of values
};

// As many layers as the context says.
std::vector<LayerSpec> read_layers(YamlMap& map, const LayerContext& context);

// The optional keys of every kind of mapping; the value given where there is none.
NormKind read_norm(YamlMap& map, std::string_view key, NormKind otherwise);
std::vector<ExtraWeight> read_extras(YamlMap& map, std::string_view key, int64_t most);
ImageSpec read_image(YamlMap& map);

// `stacks`: encoder, towers and draft heads, in load_stacks.cpp.
std::vector<StackSpec> read_stacks(YamlMap& map);

}  // namespace tidemark

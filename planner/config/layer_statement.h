// What a model file has to say of one layer: its keys as text, without those that have their
// defaults. Used by model_yaml.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/model/model_spec.h"

namespace tidemark {

struct KeyText {
  std::string key{};
  std::string text{};                // "64", "{n_head: 8, head_dim: 64}"
  std::vector<std::string> items{};  // of a list of mappings; then `text` is empty
  bool operator==(const KeyText&) const = default;
};

// Read back in a layer of this mixer with these keys and no others, it is the layer again.
struct LayerStatement {
  std::string mixer{};
  std::vector<KeyText> of_mixer{};  // keys that mean something else, or nothing, in another mixer
  std::vector<KeyText> common{};
};

LayerStatement state_layer(const LayerSpec& layer, int64_t n_embd);

// Plain where YAML reads it back as it is, else in double quotes, with a blank for each control
// character.
std::string yaml_text(std::string_view text);

// "{n_head: 8, head_dim: 64}"
std::string flow_mapping(const std::vector<KeyText>& entries);

std::vector<std::string> extras_items(const std::vector<ExtraWeight>& extras);
std::string image_mapping(const ImageSpec& image);

}  // namespace tidemark

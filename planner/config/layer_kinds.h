// Layers grouped into kinds: equal ones are one kind, named by what sets it apart.
//
//   26 layers of Gemma-3-1B, five with a window and one without, and so on
//     -> kinds sliding, full; order [5 sliding, full]
//   Checked by ModelYamlTest.LayersThatAlternate.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planner/model/layer_spec.h"

namespace tidemark {

struct LayerKinds {
  std::vector<LayerSpec> kinds{};    // in order of appearance
  std::vector<std::string> names{};  // one a kind, all different
  std::vector<size_t> order{};       // the kind of every layer
};

LayerKinds group_layers(const std::vector<LayerSpec>& layers);

// "[5 sliding, full]": the shortest pattern that gives the order when it is repeated, in runs.
std::string order_text(const LayerKinds& kinds);

}  // namespace tidemark

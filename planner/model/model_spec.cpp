#include "planner/model/model_spec.h"

namespace tidemark {

int64_t ModelSpec::n_layer() const {
  if (const LayerListSpec* list = layer_list()) return static_cast<int64_t>(list->layers.size());
  return static_cast<int64_t>(transformer()->layers.size());
}

}  // namespace tidemark

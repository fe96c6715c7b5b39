#include "known_models.h"

#include <stdexcept>

#include "planner/config/load.h"

namespace tidemark {

const std::vector<ModelSpec>& known_models() {
  static const std::vector<ModelSpec> kModels = [] {
    std::vector<ModelSpec> models;
    for (const std::string& name : list_configs(ConfigKind::kModel)) {
      models.push_back(load_model(name).value());
    }
    return models;
  }();
  return kModels;
}

ModelSpec known_model(const std::string& name) {
  for (const ModelSpec& model : known_models()) {
    if (model.name == name) return model;
  }
  throw std::runtime_error("no model " + name);
}

}  // namespace tidemark

#include "planner/report/stage_json.h"

#include "planner/report/stage_text.h"

namespace tidemark {

Json stages_json(const StageFacts& stages) {
  Json json{{"read_ns", stages.read.count()},
            {"initialise_ns", stages.initialise.count()},
            {"compute_ns", stages.compute.count()},
            {"first_layer_ns", stages.first_layer.count()},
            {"limited_by", stages.limited_by}};
  const std::string_view wait = compute_limited_by(stages);
  if (wait.empty()) return json;
  json["arithmetic_ns"] = stages.arithmetic.count();
  json["memory_ns"] = stages.memory.count();
  json["overhead_ns"] = stages.overhead.count();
  json["compute_limited_by"] = wait;
  return json;
}

Json energy_json(const EnergyFacts& energy) {
  return Json{{"total_uj", energy.total()},
              {"compute_uj", energy.compute_microjoules},
              {"memory_uj", energy.memory_microjoules},
              {"storage_uj", energy.storage_microjoules},
              {"idle_uj", energy.idle_microjoules}};
}

}  // namespace tidemark

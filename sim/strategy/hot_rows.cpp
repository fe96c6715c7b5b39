#include "sim/strategy/hot_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "planner/base/check.h"
#include "sim/strategy/pass_walk.h"

namespace tidemark {
namespace {

class RowLoader : public WeightLoader {
 public:
  RowLoader(WeightStore& store, const Scenario& scenario, const RunInput& input,
            const RowUnits& units)
      : store_(store),
        choice_(*scenario.residency.rows),
        itinerary_(input.itinerary),
        units_(units),
        walk_(input.passes, input.itinerary) {}

  void prepare(Action on_prepared) override {
    for (size_t unit = 0; unit + 1 < units_.kept; ++unit) store_.read(UnitId::of(unit), nullptr);
    store_.read(UnitId::of(units_.kept - 1), std::move(on_prepared));
  }

  void need(int64_t visit, Action on_resident) override {
    const int64_t tokens = walk_.next_visit().tokens;
    const int64_t layer = units_.layer_of.at(itinerary_.unit_at(visit).index());
    if (layer < 0) return on_resident();
    read_ = tokens > 1 ? units_.whole(layer) : units_.of_token(layer);
    if (tokens > 1) return store_.read(*read_, std::move(on_resident));
    store_.read_for(*read_, token_time(units_.layers.at(static_cast<size_t>(layer))),
                    std::move(on_resident));
  }

  void done(int64_t /*visit*/) override {
    if (read_) store_.release(*std::exchange(read_, std::nullopt));
  }

 private:
  Duration token_time(const ColdPart& part) const {
    const auto request = [&](Bytes bytes) { return store_.scattered_time(bytes, part.read); };
    if (choice_.bundled) return request(part.neuron());
    Duration time;
    for (const Bytes row : part.rows) time += request(row);
    return time;
  }

  WeightStore& store_;
  HotRows choice_;
  const Itinerary& itinerary_;
  const RowUnits& units_;
  PassWalk walk_;
  std::optional<UnitId> read_{};  // for the visit at hand
};

}  // namespace

RowUnits row_units(const Scenario& scenario, const MemoryPlan& plan) {
  check(scenario.residency.rows.has_value(), "some rows are not kept");
  RowUnits made{.units = plan.units, .kept = plan.units.size()};
  made.layer_of.assign(made.kept, -1);
  const TransformerSpec* spec = scenario.model.transformer();
  if (spec == nullptr) return made;
  for (size_t i = 0; i < made.kept; ++i) {
    const ColdPart part = cold_part(plan.units[i], plan.weights, *spec, *scenario.residency.rows);
    if (part.rows.empty()) continue;
    const Bytes cold = part.cold();
    made.layer_of[i] = static_cast<int64_t>(made.layers.size());
    made.layers.push_back(part);
    made.units[i].bytes -= cold;
    made.units.push_back(
        {.name = plan.units[i].name + " rows of a token", .bytes = part.neuron() * part.read});
    made.units.push_back({.name = plan.units[i].name + " all cold rows", .bytes = cold});
  }
  return made;
}

ColdRowFacts cold_row_facts(const RowUnits& units, bool is_bundled) {
  ColdRowFacts facts;
  for (const ColdPart& part : units.layers) {
    facts.neurons += part.neurons;
    facts.kept += part.kept;
    facts.cold += part.cold();
    facts.request =
        std::max(facts.request, is_bundled ? part.neuron()
                                           : *std::max_element(part.rows.begin(), part.rows.end()));
    facts.requests_per_token +=
        part.read * (is_bundled ? 1 : static_cast<int64_t>(part.rows.size()));
    facts.read_per_token += part.neuron() * part.read;
  }
  return facts;
}

std::unique_ptr<WeightLoader> make_row_loader(WeightStore& store, const Scenario& scenario,
                                              const RunInput& input, const RowUnits& units) {
  return std::make_unique<RowLoader>(store, scenario, input, units);
}

}  // namespace tidemark

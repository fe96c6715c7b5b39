#include "planner/capacity/device_units.h"

#include <gtest/gtest.h>

#include <map>

#include "scenarios.h"

namespace tidemark {
namespace {

std::map<std::string, bool> places(const Scenario& scenario) {
  const WeightsInventory weights = weights_inventory(scenario.model, DType::kF16);
  const std::vector<WeightUnit> units = weight_units(weights);
  const std::vector<bool> on_device = units_on_device(scenario, units, weights);
  std::map<std::string, bool> named;
  for (size_t i = 0; i < units.size(); ++i) named[units[i].name] = on_device.at(i);
  return named;
}

Scenario eighty_layers(int64_t n_gpu_layers) {
  Scenario scenario = testing::decoder_scenario(80, StrategyKind::kMmap);
  std::get<TransformerSpec>(scenario.model.dims).tied_embeddings = false;
  scenario.engine.policy = EnginePolicy::kLlamaCpp;
  scenario.llama.n_gpu_layers = n_gpu_layers;
  return scenario;
}

// 81 places, 22 of them on the device: places 59 to 80, the last being the output.
TEST(DeviceUnitsTest, TheOutputAndTheLastLayersGoFirst) {
  const std::map<std::string, bool> on_device = places(eighty_layers(22));
  EXPECT_FALSE(on_device.at("token_embd"));
  EXPECT_FALSE(on_device.at("blk.58"));
  EXPECT_TRUE(on_device.at("blk.59"));
  EXPECT_TRUE(on_device.at("blk.79"));
  EXPECT_TRUE(on_device.at("output"));
}

TEST(DeviceUnitsTest, OtherEnginesKnowNoDevices) {
  Scenario scenario = eighty_layers(22);
  scenario.engine.policy = EnginePolicy::kPlanned;
  for (const auto& [name, is_on_device] : places(scenario)) EXPECT_FALSE(is_on_device) << name;
  for (const auto& [name, is_on_device] : places(eighty_layers(0))) {
    EXPECT_FALSE(is_on_device) << name;
  }
}

}  // namespace
}  // namespace tidemark

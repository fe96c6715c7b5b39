// Every file below configs/ loads, is called what it says, and the models count what was published.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "planner/capacity/verdict.h"
#include "planner/config/load.h"
#include "planner/config/settings.h"
#include "planner/model/weights.h"
#include "support/golden.h"

namespace tidemark {
namespace {

using namespace literals;

template <typename T>
void expect_all_load(ConfigKind kind, Result<T> (*load)(std::string_view)) {
  const std::vector<std::string> names = list_configs(kind);
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    const Result<T> loaded = load(name);
    ASSERT_TRUE(loaded.ok()) << to_string(loaded.diagnostics());
    EXPECT_EQ(loaded->name, name);
    EXPECT_FALSE(loaded->source.empty()) << name;
  }
}

TEST(ShippedConfigs, EveryModelLoads) {
  expect_all_load<ModelSpec>(ConfigKind::kModel, load_model);
}
TEST(ShippedConfigs, EveryDeviceLoads) {
  expect_all_load<DeviceSpec>(ConfigKind::kDevice, load_device);
}
TEST(ShippedConfigs, EveryEngineLoads) {
  expect_all_load<EngineProfile>(ConfigKind::kEngine, load_engine);
}

TEST(ShippedConfigs, EveryScenarioResolves) {
  const std::vector<std::string> names = list_configs(ConfigKind::kScenario);
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    const Result<SettingMap> settings = load_scenario_file(name);
    ASSERT_TRUE(settings.ok()) << to_string(settings.diagnostics());
    const Result<Scenario> scenario = resolve_scenario(*settings);
    EXPECT_TRUE(scenario.ok()) << to_string(scenario.diagnostics());
  }
}

// The totals published with the checkpoints.
TEST(ShippedConfigs, ModelsHaveThePublishedNumberOfParameters) {
  const std::vector<std::pair<std::string, int64_t>> table{
      {"minicpm-2b", 2724880896},   {"llama-3.1-8b", 8030261248},   {"llama-3.2-1b", 1235814400},
      {"llama-3.2-3b", 3212749824}, {"tinyllama-1.1b", 1100048384}, {"mistral-7b-v0.2", 7241732096},
      {"llama-2-7b", 6738415616},   {"smollm-1.7b", 1711376384},
  };
  std::set<std::string> counted;
  for (const auto& [name, parameters] : table) {
    const ModelSpec model = load_model(name).value();
    EXPECT_EQ(weights_inventory(model, model.dtype).parameters, parameters) << name;
    counted.insert(name);
  }
  for (const std::string& name : list_configs(ConfigKind::kModel)) {
    const bool is_list = load_model(name)->layer_list() != nullptr;
    EXPECT_EQ(counted.count(name), is_list ? 0U : 1U) << name;
  }
}

TEST(ShippedConfigs, EveryNumberOfAModelOrDeviceHasACommentOrASource) {
  for (const ConfigKind kind : {ConfigKind::kModel, ConfigKind::kDevice}) {
    for (const std::string& name : list_configs(kind)) {
      std::istringstream lines(testing::slurp(find_config(kind, name).value()));
      for (std::string line; std::getline(lines, line);) {
        const size_t colon = line.find(": ");
        const bool is_number = colon != std::string::npos && std::isdigit(line[colon + 2]) != 0;
        if (!is_number) continue;
        EXPECT_NE(line.find("  # "), std::string::npos) << name << ": " << line;
      }
    }
  }
}

TEST(ShippedConfigs, TheDemoModelsAddUp) {
  Bytes weights;
  Bytes activations;
  const ModelSpec demo_layers = load_model("demo-layers").value();
  const ModelSpec demo_blocks = load_model("demo-blocks").value();
  for (const PlainLayer& layer : demo_layers.layer_list()->layers) {
    weights += layer.weights;
    activations += layer.activation;
  }
  EXPECT_EQ(weights, 3400_MB);
  EXPECT_EQ(activations, 608_MB);
  Bytes blocks;
  for (const PlainLayer& layer : demo_blocks.layer_list()->layers) blocks += layer.weights;
  EXPECT_EQ(blocks, 3072_MB);
}

TEST(ShippedConfigs, TheDemoDeviceHasItsRedLine) {
  const DeviceLimit limit = device_limit(load_device("demo-3gb").value(), 0.1, std::nullopt);
  EXPECT_EQ(limit.available, 2500_MB);
  EXPECT_EQ(limit.limit, 2250_MB);
}

TEST(ShippedConfigs, TheMainJobIsMiniCpmIn4BitsOnAPhone) {
  const Scenario scenario =
      resolve_scenario(load_scenario_file("minicpm-2b-phone").value()).value();
  EXPECT_EQ(scenario.model.name, "minicpm-2b");
  EXPECT_EQ(scenario.device.name, "galaxy-s23");
  EXPECT_EQ(scenario.quant.format, DType::kInt4);
  EXPECT_EQ(scenario.n_ctx, Tokens(4096));
}

}  // namespace
}  // namespace tidemark

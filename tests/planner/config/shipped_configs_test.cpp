// Every file below configs/ loads, is called what it says, and the models count what was published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

#include "planner/base/units.h"
#include "planner/capacity/verdict.h"
#include "planner/config/load.h"
#include "planner/config/settings.h"
#include "planner/model/weights.h"
#include "shipped_parameters.h"
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

int64_t parameters_of(const std::string& name) {
  const ModelSpec model = load_model(name).value();
  return weights_inventory(model, model.dtype).parameters;
}

TEST(ShippedConfigs, ModelsHaveThePublishedNumberOfParameters) {
  static_assert(std::size(testing::kPublishedParameters) >= 60);
  for (const auto& [name, parameters] : testing::kPublishedParameters) {
    EXPECT_EQ(parameters_of(name), parameters) << name;
  }
  for (const auto& [name, parameters] : testing::kCountedParameters) {
    EXPECT_EQ(parameters_of(name), parameters) << name;
  }
}

TEST(ShippedConfigs, EveryModelThatIsNoListStandsInOneTable) {
  std::multiset<std::string> rows;
  for (const auto& row : testing::kPublishedParameters) rows.insert(row.model);
  for (const auto& row : testing::kCountedParameters) rows.insert(row.model);
  for (const std::string& name : list_configs(ConfigKind::kModel)) {
    const bool is_list = load_model(name)->layer_list() != nullptr;
    EXPECT_EQ(rows.count(name), is_list ? 0U : 1U) << name;
  }
}

// Its numbers are those of the file that `source` names, and a comment above them says what they
// add up to: "# 7,615,616,512 parameters".
TEST(ShippedConfigs, EveryModelSaysWhatItAddsUpToAndWhereItIsFrom) {
  for (const std::string& name : list_configs(ConfigKind::kModel)) {
    const ModelSpec model = load_model(name).value();
    if (model.layer_list() != nullptr) continue;
    EXPECT_THAT(model.source,
                ::testing::MatchesRegex("[^/]+/[^/]+, config[.]json|arXiv [0-9.]+, table [0-9]+"))
        << name;
    const std::string text = testing::slurp(find_config(ConfigKind::kModel, name).value());
    const std::string total = " " + format_count(parameters_of(name)) + " parameters";
    const size_t at = text.find(total);
    ASSERT_NE(at, std::string::npos) << name << " does not say" << total;
    EXPECT_LT(at, text.find("\nname: ")) << name;
  }
}

TEST(ShippedConfigs, TheReferenceListsEveryModel) {
  const std::filesystem::path root = TIDEMARK_SOURCE_DIR;
  const std::string page = testing::slurp(root / "docs" / "reference" / "models.md");
  for (const std::string& name : list_configs(ConfigKind::kModel)) {
    const ModelSpec model = load_model(name).value();
    const bool is_list = model.layer_list() != nullptr;
    const std::string row = "| `" + name + "` | " + model.architecture + " | " +
                            (is_list ? std::string() : format_count(parameters_of(name))) + " | " +
                            std::to_string(model.n_layer()) + " | ";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(ShippedConfigs, EveryNumberOfADeviceHasAComment) {
  for (const std::string& name : list_configs(ConfigKind::kDevice)) {
    std::istringstream lines(testing::slurp(find_config(ConfigKind::kDevice, name).value()));
    for (std::string line; std::getline(lines, line);) {
      const size_t colon = line.find(": ");
      const bool is_number = colon != std::string::npos && std::isdigit(line[colon + 2]) != 0;
      if (!is_number) continue;
      EXPECT_NE(line.find("  # "), std::string::npos) << name << ": " << line;
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

// Every tests/configs/broken/*.yaml is refused with exactly the text beside it. The first word of
// its name says how it is read: model-, device-, engine- or scenario- (which is also resolved).
// UPDATE_GOLDEN=1 rewrites the texts and fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "planner/config/load.h"
#include "planner/config/settings.h"
#include "support/golden.h"

namespace tidemark {
namespace {

std::filesystem::path folder() {
  return std::filesystem::path(TIDEMARK_SOURCE_DIR) / "tests" / "configs" / "broken";
}

std::vector<std::string> broken_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string problems_of(const std::string& name) {
  const std::string file = name + ".yaml";
  const std::string text = testing::slurp(folder() / file);
  if (name.starts_with("model-")) return to_string(parse_model(file, text).diagnostics());
  if (name.starts_with("device-")) return to_string(parse_device(file, text).diagnostics());
  if (name.starts_with("engine-")) return to_string(parse_engine(file, text).diagnostics());
  const Result<SettingMap> settings = parse_scenario(file, text);
  if (!settings) return to_string(settings.diagnostics());
  return to_string(resolve_scenario(*settings).diagnostics());
}

class BrokenConfig : public ::testing::TestWithParam<std::string> {
 protected:
  // Scenarios name the broken files beside them.
  void SetUp() override { std::filesystem::current_path(folder()); }
};

TEST_P(BrokenConfig, IsRefusedWithTheTextBesideIt) {
  const std::string problems = problems_of(GetParam());
  const std::filesystem::path expected = folder() / (GetParam() + ".txt");
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(expected, std::ios::binary) << problems;
    FAIL() << "updated " << expected << "; look at the difference and run again";
  }
  EXPECT_FALSE(problems.empty());
  EXPECT_EQ(problems, testing::slurp(expected));
}

INSTANTIATE_TEST_SUITE_P(All, BrokenConfig, ::testing::ValuesIn(broken_files()),
                         [](const auto& file) {
                           std::string name = file.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(BrokenConfigs, EveryTextHasItsFile) {
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    const std::filesystem::path yaml =
        std::filesystem::path(entry.path()).replace_extension(".yaml");
    EXPECT_TRUE(std::filesystem::exists(yaml)) << entry.path();
  }
}

}  // namespace
}  // namespace tidemark

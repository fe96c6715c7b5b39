#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "planner/base/files.h"
#include "planner/config/load.h"
#include "support/golden.h"

namespace tidemark {
namespace {

constexpr const char* kVariable = "TIDEMARK_CONFIG_PATH";

// Two folders on the search path; the variable is removed again at the end.
class FindConfig : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(first() / "models");
    std::filesystem::create_directories(second() / "models");
    ::setenv(kVariable, (first().string() + "::" + second().string()).c_str(), 1);
  }
  void TearDown() override { ::unsetenv(kVariable); }

  std::filesystem::path first() const { return folder_.path() / "first"; }
  std::filesystem::path second() const { return folder_.path() / "second"; }
  static std::filesystem::path write(const std::filesystem::path& path) {
    EXPECT_TRUE(write_file(path, "schema: model/1\n").ok());
    return path;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(FindConfig, TheFirstFolderThatHasTheNameWins) {
  const auto early = write(first() / "models" / "mine.yaml");
  write(second() / "models" / "mine.yaml");
  const auto late = write(second() / "models" / "other.yaml");
  EXPECT_EQ(find_config(ConfigKind::kModel, "mine").value(), early);
  EXPECT_EQ(find_config(ConfigKind::kModel, "other").value(), late);
}

TEST_F(FindConfig, TheUsersFolderWinsOverTheShippedOne) {
  const auto mine = write(first() / "models" / "minicpm-2b.yaml");
  EXPECT_EQ(find_config(ConfigKind::kModel, "minicpm-2b").value(), mine);
  ::unsetenv(kVariable);
  EXPECT_EQ(find_config(ConfigKind::kModel, "minicpm-2b").value(),
            std::filesystem::path(TIDEMARK_SOURCE_DIR) / "configs" / "models" / "minicpm-2b.yaml");
}

TEST_F(FindConfig, APathIsTakenAsItIs) {
  const auto path = write(folder_.path() / "x.yaml");
  EXPECT_EQ(find_config(ConfigKind::kModel, path.string()).value(), path);
  EXPECT_TRUE(is_config_path("x.yaml"));
  EXPECT_TRUE(is_config_path("./x"));
  EXPECT_FALSE(is_config_path("llama-3.2-1b"));
}

TEST_F(FindConfig, AMissingPathIsNamed) {
  EXPECT_EQ(to_string(find_config(ConfigKind::kDevice, "no/such.yaml").diagnostics()),
            "error: device: no file \"no/such.yaml\"\n"
            "  hint: write a built-in name or the path of a .yaml file\n");
  EXPECT_FALSE(find_config(ConfigKind::kModel, folder_.path().string() + "/").ok());
}

TEST_F(FindConfig, AnUnknownNameListsWhatThereIsNearestFirst) {
  write(second() / "models" / "minicpm-2d.yaml");
  const std::string text = to_string(find_config(ConfigKind::kModel, "minicpm-2c").diagnostics());
  EXPECT_TRUE(
      text.starts_with("error: model: there is no model called \"minicpm-2c\"\n"
                       "  hint: there are: minicpm-2b, minicpm-2d, "))
      << text;
}

// Publishers write capitals, an owner and a suffix; none of them is far from the name meant.
TEST_F(FindConfig, AnotherSpellingIsUnderstood) {
  write(first() / "models" / "kolibri-3-8b.yaml");
  write(first() / "models" / "kolibri-3-8b-long.yaml");
  const auto hint = [](std::string_view name) {
    return find_config(ConfigKind::kModel, name).diagnostics().front().hint;
  };
  EXPECT_EQ(hint("Kolibri-3-8B"), "did you mean \"kolibri-3-8b\"?");
  EXPECT_EQ(hint("kolibri3_8b"), "did you mean \"kolibri-3-8b\"?");
  EXPECT_EQ(hint("nest/Kolibri-3-8B-Instruct"), "did you mean \"kolibri-3-8b\"?");
  EXPECT_EQ(hint("nest/Kolibri-3-8B-Long-Instruct"), "did you mean \"kolibri-3-8b-long\"?");
  EXPECT_TRUE(hint("kolibri-3-8c").starts_with("there are: kolibri-3-8b, "));
}

TEST_F(FindConfig, AFileIsNamedByAPath) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(write(folder_.path() / "mine.yml").parent_path());
  const Diagnostics problems = find_config(ConfigKind::kDevice, "mine.yml").diagnostics();
  std::filesystem::current_path(before);
  EXPECT_EQ(to_string(problems),
            "error: device: there is no device called \"mine.yml\"\n"
            "  hint: a file is named by a path: ./mine.yml\n");
}

TEST_F(FindConfig, ListsEachNameOnceAndSorted) {
  write(first() / "models" / "zz.yaml");
  write(second() / "models" / "zz.yaml");
  write(second() / "models" / "ignored.txt");
  std::filesystem::create_directories(second() / "models" / "folder.yaml");
  const std::vector<std::string> names = list_configs(ConfigKind::kModel);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::count(names.begin(), names.end(), "zz"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "minicpm-2b"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "ignored"), 0);
  EXPECT_EQ(std::count(names.begin(), names.end(), "folder"), 0);
}

TEST(ConfigKinds, HaveAFolderEach) {
  EXPECT_EQ(folder_of(ConfigKind::kModel), "models");
  EXPECT_EQ(folder_of(ConfigKind::kDevice), "devices");
  EXPECT_EQ(folder_of(ConfigKind::kEngine), "engines");
  EXPECT_EQ(folder_of(ConfigKind::kScenario), "scenarios");
  EXPECT_EQ(folder_of(ConfigKind::kSweep), "sweeps");
  EXPECT_EQ(name_of(ConfigKind::kSweep), "sweep");
}

}  // namespace
}  // namespace tidemark

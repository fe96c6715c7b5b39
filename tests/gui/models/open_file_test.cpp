#include "gui/models/open_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/golden.h"

namespace tidemark {
namespace {

class OpenFile : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    const std::filesystem::path path = folder_.path() / name;
    std::ofstream(path) << content;
    return path.string();
  }

  testing::TemporaryFolder folder_{};
};

TEST_F(OpenFile, KnowsAScenarioByItsSchema) {
  const std::string file = write("s.yaml", "schema: scenario/1\nmodel: minicpm-2b\n");
  const Result<OpenedFile> opened = open_file(file);
  ASSERT_TRUE(opened.ok()) << to_string(opened.diagnostics());
  const auto& scenario = std::get<OpenedScenario>(*opened);
  EXPECT_EQ(scenario.file, file);
  EXPECT_EQ(scenario.settings.at("model").text, "minicpm-2b");
  EXPECT_EQ(scenario.settings.at("model").origin, "scenario " + file + ":2");
}

TEST_F(OpenFile, KnowsModelsDevicesAndEngines) {
  for (const char* kind : {"model", "device", "engine"}) {
    const std::string file = write("x.yaml", "schema: " + std::string(kind) + "/1\n");
    const Result<OpenedFile> opened = open_file(file);
    ASSERT_TRUE(opened.ok()) << kind;
    EXPECT_EQ(std::get<OpenedConfig>(*opened).key, kind);
    EXPECT_EQ(std::get<OpenedConfig>(*opened).file, file);
  }
}

TEST_F(OpenFile, LeavesModelFilesToTheImporters) {
  for (const char* name : {"m.gguf", "m.safetensors", "config.json"}) {
    const Result<OpenedFile> opened = open_file(write(name, "{}"));
    ASSERT_TRUE(opened.ok()) << name;
    EXPECT_EQ(std::get<OpenedConfig>(*opened).key, "model");
  }
  const Result<OpenedFile> folder = open_file(folder_.path().string());
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(std::get<OpenedConfig>(*folder).file, folder_.path().string());
}

// Not "is not valid UTF-8", and the model that is shown stays.
TEST_F(OpenFile, SaysWhatIsNoModelAsTheImportersDo) {
  for (const char* name : {"m.onnx", "m.tflite", "m.pt"}) {
    const Result<OpenedFile> opened = open_file(write(name, std::string("\x80\x02", 2)));
    ASSERT_FALSE(opened.ok()) << name;
    EXPECT_NE(to_string(opened.diagnostics()).find("files are not read"), std::string::npos);
  }
  const Result<OpenedFile> folder = open_file(folder_.path().string());
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(to_string(folder.diagnostics()).find("config.json"), std::string::npos);
  const Result<OpenedFile> sweep = open_file(write("s.yaml", "schema: sweep/1\n"));
  ASSERT_FALSE(sweep.ok());
  EXPECT_EQ(sweep.diagnostics().front().hint, "run it with `tidemark sweep`");
}

TEST_F(OpenFile, TakesABareNameForAScenarioElseAModel) {
  const Result<OpenedFile> scenario = open_file("minicpm-2b-phone");
  ASSERT_TRUE(scenario.ok());
  EXPECT_EQ(std::get<OpenedScenario>(*scenario).file, "minicpm-2b-phone");
  const Result<OpenedFile> model = open_file("minicpm-2b");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(std::get<OpenedConfig>(*model).key, "model");
}

TEST_F(OpenFile, RefusesOtherKindsWithAHint) {
  const Result<OpenedFile> opened = open_file(write("w.yaml", "schema: sweep/1\n"));
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(to_string(opened.diagnostics()).find("\"sweep\""), std::string::npos);
}

TEST_F(OpenFile, TellsWhatIsWrongWithAFile) {
  EXPECT_FALSE(open_file((folder_.path() / "none.yaml").string()).ok());
  EXPECT_FALSE(open_file(write("empty.yaml", "")).ok());
  EXPECT_FALSE(open_file(write("bytes.yaml", std::string("\x00\xff", 2))).ok());
  EXPECT_FALSE(open_file(write("r.json", "{")).ok());
  EXPECT_FALSE(open_file(folder_.path().string() + "/").ok());
  const Result<OpenedFile> wrong = open_file(write("s.yaml", "schema: scenario/1\nmodell: x\n"));
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(to_string(wrong.diagnostics()).find("s.yaml:2"), std::string::npos);
}

}  // namespace
}  // namespace tidemark

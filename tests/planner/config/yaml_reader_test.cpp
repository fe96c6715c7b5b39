// What a document hands out, and that it goes on after a problem. The texts of the problems are in
// tests/configs/broken.
#include "planner/config/yaml_reader.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using namespace literals;

constexpr std::string_view kDevice =
    "name: phone  # a comment\n"
    "cores: 8\n"
    "quick: true\n"
    "ram: 8 GiB\n"
    "memory:\n"
    "  bandwidth: \"42 GB/s\"\n"
    "  latency: 100 us\n"
    "compute: 2 TOPS\n"
    "margin: 10 %\n"
    "estimates: [ram, \"memory\"]\n"
    "layers:\n"
    "  - {name: a, bytes: 1 B}\n"
    "  - name: b\n"
    "    bytes: 2 B\n";

TEST(YamlReader, HandsOutTypedValues) {
  YamlDocument document("x.yaml", kDevice);
  std::optional<YamlMap> map = document.root();
  ASSERT_TRUE(map);
  EXPECT_EQ(map->text("name"), "phone");
  EXPECT_EQ(map->integer("cores", 1, 64), 8);
  EXPECT_EQ(map->boolean("quick"), true);
  EXPECT_EQ(map->bytes("ram"), 8_GiB);
  EXPECT_EQ(map->compute_rate("compute"), OpsPerSecond::of(2000000000000));
  EXPECT_EQ(map->ratio("margin"), 0.1);
  std::optional<YamlMap> memory = map->map("memory");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->bandwidth("bandwidth"), BytesPerSecond::of(42000000000));
  EXPECT_EQ(memory->duration("latency"), Duration::us(100));
  EXPECT_EQ(map->text_list("estimates")->at(1).text, "memory");
  std::vector<YamlMap> layers = map->map_list("layers");
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[1].bytes("bytes"), 2_B);
  EXPECT_TRUE(document.diagnostics().empty());
}

TEST(YamlReader, KnowsWhereEverythingIs) {
  YamlDocument document("x.yaml", kDevice);
  std::optional<YamlMap> map = document.root();
  ASSERT_TRUE(map);
  EXPECT_EQ(map->where("cores"), (SourcePos{"x.yaml", 2, 8}));
  EXPECT_EQ(map->where("absent"), (SourcePos{"x.yaml", 1, 1}));
  std::optional<YamlMap> memory = map->map("memory");
  EXPECT_EQ(memory->where("latency"), (SourcePos{"x.yaml", 7, 12}));
  EXPECT_EQ(memory->path("latency"), "memory.latency");
  EXPECT_EQ(map->text_list("estimates")->at(1).where, (SourcePos{"x.yaml", 10, 18}));
  const std::vector<YamlMap> layers = map->map_list("layers");
  EXPECT_EQ(layers[1].path("bytes"), "layers[1].bytes");
  EXPECT_EQ(layers[1].where("bytes"), (SourcePos{"x.yaml", 14, 12}));
}

TEST(YamlReader, AWindowsFileIsReadTheSame) {
  YamlDocument document("x.yaml", "\xef\xbb\xbfname: phone\r\ncores: 8\r\n");
  std::optional<YamlMap> map = document.root();
  ASSERT_TRUE(map) << to_string(document.diagnostics());
  EXPECT_EQ(map->text("name"), "phone");
  EXPECT_EQ(map->integer("cores", 1, 64), 8);
  EXPECT_EQ(map->where("cores").line, 2);
}

TEST(YamlReader, OneLeadingDocumentMarkerIsFine) {
  YamlDocument document("x.yaml", "# comment\n--- # start\nname: phone\n");
  EXPECT_TRUE(document.root()) << to_string(document.diagnostics());
}

TEST(YamlReader, ListsOfTextsAreJoinedForFreeFormSettings) {
  YamlDocument document("x.yaml", "model: demo\ntrace: [embed, layer1]\nbudget: 1 GB\n");
  std::optional<YamlMap> map = document.root();
  ASSERT_TRUE(map);
  const auto texts = map->all_texts();
  ASSERT_EQ(texts.size(), 3U);
  EXPECT_EQ(texts[1].first, "trace");
  EXPECT_EQ(texts[1].second.text, "embed,layer1");
  EXPECT_EQ(texts[2].second.where, (SourcePos{"x.yaml", 3, 9}));
}

TEST(YamlReader, ProblemsComeInOrderOfPositionHoweverTheyWereFound) {
  YamlDocument document("x.yaml", "a: x\nb: y\nc: z\n");
  std::optional<YamlMap> map = document.root();
  ASSERT_TRUE(map);
  map->error("b", "second");
  map->error("a", "first");
  map->finish();
  const std::string text = to_string(document.diagnostics());
  EXPECT_EQ(text,
            "x.yaml:1:1: error: a: unknown key\n  hint: known keys: none\n"
            "x.yaml:1:4: error: a: first\n"
            "x.yaml:2:1: error: b: unknown key\n  hint: known keys: none\n"
            "x.yaml:2:4: error: b: second\n"
            "x.yaml:3:1: error: c: unknown key\n  hint: known keys: none\n");
}

TEST(YamlReader, AskingWhetherAKeyIsThereMakesItKnown) {
  YamlDocument document("x.yaml", "a: 1\nb: 2\n");
  std::optional<YamlMap> map = document.root();
  EXPECT_TRUE(map->has("a"));
  EXPECT_FALSE(map->has("c"));
  map->finish();
  EXPECT_EQ(to_string(document.diagnostics()),
            "x.yaml:2:1: error: b: unknown key\n  hint: known keys: a, c\n");
}

}  // namespace
}  // namespace tidemark

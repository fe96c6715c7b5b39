#include "planner/import/hf/config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A document, its notes and a reader of it.
struct Opened {
  explicit Opened(std::string json) : text(std::move(json)) {
    Result<ConfigValue> parsed = parse_config_value("config.json", text);
    EXPECT_TRUE(parsed.ok()) << to_string(parsed.diagnostics());
    if (parsed) value = std::move(parsed).value();
    notes.file = "config.json";
    notes.text = text;
  }
  ConfigReader reader() { return {notes, value, "", "LlamaConfig"}; }

  std::string text;
  ConfigValue value{};
  ConfigNotes notes{};
};

TEST(ConfigReaderTest, TheExampleOfTheHeader) {
  Opened opened(R"({"model_type": "llama", "hidden_size": 64})");
  ConfigReader reader = opened.reader();
  EXPECT_EQ(reader.integer({"hidden_size", "n_embd"}, kWidths), 64);
  EXPECT_EQ(reader.integer({"num_hidden_layers"}, kLayers, 32), 32);
  EXPECT_FALSE(reader.boolean({"tie_word_embeddings"}, false));
  EXPECT_TRUE(reader.ok());
  EXPECT_THAT(
      opened.notes.defaults,
      ElementsAre(
          AppliedDefault{.key = "num_hidden_layers", .value = "32", .why = "LlamaConfig's default"},
          AppliedDefault{
              .key = "tie_word_embeddings", .value = "false", .why = "LlamaConfig's default"}));
}

TEST(ConfigReaderTest, AProblemHasItsLineAndColumn) {
  Opened opened("{\n \"hidden_size\": 0,\n \"text_config\": {\"layers\": true}\n}");
  ConfigReader reader = opened.reader();
  EXPECT_EQ(reader.integer({"hidden_size"}, kWidths), 1);
  reader.object("text_config")->integer({"layers"}, kLayers);
  ASSERT_EQ(opened.notes.problems.size(), 2U);
  // `0,` ends at the comma, the 18th byte of the second line; `true` at its last letter.
  EXPECT_EQ(to_string(opened.notes.problems[0]),
            "config.json:2:18: error: hidden_size: must be an integer from 1 to 16777216\n");
  EXPECT_EQ(opened.notes.problems[1].path, "text_config.layers");
  EXPECT_EQ(opened.notes.problems[1].where.line, 3);
}

TEST(ConfigReaderTest, LiteralsAreToldApart) {
  Opened opened(R"({"a": true, "b": false, "c": null, "d": [true,false,null]})");
  ConfigReader reader = opened.reader();
  EXPECT_TRUE(reader.boolean({"a"}, false));
  EXPECT_FALSE(reader.boolean({"b"}, true));
  EXPECT_FALSE(reader.has({"c"}));
  EXPECT_TRUE(reader.mentions("c"));
  const ConfigValue& list = *opened.value.find("d");
  ASSERT_EQ(list.items.size(), 3U);
  EXPECT_TRUE(list.items[0].boolean);
  EXPECT_EQ(list.items[1].kind, ConfigKind::kBoolean);
  EXPECT_FALSE(list.items[1].boolean);
  EXPECT_EQ(list.items[2].kind, ConfigKind::kNull);
}

TEST(ConfigReaderTest, AKeyTwiceIsRefused) {
  const Result<ConfigValue> parsed = parse_config_value("c", R"({"a": 1, "b": {"c": 1, "c": 2}})");
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(to_string(parsed.diagnostics()), HasSubstr("c: "));
  EXPECT_THAT(to_string(parsed.diagnostics()), HasSubstr("twice"));
}

TEST(ConfigReaderTest, SizesAreBounded) {
  EXPECT_FALSE(parse_config_value("c", std::string(kMostConfigBytes + 1, ' ')).ok());
  std::string many = "{\"a\":[0";
  for (int64_t i = 0; i < kMostConfigValues; ++i) many += ",0";
  EXPECT_FALSE(parse_config_value("c", many + "]}").ok());
  EXPECT_FALSE(parse_config_value("c", std::string(40, '[') + std::string(40, ']')).ok());
  EXPECT_FALSE(parse_config_value("c", "[]").ok());
  EXPECT_FALSE(parse_config_value("c", "").ok());
  EXPECT_FALSE(parse_config_value("c", "{} x").ok());
}

}  // namespace
}  // namespace tidemark

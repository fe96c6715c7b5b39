// Hostile documents: bounded in size, depth, number of values and number of problems; no bytes
// crash or hang it.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "planner/config/load.h"
#include "planner/config/settings.h"
#include "planner/config/yaml_reader.h"

namespace tidemark {
namespace {

std::string repeated(std::string_view part, int64_t times) {
  std::string text;
  for (int64_t i = 0; i < times; ++i) text += part;
  return text;
}

// Everything a loader would do with a document.
std::string problems_of(std::string_view text) {
  YamlDocument document("x.yaml", text);
  if (std::optional<YamlMap> map = document.root()) {
    map->all_texts();
    map->text("name");
    map->map_list("layers");
    map->finish();
  }
  return to_string(document.diagnostics());
}

TEST(YamlBounds, NulBytesAreNotText) {
  EXPECT_EQ(problems_of(std::string("a: 1\nb: \0\n", 10)),
            "x.yaml:2:4: error: the text contains a NUL byte\n"
            "  hint: configuration files are UTF-8 text\n");
}

TEST(YamlBounds, OnlyUtf8IsText) {
  const auto is_refused = [](std::string_view bytes) {
    const std::string problems = problems_of("a: " + std::string(bytes) + "\n");
    return problems ==
           "x.yaml:1:4: error: the text is not valid UTF-8\n"
           "  hint: configuration files are UTF-8 text\n";
  };
  EXPECT_TRUE(is_refused("\xff"));
  EXPECT_TRUE(is_refused("\x80"));              // a later byte first
  EXPECT_TRUE(is_refused("\xc3"));              // cut short
  EXPECT_TRUE(is_refused("\xe2\x82"));          // cut short
  EXPECT_TRUE(is_refused("\xc3("));             // the second byte is none
  EXPECT_TRUE(is_refused("\xc0\xaf"));          // overlong
  EXPECT_TRUE(is_refused("\xe0\x80\xaf"));      // overlong
  EXPECT_TRUE(is_refused("\xf0\x80\x80\xaf"));  // overlong
  EXPECT_TRUE(is_refused("\xed\xa0\x80"));      // a surrogate
  EXPECT_TRUE(is_refused("\xf4\x90\x80\x80"));  // past U+10FFFF
  EXPECT_TRUE(is_refused("\xf5\x80\x80\x80"));
  for (const std::string_view good :
       {"\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf", "\xf0\x9f\x8c\x8a", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_FALSE(is_refused(good));
  }
}

TEST(YamlBounds, FiftyLevelsAreReadAndOneMoreIsNot) {
  const auto nested = [](int64_t levels) {
    return "name: x\nlist: " + repeated("[", levels) + repeated("]", levels) + "\n";
  };
  EXPECT_EQ(problems_of(nested(49)).find("nested"), std::string::npos);
  EXPECT_NE(problems_of(nested(50)).find("x.yaml:2:56: error: nested deeper than 50 levels"),
            std::string::npos);
}

TEST(YamlBounds, AHundredThousandLevelsAreRefusedAtTheFiftyFirst) {
  for (const std::string_view part : {"[", "{", "- ", "? ", "a: [", "{a: ", "[{"}) {
    const std::string problems = problems_of("x: \n" + repeated(part, 100000));
    EXPECT_FALSE(problems.empty()) << part;
  }
}

TEST(YamlBounds, AliasBombsAreNeverExpanded) {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb +=
        "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + ", " + last + "]\n";
  }
  const std::string problems = problems_of(bomb);
  EXPECT_NE(problems.find("x.yaml:1:5: error: a0: anchors are not read"), std::string::npos);
  EXPECT_NE(problems.find("x.yaml:2:10: error: a1[0]: aliases are not read"), std::string::npos);
  EXPECT_NE(problems_of("x: &a [*a]\n").find("aliases are not read"), std::string::npos);
}

TEST(YamlBounds, ValuesAreCounted) {
  const std::string problems = problems_of("x: [" + repeated("1,", 1000000) + "]\n");
  EXPECT_NE(problems.find("error: more than 1,000,000 values"), std::string::npos);
  EXPECT_EQ(problems_of("name: x\nx: [" + repeated("1,", 1000) + "]\n").find("values"),
            std::string::npos);
}

TEST(YamlBounds, LongTextsAreRefusedUnread) {
  EXPECT_EQ(problems_of(std::string(8 * 1024 * 1024 + 1, ' ')),
            "x.yaml: error: the text is longer than 8.00 MiB\n");
  EXPECT_EQ(problems_of(std::string(8 * 1024 * 1024, ' ')).find("longer"), std::string::npos);
}

TEST(YamlBounds, AHundredProblemsAreListed) {
  std::string text = "name: x\n";
  for (int i = 0; i < 200; ++i) text += "key" + std::to_string(i) + ": ~\n";
  YamlDocument document("x.yaml", text);
  document.root()->all_texts();
  EXPECT_EQ(document.diagnostics().size(), 101U);
  EXPECT_EQ(to_string(document.diagnostics().back()),
            "x.yaml: error: more than 100 problems; the rest is not listed\n");
}

TEST(YamlBounds, AnEmptyFileIsNoMapping) {
  const std::string empty =
      "x.yaml: error: the file is empty\n  hint: the first line names the schema: model/1\n";
  EXPECT_EQ(problems_of(""), empty);
  EXPECT_EQ(problems_of("\n# a comment\n"), empty);
}

// The single byte that makes yaml-cpp 0.7 loop for ever when it is asked for all documents.
TEST(YamlBounds, ALoneCommaIsRefused) { EXPECT_FALSE(problems_of(",").empty()); }

TEST(YamlBounds, TextAfterTheDocumentIsRefused) {
  EXPECT_EQ(problems_of("{name: x, layers: [{a: b}]}\nname: y"),
            "x.yaml: error: text follows the end of the document\n"
            "  hint: look for an unmatched bracket or an unquoted comma\n");
}

TEST(YamlBounds, TextsAreBounded) {
  EXPECT_NE(
      problems_of("name: " + std::string(1001, 'x')).find("error: name: is longer than 1000 bytes"),
      std::string::npos);
  const Result<SettingMap> scenario =
      parse_scenario("x.yaml", "schema: scenario/1\ntrace: " + std::string(65537, 'x'));
  EXPECT_EQ(to_string(scenario.diagnostics()),
            "x.yaml:2:8: error: trace: is longer than 65536 bytes\n");
}

TEST(YamlBounds, AHundredThousandLayersAreRead) {
  const auto model = [](int64_t layers) {
    std::string text = "schema: model/1\nname: x\nsource: x\nlayers:\n";
    for (int64_t i = 0; i < layers; ++i) {
      text += "- {name: l" + std::to_string(i) + ", weights: 1 B, activation: 0 B}\n";
    }
    return text;
  };
  EXPECT_EQ(parse_model("x.yaml", model(10000)).value().n_layer(), 10000);
  EXPECT_EQ(to_string(parse_model("x.yaml", model(10001)).diagnostics()),
            "x.yaml:5:1: error: layers: has 10001 layers\n  hint: at most 10000 are read\n");
}

// Every loader on any text: no crash, no hang, a Result.
void load_anything(const std::string& text) {
  problems_of(text);
  for (const std::string_view schema : {"model/1", "device/1", "engine/1", "scenario/1"}) {
    const std::string with_schema = "schema: " + std::string(schema) + "\n" + text;
    const Result<ModelSpec> model = parse_model("x.yaml", with_schema);
    const Result<DeviceSpec> device = parse_device("x.yaml", with_schema);
    const Result<EngineProfile> engine = parse_engine("x.yaml", with_schema);
    const Result<SettingMap> scenario = parse_scenario("x.yaml", with_schema);
    RC_ASSERT(model.ok() + device.ok() + engine.ok() + scenario.ok() <= 1);
  }
}

TEST(YamlBounds, AnyBytesAreAnswered) {
  EXPECT_TRUE(rc::check([] { load_anything(*rc::gen::arbitrary<std::string>()); }));
}

TEST(YamlBounds, AnyPiecesOfYamlAreAnswered) {
  EXPECT_TRUE(rc::check([] {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "name: ", "layers: ", "n_layer: ", "ram_total: ", "- ", "? ", ": ", "[", "]", "{", "}", ",",
        "\n", "\n  ", "  ", "\t", "&a ", "*a", "<<: ", "!!int ", "! ", "|\n", ">-\n", "\"", "'",
        "#", "---\n", "...\n", "%YAML", "1", "010", "0x10", "8 GiB", "true", "~", "\\", "\r",
        "\xc3\xa9", "\xff", "@", "`", "x"));
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    load_anything(text);
  }));
}

}  // namespace
}  // namespace tidemark

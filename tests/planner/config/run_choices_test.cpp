#include "planner/config/run_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SettingMap with(const std::string& key, const std::string& text) {
  return {{"model", {.text = "minicpm-2b", .origin = "flag MODEL"}},
          {key, {.text = text, .origin = "flag --" + key}}};
}

std::string problems(const SettingMap& settings) {
  const Result<Scenario> scenario = resolve_scenario(settings);
  return scenario ? "none" : to_string(scenario.diagnostics());
}

TEST(RunChoicesTest, ANumberAndARateAreDrawn) {
  const ServingChoices serving = resolve_scenario(with("requests", "200:2.5")).value().serving;
  EXPECT_EQ(serving.count, 200);
  EXPECT_EQ(serving.per_million_seconds, 2'500'000);
  EXPECT_TRUE(serving.any());
  EXPECT_EQ(resolve_scenario(with("requests", "1:0.000001")).value().serving.per_million_seconds,
            1);
  EXPECT_FALSE(resolve_scenario(with("seed", "1")).value().serving.any());
}

TEST(RunChoicesTest, WhatIsNoNumberAndNoRateIsRefused) {
  for (const char* text : {"0:1", "1000001:1", "5:0", "5:", "5:x", "5:1.", "5:.5", "5:-1", "5:1e3",
                           "5:0.0000001", "99999999999999999999:1", "5:10000000"}) {
    EXPECT_THAT(problems(with("requests", text)),
                HasSubstr("is not a number of requests and a rate"))
        << text;
  }
}

TEST(RunChoicesTest, ATraceIsReadWithTheScenario) {
  const std::filesystem::path folder(::testing::TempDir());
  std::ofstream(folder / "trace.csv") << "arrival_ms,prompt,generate\n0,1,1\n";
  const ServingChoices serving =
      resolve_scenario(with("requests", (folder / "trace.csv").string())).value().serving;
  EXPECT_EQ(serving.text, "arrival_ms,prompt,generate\n0,1,1\n");

  SettingMap from_file = with("requests", "trace.csv");
  from_file["requests"].where = {.file = (folder / "scenario.yaml").string(), .line = 2};
  EXPECT_EQ(resolve_scenario(from_file).value().serving, serving);
  std::filesystem::remove(folder / "trace.csv");
  EXPECT_THAT(problems(from_file), HasSubstr("trace.csv\": cannot open"));
}

TEST(RunChoicesTest, APoolNeedsRequests) {
  EXPECT_THAT(problems(with("kv_pool", "1 GiB")),
              HasSubstr("is shared by requests, and there are"));
  SettingMap both = with("kv_pool", "1 GiB");
  both["requests"] = {.text = "2:1", .origin = "flag --requests"};
  EXPECT_EQ(resolve_scenario(both).value().serving.kv_pool, Bytes::of(1 << 30));
}

TEST(RunChoicesTest, ActionsStayInTheirOrder) {
  EXPECT_THAT(resolve_scenario(with("adapt", "spill-kv,drop-prefetch")).value().adapt,
              ElementsAre(AdaptAction::kSpillKv, AdaptAction::kDropPrefetch));
  EXPECT_THAT(problems(with("adapt", "spil-kv")), HasSubstr("\"spil-kv\" is not an action"));
  EXPECT_THAT(problems(with("adapt", "spill-kv,spill-kv")), HasSubstr("stands there twice"));
  EXPECT_THAT(problems(with("adapt", "spill-kv,")), HasSubstr("has an empty entry"));
}

}  // namespace
}  // namespace tidemark

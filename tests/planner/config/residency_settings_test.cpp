#include "planner/config/residency_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark {
namespace {

using literals::operator""_GiB;
using literals::operator""_MiB;
using ::testing::HasSubstr;

SettingMap with(const std::vector<std::pair<std::string, std::string>>& stated) {
  SettingMap settings = {{"model", {.text = "minicpm-2b", .origin = "flag MODEL"}}};
  for (const auto& [key, text] : stated) {
    settings[key] = {.text = text, .origin = "flag --" + key};
  }
  return settings;
}

ResidencyChoices choices(const std::vector<std::pair<std::string, std::string>>& stated) {
  return resolve_scenario(with(stated)).value().residency;
}

std::string problems(const std::vector<std::pair<std::string, std::string>>& stated) {
  const Result<Scenario> scenario = resolve_scenario(with(stated));
  return scenario ? "none" : to_string(scenario.diagnostics());
}

TEST(ResidencySettings, ABareNumberIsACountAndAUnitMakesItASize) {
  EXPECT_EQ(choices({{"split", "4"}}), (ResidencyChoices{.split_files = 4}));
  EXPECT_EQ(choices({{"split", "2 GiB"}}), (ResidencyChoices{.split_size = 2_GiB}));
  EXPECT_EQ(choices({{"expert_cache", "16"}}), (ResidencyChoices{.expert_slots = 16}));
  EXPECT_EQ(choices({{"expert_cache", "512 MiB"}}), (ResidencyChoices{.expert_bytes = 512_MiB}));
  EXPECT_EQ(choices({{"processes", "2"}}), (ResidencyChoices{.processes = 2}));
  EXPECT_EQ(choices({}), ResidencyChoices{});
}

TEST(ResidencySettings, SharesOfRows) {
  EXPECT_EQ(choices({{"hot_rows", "25 %"}}).rows,
            (HotRows{.kept_ppm = 250'000, .read_ppm = 100'000, .bundled = true}));
  EXPECT_EQ(choices({{"hot_rows", "0.5"}, {"cold_rows", "2.4 %"}, {"bundle", "off"}}).rows,
            (HotRows{.kept_ppm = 500'000, .read_ppm = 24'000, .bundled = false}));
}

TEST(ResidencySettings, WhatIsRefused) {
  EXPECT_THAT(problems({{"split", "0"}}), HasSubstr("0 is out of range"));
  EXPECT_THAT(problems({{"split", "1 KiB"}}), HasSubstr("1 KiB is out of range"));
  EXPECT_THAT(problems({{"split", "four"}}), HasSubstr("--split"));
  EXPECT_THAT(problems({{"processes", "17"}}), HasSubstr("from 1 to 16"));
  EXPECT_THAT(problems({{"expert_cache", "-1"}}), HasSubstr("--expert_cache"));
  EXPECT_THAT(problems({{"hot_rows", "101 %"}}), HasSubstr("is out of range"));
  EXPECT_THAT(problems({{"cold_rows", "5 %"}}), HasSubstr("add --hot-rows, or leave it out"));
  EXPECT_THAT(problems({{"bundle", "off"}}), HasSubstr("add --hot-rows, or leave it out"));
}

TEST(ResidencySettings, OnlyWhatIsStatedIsRecorded) {
  const auto recorded = [](const SettingMap& settings) {
    std::string keys;
    const Scenario scenario = resolve_scenario(settings).value();
    for (const Setting& setting : scenario.settings) {
      for (const char* key : {"split", "processes", "expert_cache", "hot_rows", "cold_rows"}) {
        if (setting.key == key) keys += setting.key + "=" + setting.value + " ";
      }
    }
    return keys;
  };
  EXPECT_EQ(recorded(with({})), "");
  EXPECT_EQ(recorded(with({{"split", "2 GiB"}, {"processes", "2"}})), "split=2 GiB processes=2 ");
}

}  // namespace
}  // namespace tidemark

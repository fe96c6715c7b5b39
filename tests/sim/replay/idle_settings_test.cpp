#include "sim/replay/idle_settings.h"

#include <gtest/gtest.h>

#include "tiny.h"

namespace tidemark {
namespace {

using testing::tiny_scenario;

std::vector<std::string> said(const std::vector<Setting>& given,
                              std::vector<StrategyKind> strategies = {StrategyKind::kResident},
                              bool timed = false) {
  std::vector<Scenario> scenarios;
  for (const StrategyKind strategy : strategies) {
    scenarios.push_back(tiny_scenario(strategy));
    scenarios.back().settings = given;
  }
  return idle_settings(scenarios, timed);
}

using Sentences = std::vector<std::string>;

TEST(IdleSettings, ThoseOfOneReasonStandTogetherAsTheyWereGiven) {
  EXPECT_EQ(said({{"n_gpu_layers", "9", "flag --n-gpu-layers, held to 3"},
                  {"mlock", "on", "flag --set mlock"},
                  {"repack", "arm", "device x"},
                  {"no_mmap", "on", "environment TIDEMARK_NO_MMAP"},
                  {"model_draft", "m", "scenario s.yaml:3"}}),
            (Sentences{"--n-gpu-layers, --set mlock, TIDEMARK_NO_MMAP, model_draft: no effect on "
                       "this replay, heeded by engines of llama.cpp alone"}));
}

TEST(IdleSettings, WhatNobodyGaveIsNotNamed) {
  EXPECT_EQ(said({{"margin", "10 %", "default"}, {"cache_policy", "lru", "default"}}), Sentences{});
  EXPECT_EQ(idle_settings({}, false), Sentences{});
}

// A context of 16 cells, ubatches of 4: a window of 12 keeps 16, one of 11 fewer.
TEST(IdleSettings, SwaFullCountsWhereAWindowKeepsFewerCells) {
  Scenario scenario = testing::tiny_scenario();
  scenario.settings = {{"swa_full", "on", "flag --swa-full"}};
  AttentionSpec& spec =
      std::get<AttentionSpec>(std::get<TransformerSpec>(scenario.model.dims).layers[1].mixer);
  for (const auto& [window, idle] : {std::pair<int64_t, size_t>{0, 1}, {12, 1}, {11, 0}}) {
    spec.window = window;
    EXPECT_EQ(idle_settings(std::span(&scenario, 1), false).size(), idle) << window;
  }
}

// By key: the strategy that heeds it, if any does.
TEST(IdleSettings, EachCountsWhereItIsHeeded) {
  struct Row {
    const char* key = "";
    std::optional<StrategyKind> heeded_by{};
  };
  constexpr auto kMmap = StrategyKind::kMmap;
  constexpr auto kBlockCache = StrategyKind::kBlockCache;
  for (const auto& [key, heeded_by] : std::vector<Row>{{"kv_unified"},
                                                       {"swa_full"},
                                                       {"load_overlap"},
                                                       {"kv_block"},
                                                       {"chunk", StrategyKind::kChunked},
                                                       {"prefetch", kMmap},
                                                       {"read_order", kMmap},
                                                       {"device", kMmap},
                                                       {"device", kBlockCache},
                                                       {"pinned", kBlockCache},
                                                       {"cache_policy", kBlockCache},
                                                       {"cache_size", kBlockCache},
                                                       {"cache_size", kMmap},
                                                       {"budget", kMmap},
                                                       {"margin", kBlockCache}}) {
    SCOPED_TRACE(key);
    const std::vector<Setting> given{{key, "x", "flag --it"}};
    for (const StrategyKind other : {StrategyKind::kResident, StrategyKind::kDoubleBuffer}) {
      ASSERT_EQ(said(given, {other}).size(), 1U);
      EXPECT_TRUE(said(given, {other}).front().starts_with("--it: no effect on this replay, "));
      if (!heeded_by) continue;
      EXPECT_EQ(said(given, {*heeded_by}), Sentences{});
      EXPECT_EQ(said(given, {other, *heeded_by}), Sentences{}) << "one of two is enough";
    }
  }
}

TEST(IdleSettings, ADeviceCountsWhereTimesAreCompared) {
  const std::vector<Setting> given{{"device", "x", "flag --device"}};
  EXPECT_EQ(said(given, {StrategyKind::kResident}, false),
            Sentences{"--device: no effect on this replay, what is resident is the same on all; "
                      "--compare-time compares its times"});
  EXPECT_EQ(said(given, {StrategyKind::kResident}, true), Sentences{});
}

TEST(IdleSettings, ALimitIsFilledWhereNoSizeIsGiven) {
  Scenario scenario = tiny_scenario(StrategyKind::kMmap);
  scenario.settings = {{"budget", "1 GiB", "flag --budget"}};
  EXPECT_EQ(idle_settings(std::span(&scenario, 1), false), Sentences{});
  scenario.cache.capacity = Bytes::of(4096);
  EXPECT_EQ(idle_settings(std::span(&scenario, 1), false).size(), 1U);
}

TEST(IdleSettings, BlocksCountWhereTheCacheGrows) {
  Scenario scenario = tiny_scenario();
  scenario.settings = {{"kv_block", "8", "flag --kv-block"}};
  scenario.kv_in_blocks = true;
  EXPECT_EQ(idle_settings(std::span(&scenario, 1), false), Sentences{});
}

// Which the replay does not carry out, and says so.
TEST(IdleSettings, PredictedTimesDependOnMore) {
  for (const char* key : {"read_size", "read_depth", "threads", "cores", "read_order"}) {
    SCOPED_TRACE(key);
    const std::vector<Setting> given{{key, "x", "flag --it"}};
    const Sentences untimed = said(given, {StrategyKind::kResident}, false);
    ASSERT_EQ(untimed.size(), 1U);
    EXPECT_TRUE(untimed.front().starts_with("--it: no effect on this replay, "));
    const Sentences timed = said(given, {StrategyKind::kResident, StrategyKind::kMmap}, true);
    ASSERT_EQ(timed.size(), 1U);
    EXPECT_TRUE(timed.front().starts_with("--it: heeded by the predicted times alone; here "));
  }
  EXPECT_EQ(
      said({{"read_size", "1 MiB", "flag --read-size"}, {"read_depth", "4", "flag -d"}},
           {StrategyKind::kResident}, true),
      Sentences{"--read-size, -d: heeded by the predicted times alone; here a unit is read in "
                "one piece"});
  EXPECT_EQ(said({{"read_order", "random", "flag --read-order"}}, {StrategyKind::kMmap}, true),
            Sentences{});
}

TEST(IdleSettings, TheStateOfThePageCacheIsHeededEverywhere) {
  const std::vector<Setting> given{{"page_cache", "warm", "flag --page-cache"}};
  for (const StrategyKind strategy : strategies()) {
    EXPECT_EQ(said(given, {strategy}, false), Sentences{});
    EXPECT_EQ(said(given, {strategy}, true), Sentences{});
  }
}

}  // namespace
}  // namespace tidemark

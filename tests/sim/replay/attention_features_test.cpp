// Attention beyond plain dense, each feature in a model that has no other: it runs as it is
// planned, its outputs are alive, and they are those of a model that says the same in another way.
#include <gtest/gtest.h>

#include <functional>

#include "alive.h"
#include "attention_judge.h"
#include "numbered_weights.h"
#include "sim/replay/replay_input.h"

namespace tidemark {
namespace {

using testing::AttentionJudge;
using testing::Bench;
using testing::expect_alive;
using testing::logits_of;
using testing::Numbering;
using testing::plan_of;
using testing::replay_all;
using testing::tiny_scenario;

using Change = std::function<void(AttentionSpec&)>;

// Two layers of which the second is changed. Prompt 9 in ubatches of 4 and 4 tokens made: up to
// position 11, so that a window of 3 (a ring of 7) or a chunk of 5 (a ring of 9) turns around.
Scenario scenario_with(const Change& change) {
  Scenario scenario = tiny_scenario();
  scenario.prompt = Tokens(9);
  scenario.generate = Tokens(4);
  change(std::get<AttentionSpec>(std::get<TransformerSpec>(scenario.model.dims).layers[1].mixer));
  return scenario;
}

// With and without flash attention, in either kind of cache.
std::vector<Scenario> in_all_ways(Scenario scenario) {
  std::vector<Scenario> all;
  for (const bool flash : {true, false}) {
    for (const DType type : {DType::kF16, DType::kInt8}) {
      scenario.flash_attention = flash;
      scenario.type_k = scenario.type_v = type;
      all.push_back(scenario);
    }
  }
  return all;
}

// Every op of attention, by its definition.
void expect_right(const Scenario& scenario) {
  std::set<OpKind> judged;
  const Bench bench(scenario);
  bench.run(planned_layout(bench.plan),
            [&](const TensorMemory&) { return std::make_unique<AttentionJudge>(bench, judged); });
  EXPECT_EQ(judged.size(), scenario.flash_attention ? 1U : 3U);
}

void expect_runs(const Change& change) {
  const std::vector<Scenario> ways = in_all_ways(scenario_with(change));
  std::vector<ReplayReport> reports = replay_all(testing::under_all_strategies(ways.front()));
  for (const Scenario& scenario : ways) {
    SCOPED_TRACE(scenario.flash_attention ? "flash" : "plain");
    SCOPED_TRACE(name_of(scenario.type_k));
    reports.push_back(replay_all({scenario}).front());
    expect_alive(scenario);
    expect_right(scenario);
  }
  for (const ReplayReport& report : reports) {
    EXPECT_TRUE(passed(report)) << to_text(std::span(&report, 1));
  }
}

TEST(AttentionFeatures, RunAsTheyArePlanned) {
  const std::pair<const char*, Change> features[] = {
      {"window", [](AttentionSpec& a) { a.window = 3; }},
      {"chunk", [](AttentionSpec& a) { a.chunk = 5; }},
      {"sinks", [](AttentionSpec& a) { a.sinks = true; }},
      {"fused", [](AttentionSpec& a) { a.fused_qkv = true; }},
      {"fused with a gate",
       [](AttentionSpec& a) {
         a.fused_qkv = true;
         a.output_gate = true;
       }},
      {"value is key", [](AttentionSpec& a) { a.value_is_key = true; }},
      {"fused, value is key",
       [](AttentionSpec& a) {
         a.fused_qkv = true;
         a.value_is_key = true;
       }},
      {"shared", [](AttentionSpec& a) { a.shares_kv_with = 0; }},
      {"narrow values", [](AttentionSpec& a) { a.head_dim_v = 4; }},
      {"wide values", [](AttentionSpec& a) { a.head_dim_v = 19; }},
      {"all at once", [](AttentionSpec& a) {
         a.window = 2;
         a.sinks = true;
         a.fused_qkv = true;
         a.head_dim_v = 6;
       }}};
  for (const auto& [name, change] : features) {
    SCOPED_TRACE(name);
    expect_runs(change);
  }
}

// Without rope k and v are both views of the fused product: store_kv(qkv).
TEST(AttentionFeatures, AFusedProductWithoutRope) {
  const auto learned = [](TransformerSpec& model) {
    model.n_position = 16;
    for (LayerSpec& layer : model.layers) std::get<AttentionSpec>(layer.mixer).fused_qkv = true;
  };
  for (Scenario scenario : in_all_ways(scenario_with([](AttentionSpec&) {}))) {
    learned(std::get<TransformerSpec>(scenario.model.dims));
    for (const ReplayReport& report : replay_all({scenario})) {
      EXPECT_TRUE(passed(report)) << to_text(std::span(&report, 1));
    }
  }
}

TEST(AttentionFeatures, ARingGivesTheLogitsOfAWholeCache) {
  const Change changes[] = {[](AttentionSpec& a) { a.window = 3; },
                            [](AttentionSpec& a) { a.chunk = 5; }};
  const std::vector<Scenario> dense = in_all_ways(scenario_with([](AttentionSpec&) {}));
  for (const Change& change : changes) {
    const std::vector<Scenario> all = in_all_ways(scenario_with(change));
    for (size_t i = 0; i < all.size(); ++i) {
      Scenario whole = all[i];
      whole.swa_full = true;
      EXPECT_LT(plan_of(all[i]).breakdown.kv_cache, plan_of(whole).breakdown.kv_cache);
      EXPECT_EQ(logits_of(all[i]), logits_of(whole));
      EXPECT_NE(logits_of(all[i]), logits_of(dense[i])) << "a window is not the whole";
    }
  }
}

// Twelve positions: none is farther back than 11.
TEST(AttentionFeatures, AWindowThatSeesAllChangesNothing) {
  for (const auto& [wide, dense] :
       {std::pair{scenario_with([](AttentionSpec& a) { a.window = 12; }),
                  scenario_with([](AttentionSpec&) {})},
        std::pair{scenario_with([](AttentionSpec& a) { a.chunk = 12; }),
                  scenario_with([](AttentionSpec&) {})}}) {
    const std::vector<Scenario> one = in_all_ways(wide);
    const std::vector<Scenario> other = in_all_ways(dense);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(logits_of(one[i]), logits_of(other[i]));
  }
}

TEST(AttentionFeatures, AFusedProductGivesTheLogitsOfThree) {
  for (const bool has_rope : {true, false}) {
    for (const bool has_gate : {false, true}) {
      const auto all_of = [&](bool fused) {
        Scenario scenario = scenario_with([](AttentionSpec&) {});
        auto& model = std::get<TransformerSpec>(scenario.model.dims);
        if (!has_rope) model.n_position = 16;
        for (LayerSpec& layer : model.layers) {
          std::get<AttentionSpec>(layer.mixer).fused_qkv = fused;
          std::get<AttentionSpec>(layer.mixer).output_gate = has_gate;
        }
        return in_all_ways(scenario);
      };
      const std::vector<Scenario> fused = all_of(true);
      const std::vector<Scenario> three = all_of(false);
      for (size_t i = 0; i < fused.size(); ++i) EXPECT_EQ(logits_of(fused[i]), logits_of(three[i]));
    }
  }
}

// Values of 8 of which the last 4 are zeros, and whose outputs nothing comes of.
TEST(AttentionFeatures, NarrowValuesGiveTheLogitsOfWideOnesWithZeros) {
  const auto all_of = [](int64_t width) {
    return in_all_ways(scenario_with([&](AttentionSpec& a) { a.head_dim_v = width; }));
  };
  const std::vector<Scenario> narrow = all_of(4);
  const std::vector<Scenario> wide = all_of(8);
  for (size_t i = 0; i < narrow.size(); ++i) {
    const auto four = logits_of(narrow[i], {.values = 4});
    EXPECT_EQ(four, logits_of(wide[i], {.values = 4}));
    EXPECT_NE(four, logits_of(wide[i])) << "there is something to leave out";
  }
}

TEST(AttentionFeatures, ValuesThatAreKeysGiveTheLogitsOfAMatrixLikeTheKeys) {
  for (const bool fused : {false, true}) {
    const auto all_of = [&](bool value_is_key) {
      return in_all_ways(scenario_with([&](AttentionSpec& a) {
        a.fused_qkv = fused;
        a.value_is_key = value_is_key;
      }));
    };
    const std::vector<Scenario> one = all_of(true);
    const std::vector<Scenario> two = all_of(false);
    for (size_t i = 0; i < one.size(); ++i) {
      const Numbering numbering{.keys_as_values = true};  // in the other layer, too
      EXPECT_EQ(logits_of(one[i], numbering), logits_of(two[i], numbering));
    }
  }
}

TEST(AttentionFeatures, SinksAndSharedCachesAreNotIgnored) {
  const auto dense = logits_of(scenario_with([](AttentionSpec&) {}));
  EXPECT_NE(logits_of(scenario_with([](AttentionSpec& a) { a.sinks = true; })), dense);
  EXPECT_NE(logits_of(scenario_with([](AttentionSpec& a) { a.shares_kv_with = 0; })), dense);
  EXPECT_NE(logits_of(scenario_with([](AttentionSpec& a) { a.value_is_key = true; })), dense);
}

// A layer that shares a cache attends what its owner attends, and the ring is the owner's.
TEST(AttentionFeatures, AWindowIsThatOfTheCache) {
  Scenario scenario = scenario_with([](AttentionSpec& a) { a.shares_kv_with = 0; });
  auto& model = std::get<TransformerSpec>(scenario.model.dims);
  std::get<AttentionSpec>(model.layers[0].mixer).window = 3;
  for (const Scenario& one : in_all_ways(scenario)) {
    EXPECT_TRUE(passed(replay_all({one}).front()));
    expect_right(one);
    Scenario whole = one;
    whole.swa_full = true;
    EXPECT_EQ(logits_of(one), logits_of(whole));
  }
}

// Blocks of 4 cells: the layer without a window has 12 at the end, the other its ring of 7.
TEST(AttentionFeatures, ACacheOfWindowsGrowsByBlocksAsPredicted) {
  testing::Dimensions wide = testing::kTiny;
  wide.n_head = wide.n_head_kv = 16;
  wide.head_dim = 64;
  Scenario scenario = tiny_scenario(StrategyKind::kResident, wide);
  scenario.n_ctx = Tokens(512);
  scenario.prompt = Tokens(100);
  scenario.generate = Tokens(4);
  scenario.kv_in_blocks = true;
  scenario.kv_block = 4;
  auto& model = std::get<TransformerSpec>(scenario.model.dims);
  std::get<AttentionSpec>(model.layers[1].mixer).window = 60;
  const ReplayReport report = replay_all({scenario}).front();
  EXPECT_TRUE(passed(report)) << to_text(std::span(&report, 1));
  const Bytes rounding = page_size() * 24;
  for (const ReplayStep& step : report.steps) {
    EXPECT_GE(step.measured, step.predicted) << step.step << " " << step.op;
    EXPECT_LE(step.measured, step.predicted + rounding) << step.step << " " << step.op;
  }
}

TEST(AttentionFeatures, HeadsThatFitNoKernelAreNamed) {
  const auto refusal = [](const Change& change) {
    const Scenario scenario = scenario_with(change);
    return to_string(unsupported(scenario, plan_of(scenario)));
  };
  EXPECT_EQ(refusal([](AttentionSpec& a) {
              a.value_is_key = true;
              a.head_dim_v = 4;
            }),
            "error: model: values that are keys must be of the size of keys\n");
  EXPECT_EQ(refusal([](AttentionSpec& a) {
              a.output_gate = true;
              a.head_dim_v = 16;
            }),
            "error: model: a gate of the size of queries must cover the values\n");
  EXPECT_EQ(refusal([](AttentionSpec& a) {
              a.shares_kv_with = 0;
              a.head_dim = 16;
            }),
            "error: model: layers that share a KV cache must have the same heads in it\n");
}

}  // namespace
}  // namespace tidemark

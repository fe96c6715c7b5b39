// Attention beyond plain dense, each feature in a model that has no other: it runs as it is
// planned, its outputs are alive, and they are those of a model that says the same in another way.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "alive.h"
#include "sim/kernels/half.h"
#include "sim/kernels/rows.h"
#include "sim/replay/replay_input.h"

namespace tidemark {
namespace {

using testing::expect_alive;
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

void expect_runs(const Change& change) {
  for (const Scenario& scenario : in_all_ways(scenario_with(change))) {
    SCOPED_TRACE(scenario.flash_attention ? "flash" : "plain");
    SCOPED_TRACE(name_of(scenario.type_k));
    for (const ReplayReport& report : replay_all(testing::under_all_strategies(scenario))) {
      EXPECT_TRUE(passed(report)) << to_text(std::span(&report, 1));
    }
    expect_alive(scenario);
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

// Logits of all passes, one behind the other.
class LogitsOf : public RunObserver {
 public:
  explicit LogitsOf(std::vector<std::byte>& logits) : logits_(logits) {}
  bool on_logits(std::span<const std::byte> logits) override {
    logits_.insert(logits_.end(), logits.begin(), logits.end());
    return true;
  }

 private:
  std::vector<std::byte>& logits_;
};

struct Numbering {
  int64_t values = 1000;        // of each stored head; those behind them are zeros
  bool keys_as_values = false;  // V has the numbers of K
};

// A number for each element of each matrix, whatever else the model has: of its part ("q"), head,
// row and column. Of a fused product, q's rows are followed by those of k and v.
class NumberedWeights : public WeightSource {
 public:
  NumberedWeights(const Scenario& scenario, Numbering numbering)
      : numbering_(numbering), model_(scenario.model.transformer()) {}
  std::string describe() const override { return "numbered"; }
  void begin(const WeightTensor& tensor, WeightId /*id*/) override {
    tensor_ = &tensor;
    row_ = 0;
  }
  void next_row(std::span<std::byte> row) override {
    if (tensor_->dtype == DType::kF32) {
      for (size_t at = 0; at < row.size(); at += sizeof(float)) {
        const float gain = 1.0F;
        std::memcpy(&row[at], &gain, sizeof gain);
      }
      return;
    }
    for (size_t column = 0; column + 2 < row.size(); ++column) {
      row[column] = static_cast<std::byte>(value(static_cast<int64_t>(column)));
    }
    store_u16(row.last(2), 0, float_to_half(1.0F / 400));
    ++row_;
  }

 private:
  // The same for a row of a head, whatever the head's size.
  static int64_t by_head(int64_t index, int64_t head_dim) {
    return index / head_dim * 100 + index % head_dim;
  }

  int8_t value(int64_t column) const {
    const auto layer = static_cast<size_t>(std::max<int64_t>(tensor_->layer, 0));
    const AttentionSpec* spec = model_->layers.at(layer).attention();
    std::string part = tensor_->name;
    int64_t row = row_;
    if (tensor_->role == WeightRole::kQkv) part = part_of_fused(*spec, row);
    if (tensor_->role == WeightRole::kQuery) part = "q";
    if (tensor_->role == WeightRole::kKey) part = "k";
    if (tensor_->role == WeightRole::kValue) part = "v";
    if (part == "v" && row % spec->value_dim() >= numbering_.values) return 0;
    if (part == "k") row = by_head(row, spec->head_dim);
    if (part == "v") row = by_head(row, spec->value_dim());
    if (part == "v" && numbering_.keys_as_values) part = "k";
    if (tensor_->role == WeightRole::kAttentionOutput) column = by_head(column, spec->value_dim());
    const uint64_t name = std::hash<std::string>()(part);
    Generator generator = Generator::of(name, static_cast<uint64_t>(row * 10'000 + column));
    return static_cast<int8_t>(generator.below(255) - 127);
  }

  static std::string part_of_fused(const AttentionSpec& spec, int64_t& row) {
    const int64_t queries = spec.n_head * spec.head_dim;
    const int64_t keys = spec.n_head_kv * spec.head_dim;
    if (row < queries) return "q";
    row -= queries;
    if (row < keys) return "k";
    row -= keys;
    return "v";
  }

  Numbering numbering_;
  const TransformerSpec* model_;
  const WeightTensor* tensor_ = nullptr;
  int64_t row_ = 0;
};

std::vector<std::byte> logits_of(const Scenario& scenario, Numbering numbering = {}) {
  const MemoryPlan plan = plan_of(scenario);
  EXPECT_EQ(to_string(unsupported(scenario, plan)), "");
  const Passes passes = passes_of(scenario, plan);
  const Itinerary itinerary = itinerary_of(plan, passes);
  const UnitLayout layout(plan);
  NumberedWeights source(scenario, numbering);
  const WeightFile weights(plan.weights, source, ::testing::TempDir(), nullptr);
  const ArenaLayout arena = planned_layout(plan);
  const TensorMemory memory(plan, arena, Fault::kOnTouch);
  const auto loader = make_unit_loader(
      scenario, plan, {.weights = weights, .layout = layout, .itinerary = itinerary});
  std::vector<std::byte> logits;
  LogitsOf observer(logits);
  const TransformerSpec& model = *scenario.model.transformer();
  const std::vector<int32_t> prompt = made_up_prompt(3, passes.prompt_tokens, model.n_vocab);
  run_model({.model = model,
             .plan = plan,
             .passes = passes,
             .layout = layout,
             .memory = memory,
             .loader = *loader,
             .observer = observer},
            prompt);
  return logits;
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
    const auto all_of = [&](bool fused) {
      Scenario scenario = scenario_with([](AttentionSpec&) {});
      auto& model = std::get<TransformerSpec>(scenario.model.dims);
      if (!has_rope) model.n_position = 16;
      for (LayerSpec& layer : model.layers) std::get<AttentionSpec>(layer.mixer).fused_qkv = fused;
      return in_all_ways(scenario);
    };
    const std::vector<Scenario> fused = all_of(true);
    const std::vector<Scenario> three = all_of(false);
    for (size_t i = 0; i < fused.size(); ++i) EXPECT_EQ(logits_of(fused[i]), logits_of(three[i]));
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

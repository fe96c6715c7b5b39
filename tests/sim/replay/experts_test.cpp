// Small mixtures of experts: each lives, each op of its experts is judged, and its replay passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "alive.h"
#include "expert_judge.h"
#include "sim/replay/mapping.h"

namespace tidemark {
namespace {

using testing::Bench;
using testing::Choices;
using testing::replay_all;

constexpr MoeSpec kSix{.n_expert = 6, .n_expert_used = 2, .n_ff_exp = 24};

MoeSpec with(const std::function<void(MoeSpec&)>& change) {
  MoeSpec spec = kSix;
  change(spec);
  return spec;
}

// The tiny model with experts in place of its feed-forwards.
Scenario mixture(const MoeSpec& moe, const testing::Dimensions& dimensions = testing::kTiny) {
  Scenario scenario = testing::tiny_scenario(StrategyKind::kResident, dimensions);
  scenario.n_ctx = Tokens(32);
  scenario.prompt = Tokens(9);  // 4, 4 and 1
  for (LayerSpec& layer : std::get<TransformerSpec>(scenario.model.dims).layers) {
    layer.feed_forward = {};
    layer.moe = moe;
  }
  return scenario;
}

// Outputs as without reuse, and every step measured as predicted but for whole pages.
void expect_replayed(const Scenario& scenario) {
  const std::vector<ReplayReport> reports = replay_all(testing::under_all_strategies(scenario));
  const MemoryPlan plan = testing::plan_of(scenario);
  const Bytes rounding = page_size() * (4 + 2 * std::ssize(plan.units)) + kLeastGuard;
  for (const ReplayReport& report : reports) {
    SCOPED_TRACE(report.strategy);
    EXPECT_TRUE(passed(report)) << to_text(std::span(&report, 1));
    EXPECT_EQ(report.tokens, reports.front().tokens);
    for (const ReplayStep& step : report.steps) {
      EXPECT_GE(step.measured, step.predicted) << step.step << " " << step.op;
      EXPECT_LE(step.measured, step.predicted + rounding) << step.step << " " << step.op;
    }
  }
}

Choices judged_choices(const Scenario& scenario, std::set<ExpertOp>& judged) {
  const Bench bench(scenario);
  Choices choices;
  bench.run(planned_layout(bench.plan), [&](const TensorMemory&) {
    return std::make_unique<testing::ExpertJudge>(bench, judged, choices);
  });
  return choices;
}

// The kinds of ops that were judged.
std::set<ExpertOp> expect_right(const Scenario& scenario) {
  std::set<ExpertOp> judged;
  judged_choices(scenario, judged);
  testing::expect_alive(scenario);
  expect_replayed(scenario);
  return judged;
}

TEST(Experts, RunAsPlanned) {
  const std::set<ExpertOp> judged = expect_right(mixture(kSix));
  EXPECT_EQ(judged, (std::set{ExpertOp::kFloatProduct, ExpertOp::kProbabilities, ExpertOp::kChoice,
                              ExpertOp::kProduct, ExpertOp::kWeigh, ExpertOp::kSum}));
}

TEST(Experts, SoWithASharedOneBehindAGate) {
  expect_right(mixture(with([](MoeSpec& moe) { moe.n_ff_shared = 40; })));
  expect_right(mixture(with([](MoeSpec& moe) {
    moe.n_ff_shared = 40;
    moe.shared_gate = true;
  })));
}

TEST(Experts, SoWithEveryBias) {
  const std::set<ExpertOp> judged = expect_right(mixture(with([](MoeSpec& moe) {
    moe.n_ff_shared = 40;
    moe.router_bias = moe.balance_bias = moe.expert_bias = moe.shared_bias = true;
  })));
  EXPECT_TRUE(judged.contains(ExpertOp::kBias));
}

TEST(Experts, SoWithoutAGate) {
  expect_right(mixture(with([](MoeSpec& moe) { moe.gated = false; })));
}

TEST(Experts, SoWithOneATokenAndWithAll) {
  expect_right(mixture(with([](MoeSpec& moe) { moe.n_expert_used = 6; })));
  // All weights are 255/256: as large as they can be.
  for (const int64_t experts : {1, 6}) {
    const Scenario scenario = mixture(with([&](MoeSpec& moe) {
      moe.n_expert = experts;
      moe.n_expert_used = 1;
    }));
    std::set<ExpertOp> judged;
    judged_choices(scenario, judged);
    expect_replayed(scenario);
  }
}

// A matrix of one row stays in floats, as vectors do.
TEST(Experts, ASingleOneOfASingleRow) {
  expect_replayed(mixture(with([](MoeSpec& moe) {
    moe.n_expert = moe.n_expert_used = 1;
    moe.n_ff_exp = 1;
  })));
}

TEST(Experts, SoBesideADenseFeedForward) {
  Scenario scenario = mixture(kSix);
  std::get<TransformerSpec>(scenario.model.dims).layers[1].feed_forward = {.n_ff = 48};
  expect_right(scenario);
}

TEST(Experts, SoWithAScoresTensor) {
  Scenario scenario = mixture(kSix);
  scenario.flash_attention = false;
  expect_right(scenario);
}

// Experts have their rows one below the other, so row formats are those of dense matrices.
TEST(Experts, SoInFormatsWithBlocks) {
  for (const DType format : {DType::kInt4, DType::kQ8_0, DType::kQ4_0}) {
    SCOPED_TRACE(name_of(format));
    Scenario scenario = mixture(with([](MoeSpec& moe) { moe.n_ff_exp = 32; }));
    scenario.quant = {.kind = QuantKind::kFormat, .format = format};
    testing::expect_alive(scenario);
    expect_replayed(scenario);
  }
}

TEST(Experts, ADeepMixtureOfManyLives) {
  testing::Dimensions deep = testing::kTiny;
  deep.n_layer = 48;
  testing::expect_alive(mixture({.n_expert = 128, .n_expert_used = 8, .n_ff_exp = 16}, deep));
}

// 11 tokens, 2 of 6 experts each, in two layers.
TEST(Experts, TokensGoToDifferentOnes) {
  std::set<ExpertOp> judged;
  const Choices choices = judged_choices(mixture(kSix), judged);
  ASSERT_EQ(choices.size(), 2U);
  for (const auto& [layer, of_tokens] : choices) {
    EXPECT_EQ(of_tokens.size(), 11U);
    const std::set<std::vector<int32_t>> different(of_tokens.begin(), of_tokens.end());
    EXPECT_GE(different.size(), 4U) << "layer " << layer;
    std::set<int32_t> met;
    for (const std::vector<int32_t>& chosen : of_tokens) {
      EXPECT_NE(chosen[0], chosen[1]);
      met.insert(chosen.begin(), chosen.end());
    }
    EXPECT_GE(met.size(), 4U) << "layer " << layer;
  }
  EXPECT_NE(choices.at(0), choices.at(1));
}

// Prefill of 4 tokens: rows of 2 chosen experts [24, 2, 4]. The last pass of a prompt of 9 has one.
TEST(Experts, RowsOfTheChosenFollowTheTokens) {
  const Bench bench(mixture(kSix));
  const ArenaLayout layout = planned_layout(bench.plan);
  const TensorMemory memory(bench.plan, layout, Fault::kOnTouch);
  const PhasePlan& phase = bench.plan.prefill;
  const PassMemory pass(phase, memory, {.phase = Phase::kPrefill, .tokens = 3, .cells = 3});
  std::map<std::string, size_t> used;
  for (const Tensor& tensor : phase.graph.tensors())
    used[tensor.name] = pass.used(tensor.id).size();
  EXPECT_EQ(used.at("blk.0.router"), 6U * 3U);
  EXPECT_EQ(used.at("blk.0.expert_weights"), 2U * 3U);
  EXPECT_EQ(used.at("blk.0.experts"), 2U * 3U * sizeof(int32_t));
  EXPECT_EQ(used.at("blk.0.expert_gate"), 24U * 2U * 3U);
  EXPECT_EQ(used.at("blk.0.expert_silu"), 24U * 2U * 3U);
  EXPECT_EQ(used.at("blk.0.expert_weighted"), 32U * 2U * 3U);
  EXPECT_EQ(used.at("blk.0.expert_sum"), 32U * 3U);
  EXPECT_EQ(used.at("blk.0.ffn_add"), 32U * 3U);
}

TEST(Experts, AnExpertTensorIsWrittenWhole) {
  const Bench bench(mixture(kSix));
  const WeightId id = bench.plan.weights.find(WeightRole::kExpertDown, 1);
  const WeightTensor& tensor = bench.plan.weights.tensors.at(id.index());
  EXPECT_EQ(tensor.bytes, Bytes::of(6 * 32 * (24 + 2)));
  const WeightPlace& place = bench.layout.place(id);
  std::vector<std::byte> bytes(place.bytes);
  bench.weights.file().read(
      bench.layout.extent(place.unit).lower.count() + static_cast<int64_t>(place.offset), bytes);
  std::set<std::vector<std::byte>> experts;
  for (int64_t expert = 0; expert < 6; ++expert) {
    const auto matrix = row_of(std::span<const std::byte>(bytes), expert, 32 * (24 + 2));
    experts.emplace(matrix.begin(), matrix.end());
  }
  EXPECT_EQ(experts.size(), 6U) << "no two are the same";
}

// A safetensors file: tensors of experts have three dimensions there, as in GGUF. Value i is
// ((11 i) mod 255 - 127) / 1000.
std::filesystem::path write_file(const WeightsInventory& weights) {
  std::string header;
  std::string data;
  for (const WeightTensor& tensor : weights.tensors) {
    const size_t begin = data.size();
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      const float value = static_cast<float>(11 * i % 255 - 127) / 1000.0F;
      data.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    const auto text = [](int64_t number) { return std::to_string(number); };
    header += header.empty() ? "{" : ",";
    header += "\"" + tensor.name + "\":{\"dtype\":\"F32\",\"shape\":[";
    if (tensor.count > 1) header += text(tensor.count) + ",";
    header += text(tensor.rows) + "," + text(tensor.columns) + "],\"data_offsets\":[";
    header += text(static_cast<int64_t>(begin)) + "," + text(std::ssize(data)) + "]}";
  }
  header += "}";
  const uint64_t length = header.size();
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "experts.safetensors";
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header << data;
  return path;
}

TEST(Experts, ComeFromAFileAsWell) {
  const Scenario scenario = mixture(with([](MoeSpec& moe) { moe.expert_bias = true; }));
  const std::filesystem::path path = write_file(testing::plan_of(scenario).weights);
  for (const ReplayReport& report :
       replay_all(testing::under_all_strategies(scenario), {.weights = path})) {
    EXPECT_TRUE(passed(report)) << to_text(std::span(&report, 1));
    EXPECT_EQ(report.weights, "experts.safetensors (safetensors)");
  }
  const Scenario more = mixture(with([](MoeSpec& moe) { moe.n_expert = 7; }));
  const auto outcome =
      replay(std::span(&more, 1), {.scratch = ::testing::TempDir(), .weights = path});
  std::filesystem::remove(path);
  EXPECT_THAT(to_string(outcome.diagnostics()),
              ::testing::HasSubstr("blk.0.ffn_gate_exps.weight is 144 x 32 in the file, 168 x 32 "
                                   "in the model"));
}

TEST(Experts, AShiftedTensorOfTheirsIsFound) {
  for (const std::string name : {"blk.0.expert_weights", "blk.1.expert_down"}) {
    const ReplayReport report =
        replay_all({mixture(kSix)}, {.shift = OffsetShift{.tensor = name, .bytes = 64}}).front();
    EXPECT_FALSE(passed(report)) << name;
  }
}

}  // namespace
}  // namespace tidemark

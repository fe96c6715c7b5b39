#include "sim/replay/file_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>

#include "sim/kernels/rows.h"
#include "sim/replay/weight_format.h"
#include "tiny.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using testing::plan_of;
using testing::replay_all;
using testing::tiny_scenario;

// A safetensors file of f32: 8 bytes of length, a header of names and places, the values. Value i
// of tensor t is ((37 t + 11 i) mod 255 - 127) / 1000.
std::filesystem::path write_file(const std::string& name, const WeightsInventory& weights,
                                 bool checkpoint_names, size_t left_out = SIZE_MAX) {
  std::string header = "{";
  std::string data;
  for (size_t t = 0; t < weights.tensors.size(); ++t) {
    if (t == left_out) continue;
    const WeightTensor& tensor = weights.tensors[t];
    const std::string stored = checkpoint_names ? checkpoint_name(tensor.name) : tensor.name;
    const size_t begin = data.size();
    for (int64_t i = 0; i < tensor.rows * tensor.columns; ++i) {
      const int64_t step = (37 * static_cast<int64_t>(t) + 11 * i) % 255 - 127;
      const float value = static_cast<float>(step) / 1000.0F;
      data.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    if (header.size() > 1) header += ",";
    const std::string columns = std::to_string(tensor.columns);
    header += "\"" + stored + "\":{\"dtype\":\"F32\",\"shape\":[";
    header += tensor.dtype == DType::kF32 ? columns : std::to_string(tensor.rows) + "," + columns;
    header += "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data.size());
    header += "]}";
  }
  header += "}";
  const uint64_t length = header.size();
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / name;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header << data;
  return path;
}

TEST(FileWeightsTest, NamesOfACheckpoint) {
  EXPECT_EQ(checkpoint_name("token_embd.weight"), "model.embed_tokens.weight");
  EXPECT_EQ(checkpoint_name("output.weight"), "lm_head.weight");
  EXPECT_EQ(checkpoint_name("blk.3.attn_q.weight"), "model.layers.3.self_attn.q_proj.weight");
  EXPECT_EQ(checkpoint_name("blk.12.ffn_norm.weight"),
            "model.layers.12.post_attention_layernorm.weight");
  EXPECT_EQ(checkpoint_name("blk.0.attn_v.bias"), "model.layers.0.self_attn.v_proj.bias");
  EXPECT_EQ(checkpoint_name("blk.0.attn_k_norm.weight"), "model.layers.0.self_attn.k_norm.weight");
  EXPECT_EQ(checkpoint_name("blk.3.ssm_in.weight"), "");
  EXPECT_EQ(checkpoint_name("blk.3"), "");
  EXPECT_EQ(checkpoint_name("model.norm.weight"), "");
}

TEST(FileWeightsTest, RowsAreTheFilesOwnAsInt8) {
  const MemoryPlan plan = plan_of(tiny_scenario());
  const auto path = write_file("rows.safetensors", plan.weights, false);
  const auto source = weights_from_file(plan.weights, path);
  ASSERT_TRUE(source.ok()) << to_string(source.diagnostics());
  const WeightId query = plan.weights.find(WeightRole::kQuery, 1);
  const WeightTensor& tensor = plan.weights.tensors[query.index()];
  (*source)->begin(tensor, query);
  std::vector<std::byte> row(static_cast<size_t>(stored_row_bytes(tensor.columns)));
  (*source)->next_row(row);
  for (size_t i = 0; i < 32; ++i) {
    const auto t = static_cast<int64_t>(query.index());
    const double value =
        static_cast<double>((37 * t + 11 * static_cast<int64_t>(i)) % 255 - 127) / 1000.0;
    const double stored = stored_values(row)[i] * static_cast<double>(stored_scale(row));
    EXPECT_NEAR(stored, value, static_cast<double>(stored_scale(row)) * 0.51);
  }
  std::filesystem::remove(path);
}

// The 32 values of the first row of a query, 37 t + 11 i as above, by the quantizer of each format.
TEST(FileWeightsTest, RowsAreStoredInTheFormatThatIsPlanned) {
  for (const DType type : {DType::kInt4, DType::kQ8_0, DType::kQ4_0}) {
    Scenario scenario = tiny_scenario();
    scenario.quant.format = type;
    const MemoryPlan plan = plan_of(scenario);
    const auto path = write_file("formats.safetensors", plan.weights, false);
    const auto source = weights_from_file(plan.weights, path);
    ASSERT_TRUE(source.ok()) << to_string(source.diagnostics());
    const WeightId query = plan.weights.find(WeightRole::kQuery, 1);
    std::vector<float> values;
    for (int64_t i = 0; i < 32; ++i) {
      const int64_t step = (37 * static_cast<int64_t>(query.index()) + 11 * i) % 255 - 127;
      values.push_back(static_cast<float>(step) / 1000.0F);
    }
    std::vector<std::byte> wanted(static_cast<size_t>(row_bytes(type, 32).count()));
    quantize_row(row_format_of(type).value(), values, wanted);
    std::vector<std::byte> row(wanted.size());
    (*source)->begin(plan.weights.tensors[query.index()], query);
    (*source)->next_row(row);
    EXPECT_EQ(row, wanted) << name_of(type);
    for (const ReplayReport& report :
         replay_all(testing::under_all_strategies(scenario), {.weights = path})) {
      EXPECT_TRUE(passed(report)) << report.strategy;
    }
    std::filesystem::remove(path);
  }
}

TEST(FileWeightsTest, AReplayOfThemIsTheSameUnderEitherNames) {
  const Scenario scenario = tiny_scenario();
  const MemoryPlan plan = plan_of(scenario);
  std::vector<ReplayReport> first;
  for (const bool checkpoint_names : {false, true}) {
    const auto path = write_file("model.safetensors", plan.weights, checkpoint_names);
    const auto reports = replay_all(testing::under_all_strategies(scenario), {.weights = path});
    std::filesystem::remove(path);
    ASSERT_EQ(reports.size(), strategies().size());
    if (first.empty()) first = reports;
    for (const ReplayReport& report : reports) {
      EXPECT_TRUE(passed(report)) << report.strategy;
      EXPECT_EQ(report.tokens, first.front().tokens);
      EXPECT_EQ(report.weights, "model.safetensors (safetensors)");
    }
  }
}

// Puts `value` over the first values of tensor `t` of a file with GGUF names.
void spoil(const std::filesystem::path& path, const WeightsInventory& weights, size_t t,
           const std::vector<float>& values) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  uint64_t length = 0;
  file.read(reinterpret_cast<char*>(&length), sizeof length);
  int64_t before = 0;
  for (size_t i = 0; i < t; ++i) before += weights.tensors[i].rows * weights.tensors[i].columns;
  file.seekp(
      static_cast<std::streamoff>(sizeof length + length + static_cast<uint64_t>(before) * 4));
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
}

TEST(FileWeightsTest, NanAndInfiniteValuesAreCountedAndRefused) {
  const Scenario scenario = tiny_scenario();
  const MemoryPlan plan = plan_of(scenario);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto path = write_file("nan.safetensors", plan.weights, false);
  const size_t norm = plan.weights.find(WeightRole::kAttentionNorm, 0).index();
  const size_t down = plan.weights.find(WeightRole::kDown, 1).index();
  spoil(path, plan.weights, norm, {kNan});
  spoil(path, plan.weights, down, {1.0F, kNan, -kInfinity, 3.4e38F});
  const Result<ReplayOutcome> outcome =
      replay(std::span(&scenario, 1), {.scratch = ::testing::TempDir(), .weights = path});
  std::filesystem::remove(path);
  const std::string file = path.string() + ": error: ";
  EXPECT_EQ(to_string(outcome.diagnostics()),
            file + plan.weights.tensors[norm].name +
                ": 1 of 32 values is NaN or infinite\n"
                "  hint: a replay of them would prove nothing: name a sound file, or leave "
                "--weights out\n" +
                file + "blk.1.ffn_down.weight: 2 of 2,048 values are NaN or infinite\n");
}

// Zeros give logits of zero, and a head of zeros does so behind sound layers.
TEST(FileWeightsTest, WeightsFromWhichNothingIsSeenAreFoundOut) {
  testing::Dimensions untied = testing::kTiny;
  untied.tied_embeddings = false;
  const Scenario scenario = tiny_scenario(StrategyKind::kResident, untied);
  const MemoryPlan plan = plan_of(scenario);
  const auto path = write_file("zeros.safetensors", plan.weights, false);
  const auto all_equal = [&] {
    const ReplayReport report = replay_all({scenario}, {.weights = path}).front();
    EXPECT_TRUE(passed(report));
    return report.outputs_all_equal;
  };
  const auto make_zeros = [&](size_t t) {
    const WeightTensor& tensor = plan.weights.tensors[t];
    spoil(path, plan.weights, t,
          std::vector<float>(static_cast<size_t>(tensor.rows * tensor.columns)));
  };
  EXPECT_FALSE(all_equal());
  make_zeros(plan.weights.find(WeightRole::kUp, 1).index());
  EXPECT_FALSE(all_equal());
  make_zeros(plan.weights.find(WeightRole::kOutputNorm).index());
  EXPECT_TRUE(all_equal());
  for (size_t t = 0; t < plan.weights.tensors.size(); ++t) make_zeros(t);
  EXPECT_TRUE(all_equal());
  std::filesystem::remove(path);
}

TEST(FileWeightsTest, OfManyBadTensorsTenAreNamed) {
  const MemoryPlan plan = plan_of(tiny_scenario());
  const auto path = write_file("bad.safetensors", plan.weights, false);
  ASSERT_EQ(plan.weights.tensors.size(), 20U) << "embedding, last norm and nine a layer";
  for (size_t t = 0; t < 13; ++t) {
    spoil(path, plan.weights, t, {std::numeric_limits<float>::infinity()});
  }
  const auto source = weights_from_file(plan.weights, path);
  ASSERT_TRUE(source.ok()) << to_string(source.diagnostics());
  try {
    const WeightFile written(plan.weights, **source, ::testing::TempDir(), nullptr);
    ADD_FAILURE() << "bad weights were taken";
  } catch (const BadWeights& bad) {
    ASSERT_EQ(bad.problems().size(), 11U);
    EXPECT_EQ(bad.problems().back().message, "3 more tensors have NaN or infinite values");
  }
  std::filesystem::remove(path);
}

TEST(FileWeightsTest, AFileOfAnotherModelIsRefused) {
  const MemoryPlan plan = plan_of(tiny_scenario());
  testing::Dimensions wide = testing::kTiny;
  wide.n_ff = 96;
  const MemoryPlan other = plan_of(tiny_scenario(StrategyKind::kResident, wide));
  const auto path = write_file("other.safetensors", other.weights, false, 0);
  const auto source = weights_from_file(plan.weights, path);
  std::filesystem::remove(path);
  ASSERT_FALSE(source.ok());
  const std::string told = to_string(source.diagnostics());
  EXPECT_THAT(told, HasSubstr("--weights: the file has no tensor token_embd.weight"));
  EXPECT_THAT(told,
              HasSubstr("blk.0.ffn_gate.weight is 96 x 32 in the file, 64 x 32 in the model"));
  EXPECT_FALSE(weights_from_file(plan.weights, "/no/such.gguf").ok());
}

}  // namespace
}  // namespace tidemark

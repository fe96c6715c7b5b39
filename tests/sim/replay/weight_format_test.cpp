#include "sim/replay/weight_format.h"

#include <gtest/gtest.h>

#include <array>

#include "planner/base/check.h"
#include "planner/model/quantized_weights.h"
#include "tiny.h"

namespace tidemark {
namespace {

using testing::plan_of;
using testing::tiny_scenario;

constexpr std::array kTypes{DType::kInt8, DType::kInt4, DType::kQ8_0, DType::kQ4_0};

TEST(WeightFormatTest, RowsHaveThePlannersBytes) {
  for (const DType type : kTypes) {
    const std::optional<RowFormat> format = row_format_of(type);
    ASSERT_TRUE(format.has_value());
    for (int64_t columns = 1; columns <= 200; ++columns) {
      EXPECT_EQ(row_format_bytes(*format, columns), row_bytes(type, columns).count())
          << name_of(type) << ' ' << columns;
    }
  }
  for (const DType type : {DType::kF32, DType::kF16, DType::kQ6K, DType::kQ5_0, DType::kI8}) {
    EXPECT_FALSE(row_format_of(type).has_value());
  }
  EXPECT_THROW(row_format({.name = "w", .dtype = DType::kF16}), InternalError);
}

TEST(WeightFormatTest, RowsAreStoredByTheirType) {
  const auto stored = [](DType type, const std::vector<float>& values) {
    const WeightTensor tensor{.columns = std::ssize(values), .rows = 1, .dtype = type};
    std::vector<std::byte> row(weight_row_bytes(tensor));
    store_row(tensor, values, row);
    return row;
  };
  using Bytes4 = std::vector<std::byte>;
  EXPECT_EQ(stored(DType::kF32, {1.0F}),
            (Bytes4{std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x3F}}));
  EXPECT_EQ(stored(DType::kF16, {1.0F, -2.0F}),
            (Bytes4{std::byte{0}, std::byte{0x3C}, std::byte{0}, std::byte{0xC0}}));
  EXPECT_EQ(stored(DType::kBf16, {1.0F, -2.0F}),
            (Bytes4{std::byte{0x80}, std::byte{0x3F}, std::byte{0}, std::byte{0xC0}}));
  // The example of block_rows.h.
  EXPECT_EQ(stored(DType::kInt4, {0.7F, -0.3F, 0.05F}),
            (Bytes4{std::byte{0xD7}, std::byte{0x01}, std::byte{0x66}, std::byte{0x2E}}));
}

// What is said of the tiny model; nothing: it runs.
std::string said(const Scenario& scenario) {
  const std::optional<Diagnostic> found = unreadable_weight(scenario, plan_of(scenario));
  return found ? to_string(Diagnostics{*found}) : "";
}

Scenario with(Quantization quant, const testing::Dimensions& dimensions = testing::kTiny) {
  Scenario scenario = tiny_scenario(StrategyKind::kResident, dimensions);
  scenario.quant = std::move(quant);
  return scenario;
}

constexpr const char* kNotRead = "the replay multiplies rows of int8, int4, Q8_0 and Q4_0; ";

TEST(WeightFormatTest, FormatsAndMixesOfThemAreRead) {
  for (const DType type : kTypes) {
    EXPECT_EQ(said(with({.kind = QuantKind::kFormat, .format = type})), "") << name_of(type);
  }
  EXPECT_EQ(said(with({.kind = QuantKind::kFileType, .file_type = FileType::kQ8_0})), "");
  EXPECT_EQ(said(with({.kind = QuantKind::kFormat,
                       .format = DType::kInt8,
                       .overrides = parse_overrides("ffn=Q4_0,attn=Q8_0").value()})),
            "");
}

// Rows of 256 fill the blocks of Q6_K, which the file type takes for its embedding.
TEST(WeightFormatTest, AMixIsReadWhenItIsPure) {
  testing::Dimensions wide = testing::kTiny;
  wide.n_embd = 256;
  Quantization quant{.kind = QuantKind::kFileType, .file_type = FileType::kQ4_0};
  EXPECT_EQ(said(with(quant, wide)), std::string("error: --quant: ") + kNotRead +
                                         "token_embd.weight is Q6_K\n"
                                         "  hint: add --pure, or --quant int8\n");
  quant.pure = true;
  EXPECT_EQ(said(with(quant, wide)), "");
  quant.file_type = FileType::kQ4KM;
  EXPECT_EQ(said(with(quant, wide)), std::string("error: --quant: ") + kNotRead +
                                         "token_embd.weight is Q4_K\n"
                                         "  hint: add --quant int8\n");
}

// Heads of 10 make the output's rows 40 long, which no block of 32 divides.
TEST(WeightFormatTest, NarrowRowsFallBackToWhatIsNotRead) {
  testing::Dimensions odd = testing::kTiny;
  odd.head_dim = 10;
  const std::string refused = std::string(kNotRead) + "blk.0.attn_output.weight is f16\n";
  EXPECT_EQ(said(with({.kind = QuantKind::kFormat, .format = DType::kQ4_0}, odd)),
            "error: --quant: " + refused + "  hint: add --quant int8\n");
  EXPECT_EQ(said(with({.kind = QuantKind::kFormat,
                       .format = DType::kInt8,
                       .overrides = parse_overrides("attn_output=Q4_0").value()},
                      odd)),
            "error: --tensor-type: " + refused + "  hint: leave --tensor-type out\n");
  for (const DType type : {DType::kInt8, DType::kInt4}) {
    EXPECT_EQ(said(with({.kind = QuantKind::kFormat, .format = type}, odd)), "");
  }
}

TEST(WeightFormatTest, TheSettingAtFaultIsNamed) {
  const auto f16 = [] { return parse_overrides("ffn_up=f16").value(); };
  EXPECT_EQ(said(with({.kind = QuantKind::kFormat, .format = DType::kInt8, .overrides = f16()})),
            std::string("error: --tensor-type: ") + kNotRead +
                "blk.0.ffn_up.weight is f16\n"
                "  hint: leave --tensor-type out\n");
  EXPECT_EQ(said(with({.kind = QuantKind::kFormat, .format = DType::kQ5_0, .overrides = f16()})),
            std::string("error: --quant: ") + kNotRead +
                "token_embd.weight is Q5_0\n"
                "  hint: add --quant int8\n");
  EXPECT_EQ(said(with({.kind = QuantKind::kFileType, .file_type = FileType::kF32})),
            std::string("error: --quant: ") + kNotRead +
                "token_embd.weight is f32\n"
                "  hint: add --quant int8\n")
      << "a matrix of floats is not multiplied";
}

// A model's own file, tensor by tensor: all there, one that is missing, one of another shape.
TEST(WeightFormatTest, AFileOfOtherTensorsIsRefused) {
  Scenario scenario = tiny_scenario();
  const MemoryPlan plan = plan_of(scenario);
  for (const WeightTensor& tensor : plan.weights.tensors) {
    scenario.model.stored.push_back({.name = tensor.name,
                                     .dtype = tensor.rows > 1 ? DType::kQ8_0 : DType::kF32,
                                     .columns = tensor.columns,
                                     .rows = tensor.rows});
  }
  scenario.quant = {};
  EXPECT_EQ(said(scenario), "");
  const std::string refused =
      "error: --quant: blk.0.attn_q.weight is not in the model's file as the model has it\n"
      "  hint: add --quant int8\n";
  ASSERT_EQ(scenario.model.stored[2].name, "blk.0.attn_q.weight");
  MemoryPlan other = plan_of(scenario);
  other.weights.tensors[2].columns = 64;
  const auto told = [&] { return to_string(Diagnostics{*unreadable_weight(scenario, other)}); };
  EXPECT_EQ(told(), refused);
  other.weights.tensors[2].columns = 32;
  other.weights.tensors[2].rows = 0;  // as a table that lacks it has it
  EXPECT_EQ(told(), refused);
}

}  // namespace
}  // namespace tidemark

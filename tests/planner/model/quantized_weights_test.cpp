#include "planner/model/quantized_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "support/sample_models.h"

namespace tidemark {
namespace {

using testing::kLlama31_8b;
using testing::kMiniCpm2b;
using testing::transformer;
using namespace literals;

ModelSpec minicpm() {
  ModelSpec model = transformer(kMiniCpm2b, "minicpm-2b");
  model.architecture = "minicpm";
  return model;
}

Quantization named(std::string_view name) { return parse_quantization(name).value(); }

WeightsInventory weights(const ModelSpec& model, const Quantization& quantization) {
  Result<WeightsInventory> made = quantized_weights(model, quantization);
  EXPECT_TRUE(made.ok()) << to_string(made.diagnostics());
  return made ? std::move(made).value() : WeightsInventory{};
}

const WeightTensor& tensor(const WeightsInventory& inventory, std::string_view name) {
  for (const WeightTensor& one : inventory.tensors) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "no tensor " << name;
  return inventory.tensors.front();
}

// Measured: the files that llama.cpp's quantizer makes of MiniCPM-2B.
TEST(QuantizedWeightsTest, FileTypesOfMiniCpm) {
  EXPECT_EQ(weights(minicpm(), named("Q4_K_M")).bytes, 1'799'561'826_B);
  EXPECT_EQ(weights(minicpm(), named("f16")).bytes, 5'450'135'040_B);
  EXPECT_EQ(weights(minicpm(), named("f32")).bytes, 10'899'523'584_B);
}

TEST(QuantizedWeightsTest, AsStoredIsOneTypeForAll) {
  ModelSpec model = minicpm();
  model.dtype = DType::kBf16;
  EXPECT_EQ(weights(model, {}).bytes, Bytes::of(2 * 2'724'880'896));
}

TEST(QuantizedWeightsTest, AsStoredFollowsThePackingOfTheModel) {
  ModelSpec model = transformer(kLlama31_8b);
  model.stored_as = named("gptq4_g128");
  const WeightsInventory packed = weights(model, {});
  EXPECT_EQ(tensor(packed, "blk.0.attn_q.weight").dtype, DType::kGptq4G128);
  EXPECT_EQ(tensor(packed, "blk.0.attn_q.weight").bytes, 8'732'672_B);  // worked in dtype.h
  EXPECT_EQ(tensor(packed, "token_embd.weight").dtype, DType::kF16);
  EXPECT_EQ(packed.bytes, weights(model, named("gptq4_g128")).bytes);
}

// Of a file, sizes come from its own table: what it lacks takes nothing, what the widths do not
// explain is counted.
TEST(QuantizedWeightsTest, AFilesTableWins) {
  ModelSpec model = transformer({.n_layer = 1});
  for (const WeightTensor& one : weight_tensors(model)) {
    if (one.name == "blk.0.ffn_up.weight") continue;
    model.stored.push_back({one.name, DType::kF16, one.columns, one.rows, one.count});
  }
  model.stored.push_back({"rope_freqs.weight", DType::kF32, 16, 1, 1});
  const int64_t up = 4 * 6;  // n_embd x n_ff
  const WeightsInventory file = weights(model, {});
  EXPECT_EQ(file.elements, parameter_count(model) - up + 16);
  EXPECT_EQ(file.bytes, Bytes::of(2 * (parameter_count(model) - up) + 4 * 16));
  EXPECT_EQ(tensor(file, "rope_freqs.weight").role, WeightRole::kExtra);
  EXPECT_EQ(tensor(file, "blk.0.ffn_up.weight").bytes, 0_B);
  // Asked for in another format, the widths are the question.
  EXPECT_EQ(weights(model, named("f16")).elements, parameter_count(model));
}

TEST(QuantizedWeightsTest, TowersKeepSixteenBits) {
  ModelSpec model = transformer({.n_layer = 1, .n_embd = 256, .head_dim = 128, .n_ff = 256});
  model.dtype = DType::kBf16;
  auto& spec = std::get<TransformerSpec>(model.dims);
  spec.stacks.push_back({.role = StackRole::kVision,
                         .n_embd = 256,
                         .extras = {{.name = "patch_embd.weight", .columns = 256, .rows = 10}}});
  const WeightsInventory mix = weights(model, named("Q4_K_M"));
  EXPECT_EQ(tensor(mix, "v.patch_embd.weight").bytes, Bytes::of(2 * 2560));
  EXPECT_EQ(tensor(mix, "blk.0.attn_q.weight").dtype, DType::kQ4K);
}

TEST(QuantizedWeightsTest, ActiveParametersLeaveIdleExpertsOut) {
  ModelSpec model = transformer({.n_layer = 1});
  auto& layer = std::get<TransformerSpec>(model.dims).layers.front();
  const int64_t dense = parameter_count(model);
  layer.moe = {.n_expert = 8, .n_expert_used = 2, .n_ff_exp = 5};
  const int64_t expert = 3 * 4 * 5;  // gate, up, down
  const WeightsInventory inventory = weights(model, {});
  EXPECT_EQ(inventory.parameters, dense + 4 * 8 + 8 * expert);
  EXPECT_EQ(inventory.active_parameters, inventory.parameters - 6 * expert);
}

TEST(QuantizedWeightsTest, OverridesApplyToWhatIsStored) {
  ModelSpec model = transformer({.n_layer = 1});
  Quantization quantization;
  quantization.overrides = parse_overrides("ffn_down=f32").value();
  const WeightsInventory inventory = weights(model, quantization);
  EXPECT_EQ(tensor(inventory, "blk.0.ffn_down.weight").dtype, DType::kF32);
  EXPECT_EQ(tensor(inventory, "blk.0.ffn_up.weight").dtype, DType::kF16);
}

TEST(QuantizedWeightsTest, NominalFormats) {
  const ModelSpec model = minicpm();
  EXPECT_EQ(nominal_format(model, named("Q4_K_M")), DType::kQ4K);
  EXPECT_EQ(nominal_format(model, named("int4")), DType::kInt4);
  EXPECT_EQ(nominal_format(model, {}), model.dtype);
}

// A file numbers draft layers on behind the main ones, and the mixes go by that number.
TEST(QuantizedWeightsTest, DraftLayersAreTheLastOfTheFile) {
  ModelSpec model = transformer({.n_layer = 8, .n_embd = 256, .head_dim = 128, .n_ff = 256});
  auto& spec = std::get<TransformerSpec>(model.dims);
  LayerSpec expert = spec.layers.front();
  expert.moe = {.n_expert = 4, .n_expert_used = 2, .n_ff_exp = 256};
  spec.stacks.push_back({.role = StackRole::kDraft, .n_embd = 256, .layers = {expert}});
  // The ninth of nine layers: more bits, as for every layer from 7 x 9 / 8 = 7 on.
  EXPECT_EQ(tensor(weights(model, named("Q4_K_M")), "mtp.blk.0.ffn_down_exps.weight").dtype,
            DType::kQ6K);
}

// gpt-oss-20b by its widths: 19,110,297,600 expert values at 17 bytes for 32, the other
// 1,804,459,584 at 2 bytes: the 13,761,264,768 bytes of its checkpoint.
TEST(QuantizedWeightsTest, OnlyTheExpertsOfGptOssAreMxfp4) {
  ModelSpec model = transformer({.n_layer = 24,
                                 .n_embd = 2880,
                                 .n_head = 64,
                                 .n_head_kv = 8,
                                 .head_dim = 64,
                                 .n_ff = 0,
                                 .n_vocab = 201088,
                                 .tied_embeddings = false});
  model.dtype = DType::kBf16;
  model.stored_as = named("mxfp4");
  for (LayerSpec& layer : std::get<TransformerSpec>(model.dims).layers) {
    auto& attention = std::get<AttentionSpec>(layer.mixer);
    attention.bias = {.q = true, .k = true, .v = true, .out = true};
    attention.sinks = true;
    layer.moe = {.n_expert = 32,
                 .n_expert_used = 4,
                 .n_ff_exp = 2880,
                 .router_bias = true,
                 .expert_bias = true};
  }
  const WeightsInventory stored = weights(model, {});
  EXPECT_EQ(stored.parameters, 20'914'757'184);
  EXPECT_EQ(stored.bytes, 13'761'264'768_B);
}

// Draft heads that no total counts are not in the file, and shift no layer of the mix.
TEST(QuantizedWeightsTest, UncountedDraftHeadsChangeNothing) {
  ModelSpec model = transformer({.n_layer = 8, .n_embd = 256, .head_dim = 128, .n_ff = 256});
  const Bytes without = weights(model, named("Q4_K_M")).bytes;
  auto& spec = std::get<TransformerSpec>(model.dims);
  spec.stacks.push_back({.role = StackRole::kDraft,
                         .n_embd = 256,
                         .layers = {spec.layers.front()},
                         .is_counted = false});
  EXPECT_EQ(weights(model, named("Q4_K_M")).bytes, without);
}

// A file type refused by its tool says which tensor is at fault.
TEST(QuantizedWeightsTest, RefusalsNameTheTensor) {
  ModelSpec model = transformer({.n_layer = 1, .n_embd = 256, .n_ff = 48});
  const Result<WeightsInventory> refused = quantized_weights(model, named("Q4_0"));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(to_string(refused.diagnostics()), ::testing::HasSubstr("ffn_down"));
}

TEST(QuantizedWeightsLaws, EveryByteBelongsToATensor) {
  EXPECT_TRUE(rc::check("the total is the sum, whatever the quantization", [] {
    const std::vector<std::string> names = quantization_names();
    const std::string name = *rc::gen::elementOf(names);
    const Result<WeightsInventory> made = quantized_weights(minicpm(), named(name));
    if (!made) return;
    Bytes sum;
    for (const WeightTensor& one : made->tensors) sum += one.bytes;
    RC_ASSERT(sum == made->bytes);
    RC_ASSERT(made->parameters == 2'724'880'896);
  }));
}

}  // namespace
}  // namespace tidemark

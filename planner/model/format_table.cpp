// Every storage format, one row each, grouped by where the layout is from. Formats whose layout
// could not be read off their own tool are left out.
#include "planner/model/format_table.h"

#include <array>

namespace tidemark {
namespace {

constexpr int64_t kWholeRow = FormatExtras::kWholeRow;
constexpr int64_t kWholeMatrix = -2;

// Where a user may name the format by itself: for all matrices, for the KV cache, both, neither.
enum class Use { kOffered, kWeightsOnly, kCacheOnly, kNotOffered };
enum class Zero { kNone, kStored };

constexpr bool for_weights(Use use) { return use == Use::kOffered || use == Use::kWeightsOnly; }
constexpr bool for_cache(Use use) { return use == Use::kOffered || use == Use::kCacheOnly; }

constexpr Format plain(DType dtype, std::string_view name, int64_t bytes, int32_t id, Use use) {
  return {.dtype = dtype,
          .name = name,
          .block_bytes = bytes,
          .selectable = for_weights(use),
          .cache = for_cache(use),
          .ggml_id = id};
}

constexpr Format ggml(DType dtype, std::string_view name, int64_t elements, int64_t bytes,
                      int32_t id, Use use) {
  return {.dtype = dtype,
          .name = name,
          .block_elements = elements,
          .block_bytes = bytes,
          .quantized = true,
          .selectable = for_weights(use),
          .cache = for_cache(use),
          .ggml_id = id,
          .extras = {.fit_columns = elements}};
}

constexpr Format bare(DType dtype, std::string_view name, int64_t elements) {
  return {.dtype = dtype,
          .name = name,
          .block_elements = elements,
          .block_bytes = 1,
          .row_bytes = 2,
          .quantized = true,
          .cache = true};
}

constexpr Format other(DType dtype, std::string_view name, int64_t elements, int64_t bytes,
                       int64_t row_bytes, FormatExtras extras = {}) {
  return {.dtype = dtype,
          .name = name,
          .block_elements = elements,
          .block_bytes = bytes,
          .row_bytes = row_bytes,
          .quantized = true,
          .selectable = false,
          .extras = extras};
}

// Offered for the cache as well. Its scale is of a layer, or there is none (vLLM, TensorRT-LLM), so
// no cell has one (state.cpp).
constexpr Format cached(Format format) {
  format.cache = true;
  return format;
}

constexpr Format integer(DType dtype, std::string_view name, int64_t bits, int64_t group,
                         Zero zero) {
  const bool stored = zero == Zero::kStored;
  if (group == kWholeMatrix) {  // a lone zero point takes a byte
    return other(dtype, name, 8 / bits, 1, 0, {.matrix_bytes = stored ? 3 : 2, .flat = true});
  }
  return other(
      dtype, name, 8 / bits, 1, 0,
      {.group = group, .group_bytes = 2, .packed_bits = stored ? bits : 0, .word_bytes = 1});
}

// 32 values of any width fill whole words.
constexpr Format gptq(DType dtype, std::string_view name, int64_t bits, int64_t group) {
  return other(dtype, name, 32, 4 * bits, 0,
               {.group = group,
                .group_bytes = 2,
                .packed_bits = bits,
                .column_bytes = 4,
                .fit_columns = 32,
                .fit_rows = 32});
}

constexpr Format awq(DType dtype, std::string_view name, int64_t group) {
  return other(
      dtype, name, 2, 1, 0,
      {.group = group, .group_bytes = 2, .packed_bits = 4, .fit_columns = group, .fit_rows = 8});
}

constexpr Format bnb4(DType dtype, std::string_view name, bool nested) {
  constexpr int64_t kMap = 16 * 4;
  constexpr int64_t kNestedMapAndOffset = 256 * 4 + 4;
  return other(dtype, name, 2, 1, 0,
               {.group = 64,
                .group_bytes = nested ? 1 : 4,
                .outer_group = nested ? 64 * 256 : 0,
                .outer_bytes = nested ? 4 : 0,
                .matrix_bytes = nested ? kMap + kNestedMapAndOffset : kMap,
                .flat = true});
}

constexpr Format mnn(DType dtype, std::string_view name, int64_t bits, int64_t group) {
  return other(dtype, name, 8 / bits, 1, 0, {.group = group, .group_bytes = 8});
}

constexpr Format mlx(DType dtype, std::string_view name, int64_t bits, int64_t group) {
  return other(dtype, name, 32, 4 * bits, 0,
               {.group = group, .group_bytes = 4, .fit_columns = group});
}

// In the order of DType.
constexpr std::array<Format, 113> kFormats = {{
    // Plain types and this project's first formats, in the order they are listed to users. GGML
    // ids, blocks and bytes: ggml's type table, as restated in the GGUF specification
    // (ggml/docs/gguf.md). Bare int8 and int4: symmetric per output row with one fp16 scale (this
    // project's definition).
    plain(DType::kF32, "f32", 4, 0, Use::kOffered),
    plain(DType::kF16, "f16", 2, 1, Use::kOffered),
    plain(DType::kBf16, "bf16", 2, 30, Use::kOffered),
    bare(DType::kInt8, "int8", 1),
    bare(DType::kInt4, "int4", 2),
    ggml(DType::kQ8_0, "Q8_0", 32, 34, 8, Use::kOffered),
    ggml(DType::kQ4_0, "Q4_0", 32, 18, 2, Use::kOffered),
    ggml(DType::kQ5_0, "Q5_0", 32, 22, 6, Use::kCacheOnly),
    ggml(DType::kQ5_1, "Q5_1", 32, 24, 7, Use::kCacheOnly),
    ggml(DType::kQ4K, "Q4_K", 256, 144, 12, Use::kWeightsOnly),
    ggml(DType::kQ5K, "Q5_K", 256, 176, 13, Use::kNotOffered),
    ggml(DType::kQ6K, "Q6_K", 256, 210, 14, Use::kWeightsOnly),
    plain(DType::kI32, "i32", 4, 26, Use::kNotOffered),
    // The other plain types.
    plain(DType::kF64, "f64", 8, 28, Use::kNotOffered),
    plain(DType::kI8, "i8", 1, 24, Use::kNotOffered),
    plain(DType::kI16, "i16", 2, 25, Use::kNotOffered),
    plain(DType::kI64, "i64", 8, 27, Use::kNotOffered),
    // The other GGML types (ggml.c type traits, ggml-common.h block structures). Q8_1 and Q8_K are
    // what the CPU kernels turn activations into; no file holds them.
    ggml(DType::kQ4_1, "Q4_1", 32, 20, 3, Use::kCacheOnly),
    ggml(DType::kQ8_1, "Q8_1", 32, 36, 9, Use::kNotOffered),
    ggml(DType::kQ2K, "Q2_K", 256, 84, 10, Use::kNotOffered),
    ggml(DType::kQ3K, "Q3_K", 256, 110, 11, Use::kNotOffered),
    ggml(DType::kQ8K, "Q8_K", 256, 292, 15, Use::kNotOffered),
    ggml(DType::kIq1S, "IQ1_S", 256, 50, 19, Use::kNotOffered),
    ggml(DType::kIq1M, "IQ1_M", 256, 56, 29, Use::kNotOffered),
    ggml(DType::kIq2Xxs, "IQ2_XXS", 256, 66, 16, Use::kNotOffered),
    ggml(DType::kIq2Xs, "IQ2_XS", 256, 74, 17, Use::kNotOffered),
    ggml(DType::kIq2S, "IQ2_S", 256, 82, 22, Use::kNotOffered),
    ggml(DType::kIq3Xxs, "IQ3_XXS", 256, 98, 18, Use::kNotOffered),
    ggml(DType::kIq3S, "IQ3_S", 256, 110, 21, Use::kNotOffered),
    ggml(DType::kIq4Nl, "IQ4_NL", 32, 18, 20, Use::kCacheOnly),
    ggml(DType::kIq4Xs, "IQ4_XS", 256, 136, 23, Use::kNotOffered),
    ggml(DType::kTq1_0, "TQ1_0", 256, 54, 34, Use::kNotOffered),
    ggml(DType::kTq2_0, "TQ2_0", 256, 66, 35, Use::kNotOffered),
    ggml(DType::kMxfp4, "MXFP4", 32, 17, 39, Use::kNotOffered),
    ggml(DType::kNvfp4, "NVFP4", 64, 36, 40, Use::kNotOffered),
    ggml(DType::kQ1_0, "Q1_0", 128, 18, 41, Use::kNotOffered),
    ggml(DType::kQ2_0, "Q2_0", 64, 18, 42, Use::kNotOffered),
    // fp8 with one f32 scale per tensor (weight_scale of the usual safetensors checkpoints), and
    // DeepSeek-V3's 128 x 128 blocks with an f32 weight_scale_inv each (its published fp8 weights).
    cached(other(DType::kFp8E4m3, "fp8_e4m3", 1, 1, 0, {.matrix_bytes = 4})),
    cached(other(DType::kFp8E5m2, "fp8_e5m2", 1, 1, 0, {.matrix_bytes = 4})),
    other(DType::kFp8E4m3B128, "fp8_e4m3_b128", 1, 1, 0, {.tile = 128, .tile_bytes = 4}),
    // int8 and int4 by granularity: per tensor, per channel (= output row), per group of columns;
    // an fp16 scale each and with Zp a zero point as wide as the element, those of int4 packed two
    // to a byte. Layout as ONNX QuantizeLinear has it (zero point of the element's type); fp16
    // scales are this project's choice.
    integer(DType::kInt8Tensor, "int8_tensor", 8, kWholeMatrix, Zero::kNone),
    integer(DType::kInt8G32, "int8_g32", 8, 32, Zero::kNone),
    integer(DType::kInt8G64, "int8_g64", 8, 64, Zero::kNone),
    integer(DType::kInt8G128, "int8_g128", 8, 128, Zero::kNone),
    integer(DType::kInt8TensorZp, "int8_tensor_zp", 8, kWholeMatrix, Zero::kStored),
    integer(DType::kInt8ChannelZp, "int8_channel_zp", 8, kWholeRow, Zero::kStored),
    integer(DType::kInt8G32Zp, "int8_g32_zp", 8, 32, Zero::kStored),
    integer(DType::kInt8G64Zp, "int8_g64_zp", 8, 64, Zero::kStored),
    integer(DType::kInt8G128Zp, "int8_g128_zp", 8, 128, Zero::kStored),
    integer(DType::kInt4Tensor, "int4_tensor", 4, kWholeMatrix, Zero::kNone),
    integer(DType::kInt4G32, "int4_g32", 4, 32, Zero::kNone),
    integer(DType::kInt4G64, "int4_g64", 4, 64, Zero::kNone),
    integer(DType::kInt4G128, "int4_g128", 4, 128, Zero::kNone),
    integer(DType::kInt4TensorZp, "int4_tensor_zp", 4, kWholeMatrix, Zero::kStored),
    integer(DType::kInt4ChannelZp, "int4_channel_zp", 4, kWholeRow, Zero::kStored),
    integer(DType::kInt4G32Zp, "int4_g32_zp", 4, 32, Zero::kStored),
    integer(DType::kInt4G64Zp, "int4_g64_zp", 4, 64, Zero::kStored),
    integer(DType::kInt4G128Zp, "int4_g128_zp", 4, 128, Zero::kStored),
    // GPTQ as AutoGPTQ stores it (nn_modules/qlinear): qweight int32 [in x bits / 32, out], qzeros
    // int32 [groups, out x bits / 32], scales fp16 [groups, out], g_idx int32 [in]. g_idx is stored
    // with and without act-order, so act-order changes no size. Row = group size -1.
    gptq(DType::kGptq2G32, "gptq2_g32", 2, 32),
    gptq(DType::kGptq2G64, "gptq2_g64", 2, 64),
    gptq(DType::kGptq2G128, "gptq2_g128", 2, 128),
    gptq(DType::kGptq2Row, "gptq2_row", 2, kWholeRow),
    gptq(DType::kGptq3G32, "gptq3_g32", 3, 32),
    gptq(DType::kGptq3G64, "gptq3_g64", 3, 64),
    gptq(DType::kGptq3G128, "gptq3_g128", 3, 128),
    gptq(DType::kGptq3Row, "gptq3_row", 3, kWholeRow),
    gptq(DType::kGptq4G32, "gptq4_g32", 4, 32),
    gptq(DType::kGptq4G64, "gptq4_g64", 4, 64),
    gptq(DType::kGptq4G128, "gptq4_g128", 4, 128),
    gptq(DType::kGptq4Row, "gptq4_row", 4, kWholeRow),
    gptq(DType::kGptq8G32, "gptq8_g32", 8, 32),
    gptq(DType::kGptq8G64, "gptq8_g64", 8, 64),
    gptq(DType::kGptq8G128, "gptq8_g128", 8, 128),
    gptq(DType::kGptq8Row, "gptq8_row", 8, kWholeRow),
    // AWQ as AutoAWQ stores it (modules/linear/gemm.py): qweight int32 [in, out / 8], qzeros int32
    // [groups, out / 8], scales fp16 [groups, out]; 4 bits only.
    awq(DType::kAwq4G32, "awq4_g32", 32),
    awq(DType::kAwq4G64, "awq4_g64", 64),
    awq(DType::kAwq4G128, "awq4_g128", 128),
    // bitsandbytes. int8: one f32 (SCB) per output row. nf4 and fp4: two values a byte, blocks of
    // 64 over the flattened matrix with an f32 absmax, and the 16 f32 of quant_map with every
    // matrix. Dq (double quantization): absmax in 8 bits, a second f32 absmax per 256 of them, the
    // 256 f32 of nested_quant_map and one f32 offset. (functional.py, QuantState.as_dict.) The JSON
    // text that a file adds per matrix, about 100 bytes, is not counted.
    other(DType::kBnbInt8, "bnb_int8", 1, 1, 4),
    bnb4(DType::kBnbNf4, "bnb_nf4", false),
    bnb4(DType::kBnbNf4Dq, "bnb_nf4_dq", true),
    bnb4(DType::kBnbFp4, "bnb_fp4", false),
    bnb4(DType::kBnbFp4Dq, "bnb_fp4_dq", true),
    // MLC (mlc_llm/quantization/group_quantization.py): groups padded to whole ones; 3 bits go ten
    // to a uint32, so a group of 40 is 4 words and an fp16 scale, a group of 32 at 4 bits 4 words
    // and a scale. q4f16_0 is the transposed layout of the same size.
    other(DType::kMlcQ3f16, "q3f16_1", 40, 18, 0),
    other(DType::kMlcQ4f16_0, "q4f16_0", 32, 18, 0),
    other(DType::kMlcQ4f16_1, "q4f16_1", 32, 18, 0),
    // MNN: an f32 (scale, minimum) pair per output row, or per block of a row (asymmetric weights
    // of the LLM exporter, --quant_bit and --quant_block; its default is 4 bits in blocks of 64).
    mnn(DType::kMnnInt4, "mnn_int4", 4, kWholeRow),
    mnn(DType::kMnnInt4B32, "mnn_int4_b32", 4, 32),
    mnn(DType::kMnnInt4B64, "mnn_int4_b64", 4, 64),
    mnn(DType::kMnnInt4B128, "mnn_int4_b128", 4, 128),
    mnn(DType::kMnnInt8, "mnn_int8", 8, kWholeRow),
    mnn(DType::kMnnInt8B32, "mnn_int8_b32", 8, 32),
    mnn(DType::kMnnInt8B64, "mnn_int8_b64", 8, 64),
    mnn(DType::kMnnInt8B128, "mnn_int8_b128", 8, 128),
    // TFLite int8 per output channel: an f32 scale and an int64 zero point each (schema.fbs,
    // QuantizationParameters).
    other(DType::kTfliteInt8, "tflite_int8", 1, 1, 12),
    // BitNet b1.58, i2_s of bitnet.cpp: four ternary weights a byte and 32 bytes a tensor for the
    // scale. Its GGUF type id (36) belongs to that fork alone.
    other(DType::kBitnetI2S, "i2_s", 4, 1, 0, {.matrix_bytes = 32, .flat = true}),
    // MLX affine (mlx.core.quantize): packed uint32, an fp16 or bf16 scale and a bias of the same
    // type per group.
    mlx(DType::kMlx2G32, "mlx2_g32", 2, 32),
    mlx(DType::kMlx2G64, "mlx2_g64", 2, 64),
    mlx(DType::kMlx2G128, "mlx2_g128", 2, 128),
    mlx(DType::kMlx3G32, "mlx3_g32", 3, 32),
    mlx(DType::kMlx3G64, "mlx3_g64", 3, 64),
    mlx(DType::kMlx3G128, "mlx3_g128", 3, 128),
    mlx(DType::kMlx4G32, "mlx4_g32", 4, 32),
    mlx(DType::kMlx4G64, "mlx4_g64", 4, 64),
    mlx(DType::kMlx4G128, "mlx4_g128", 4, 128),
    mlx(DType::kMlx5G32, "mlx5_g32", 5, 32),
    mlx(DType::kMlx5G64, "mlx5_g64", 5, 64),
    mlx(DType::kMlx5G128, "mlx5_g128", 5, 128),
    mlx(DType::kMlx6G32, "mlx6_g32", 6, 32),
    mlx(DType::kMlx6G64, "mlx6_g64", 6, 64),
    mlx(DType::kMlx6G128, "mlx6_g128", 6, 128),
    mlx(DType::kMlx8G32, "mlx8_g32", 8, 32),
    mlx(DType::kMlx8G64, "mlx8_g64", 8, 64),
    mlx(DType::kMlx8G128, "mlx8_g128", 8, 128),
}};

}  // namespace

std::span<const Format> format_table() { return kFormats; }

}  // namespace tidemark

#include "sim/calibrate/small_kernels.h"

#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "sim/kernels/activation_tables.h"
#include "sim/kernels/attention/kv_rows.h"
#include "sim/kernels/attention/rope.h"
#include "sim/kernels/elementwise.h"
#include "sim/kernels/norm/layer_norm.h"
#include "sim/kernels/norm/rms_norm.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

constexpr int64_t kWidth = 2304;
constexpr int64_t kHeadDim = 64;
constexpr Scales kScales{.in = 0.05F, .out = 0.06F};

// What a call works on, kept alive by the call.
struct Buffers {
  explicit Buffers(int64_t rows)
      : a(static_cast<size_t>(rows * kWidth)),
        b(a.size()),
        out(a.size()),
        positions(static_cast<size_t>(rows)) {
    std::iota(a.begin(), a.end(), int8_t{0});
    std::iota(b.begin(), b.end(), int8_t{77});
    std::iota(positions.begin(), positions.end(), 0);
  }
  std::vector<int8_t> a;
  std::vector<int8_t> b;
  std::vector<int8_t> out;
  std::vector<int32_t> positions;
};

template <typename Work>
SmallKernel kernel(OpKind kind, Work work, int64_t row_outputs = kWidth) {
  return {.kind = kind, .row_outputs = row_outputs, .make = [work](int64_t rows) {
            return [work, buffers = std::make_shared<Buffers>(rows)] { work(*buffers); };
          }};
}

// As stored: a gain, a shift, a bias.
std::vector<std::byte> ones() {
  std::vector<std::byte> stored(static_cast<size_t>(kWidth) * sizeof(float));
  const float one = 1.0F;
  for (size_t i = 0; i < stored.size(); i += sizeof one) std::memcpy(&stored[i], &one, sizeof one);
  return stored;
}

SmallKernel rms() {
  return kernel(OpKind::kRmsNorm, [gain = ones()](Buffers& buffers) {
    rms_norm(buffers.a, gain, {.scales = kScales}, buffers.out);
  });
}

SmallKernel layer() {
  return kernel(OpKind::kLayerNorm, [both = ones()](Buffers& buffers) {
    layer_norm(buffers.a, both, both, {.scale_in = kScales.in, .out = {.scale = kScales.out}},
               buffers.out);
  });
}

SmallKernel bias() {
  return kernel(OpKind::kAddBias, [stored = ones()](Buffers& buffers) {
    add_bias_s8(buffers.a, stored, kScales, buffers.out);
  });
}

SmallKernel store() {
  constexpr int64_t kCells = 16;
  const KvShape shape{.type = KvType::kF16, .n_head_kv = kWidth / kHeadDim, .head_dim = kHeadDim};
  auto cache =
      std::make_shared<std::vector<std::byte>>(static_cast<size_t>(kCells * kv_row_bytes(shape)));
  const auto work = [shape, cache](Buffers& buffers) {
    const TokenCells cells{.positions = buffers.positions};
    store_kv(shape, buffers.a, kScales.in, cells, *cache);
    store_kv(shape, buffers.b, kScales.in, cells, *cache);
  };
  return kernel(OpKind::kStoreKv, work, 2 * kWidth);
}

SmallKernel embed() {
  constexpr int64_t kTableRows = 4096;
  auto table = std::make_shared<std::vector<std::byte>>(
      static_cast<size_t>(kTableRows * stored_row_bytes(kWidth)), std::byte{9});
  return kernel(OpKind::kEmbed, [table](Buffers& buffers) {
    embedding_lookup(kWidth, buffers.positions, *table, kScales.out, buffers.out);
  });
}

}  // namespace

std::vector<SmallKernel> small_kernels() {
  const BinaryScales binary{.a = 0.05F, .b = 0.06F, .out = 0.08F};
  return {
      embed(),
      rms(),
      layer(),
      bias(),
      kernel(OpKind::kRope,
             [](Buffers& buffers) {
               rope({.heads = kWidth / kHeadDim, .head_dim = kHeadDim}, buffers.positions,
                    buffers.a, buffers.out);
             }),
      store(),
      kernel(OpKind::kAdd,
             [binary](Buffers& buffers) { add_s8(buffers.a, buffers.b, binary, buffers.out); }),
      kernel(OpKind::kSilu,
             [](Buffers& buffers) { apply_table(silu_table(kScales), buffers.a, buffers.out); }),
      kernel(OpKind::kActivation,
             [](Buffers& buffers) {
               const Affine in{.scale = kScales.in};
               apply_table(gelu_table(in, {.scale = kScales.out}, GeluForm::kTanh), buffers.a,
                           buffers.out);
             }),
      kernel(
          OpKind::kMul,
          [binary](Buffers& buffers) { multiply_s8(buffers.a, buffers.b, binary, buffers.out); }),
      kernel(OpKind::kSelectRows, [](Buffers& buffers) {
        select_rows(kWidth, buffers.positions, buffers.a, buffers.out);
      })};
}

}  // namespace tidemark

#include "sim/kernels/matmul/gemm_activations.h"

#include <algorithm>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "sim/kernels/matmul/gemm.h"

namespace tidemark {
namespace {

constexpr int64_t kLine = sizeof(CacheLine);
constexpr int64_t kFewTokens = 3;  // so few are not worth a tile

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Kept from product to product: making it anew would cost a small product more than its sums.
std::byte* buffer_of_this_thread(int64_t bytes) {
  thread_local std::vector<CacheLine> buffer;
  const auto lines = static_cast<size_t>(bytes / kLine + 1);
  if (buffer.size() < lines) {
    buffer.clear();  // nothing to copy
    buffer.resize(lines);
  }
  return reinterpret_cast<std::byte*>(buffer.data());
}

// to[k] = from[k] + offset, which is in [0, 255].
void add_offset(const int8_t* from, int64_t length, int32_t offset, uint8_t* to) {
  int64_t k = 0;
#if defined(__x86_64__)  // SSE2 is always there
  for (; k + 16 <= length; k += 16) {
    const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + k),
                     _mm_add_epi8(values, _mm_set1_epi8(static_cast<char>(offset))));
  }
#endif
  for (; k < length; ++k) to[k] = static_cast<uint8_t>(from[k] + offset);
}

}  // namespace

Activations::Activations(const int8_t* x, int64_t tokens, int64_t columns, const WeightFacts& facts)
    : x_(x), tokens_(tokens), columns_(columns), laid_out_(x), stride_(columns) {
  choose(facts);
  lay_out();
}

GemmJob Activations::added_to(GemmJob weights) const {
  weights.x = laid_out_;
  weights.x_stride = stride_;
  weights.tokens = tokens_;
  weights.token_terms = token_terms_.empty() ? nullptr : token_terms_.data();
  weights.row_sums = row_sums_;
  weights.offset = offset_;
  return weights;
}

// One row of values a token, zeros to a whole block of columns. A line more from row to row: a
// power of two would bring all tokens to the same set of the cache.
template <typename Value, typename Copy>
void Activations::lay_out_rows(const Copy& copy) {
  const int64_t width = round_up(columns_, kBlockColumns);
  stride_ = width * int64_t{sizeof(Value)} + kLine;
  std::byte* rows = buffer_of_this_thread(tokens_ * stride_);
  for (int64_t t = 0; t < tokens_; ++t) {
    auto* row = reinterpret_cast<Value*>(rows + t * stride_);
    copy(x_ + t * columns_, row);
    std::fill(row + columns_, row + width, Value{0});
  }
  laid_out_ = rows;
}

// What rows as they lie owe to having been made unsigned: 128 for each unit of x.
void Activations::sum_tokens() {
  for (int64_t t = 0; t < tokens_; ++t) {
    int32_t sum = 0;
    for (int64_t k = 0; k < columns_; ++k) sum += x_[t * columns_ + k];
    token_terms_.push_back(128 * sum);
  }
}

void Activations::choose(const WeightFacts& facts) {
  if (facts.packed) layout_ = Layout::kSigned;
#if defined(__x86_64__)
  const Isa isa = isa_in_use();
  if (isa == Isa::kAvx2) {
    layout_ = Layout::kWide;
    kernel_ = gemm_avx2_wide;
    if (facts.packed) choose_narrow(facts);
  } else if (isa == Isa::kAmxInt8 && tokens_ > kFewTokens) {
    layout_ = Layout::kTiles;
    kernel_ = gemm_amx;
  } else if (isa != Isa::kBaseline) {
    choose_unsigned(facts.packed ? gemm_vnni_packed : gemm_vnni_rows, 128, facts);
    layout_ = facts.packed ? Layout::kUnsigned : Layout::kSigned;
    if (!facts.packed) sum_tokens();
  }
#elif defined(__aarch64__)
  if (isa_in_use() == Isa::kNeonDot) kernel_ = gemm_neon;
#endif
}

void Activations::choose_unsigned(GemmKernel chosen, int32_t offset, const WeightFacts& facts) {
  layout_ = Layout::kUnsigned;
  kernel_ = chosen;
  offset_ = offset;
  row_sums_ = facts.row_sums;
}

// Two products of at most (max - min) x largest, or four, in 16 bits.
void Activations::choose_narrow([[maybe_unused]] const WeightFacts& facts) {
#if defined(__x86_64__)
  const auto [low, high] = std::minmax_element(x_, x_ + tokens_ * columns_);
  if (columns_ == 0) return;
  const int two = 2 * (*high - *low) * facts.largest;
  if (two > INT16_MAX) return;
  choose_unsigned(2 * two > INT16_MAX ? gemm_avx2_narrow : gemm_avx2_narrow_pairs, -*low, facts);
#endif
}

void Activations::lay_out() {
  switch (layout_) {
    case Layout::kPlain:
      return;
    case Layout::kSigned:
      lay_out_rows<int8_t>(
          [&](const int8_t* from, int8_t* to) { std::copy_n(from, columns_, to); });
      return;
    case Layout::kUnsigned:
      lay_out_rows<uint8_t>(
          [&](const int8_t* from, uint8_t* to) { add_offset(from, columns_, offset_, to); });
      return;
    case Layout::kWide:
      lay_out_rows<int16_t>(
          [&](const int8_t* from, int16_t* to) { std::copy_n(from, columns_, to); });
      return;
    case Layout::kTiles:
      lay_out_groups();
      return;
  }
}

void Activations::lay_out_groups() {
#if defined(__x86_64__)
  stride_ = kGroupRows * round_up(columns_, kBlockColumns);
  const int64_t groups = (tokens_ + kGroupRows - 1) / kGroupRows;
  auto* tiles = reinterpret_cast<int8_t*>(buffer_of_this_thread(groups * stride_));
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t first = g * kGroupRows;
    lay_out_tiles(x_ + first * columns_, columns_, std::min(kGroupRows, tokens_ - first), columns_,
                  tiles + g * stride_);
  }
  laid_out_ = tiles;
#endif
}

DotKernel dot_kernel([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2) return dot_avx2;
  if (isa == Isa::kAvx512Vnni || isa == Isa::kAmxInt8) return dot_vnni;
#elif defined(__aarch64__)
  if (isa == Isa::kNeonDot) return dot_neon;
#endif
  return dot_baseline;
}

}  // namespace tidemark

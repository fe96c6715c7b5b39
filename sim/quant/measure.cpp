#include "sim/quant/measure.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "planner/base/check.h"
#include "sim/kernels/half.h"
#include "sim/kernels/matmul/block_rows.h"
#include "sim/quant/range_observer.h"

namespace tidemark {
namespace {

// To nearest, ties to even; finite values only. Beyond the format's range: its largest value.
float through_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t odd = bits >> 16 & 1U;
  const auto near = std::bit_cast<float>((bits + 0x7FFFU + odd) & 0xFFFF0000U);
  return std::isfinite(near) ? near : std::copysign(std::bit_cast<float>(0x7F7F0000U), value);
}

float through_f16(float value) {
  const float near = half_to_float(float_to_half(value));
  return std::isfinite(near) ? near : std::copysign(half_to_float(kHalfMax), value);
}

void cast_through(DType dtype, std::span<const float> values, std::span<float> restored) {
  std::ranges::transform(values, restored.begin(),
                         dtype == DType::kBf16 ? through_bf16 : through_f16);
}

int64_t count_not_finite(std::span<const float> values) {
  return std::ranges::count_if(values, [](float value) { return !std::isfinite(value); });
}

// One scheme, and what it has lost so far.
class SchemeErrors {
 public:
  SchemeErrors(const QuantScheme& scheme, RangeRule rule, int64_t columns)
      : scheme_(scheme), rule_(rule), columns_(static_cast<size_t>(columns)) {
    if (scheme.method == QuantScheme::Method::kBlocks) {
      format_ = scheme.dtype == DType::kQ8_0 ? RowFormat::kQ8_0 : RowFormat::kQ4_0;
      row_.resize(static_cast<size_t>(row_format_bytes(format_, columns)));
    }
  }

  void take_ranges(const RangeObserver& observer) {
    if (!is_per_tensor(scheme_)) return;
    scale_ = affine_scale(observer.range(rule_, scheme_.integer), scheme_.integer);
    const AffineScale whole = affine_scale(observer.range({}, scheme_.integer), scheme_.integer);
    if (rule_.kind == RangeKind::kMse && whole != scale_) whole_ = whole;
  }

  void add(std::span<const float> values, std::vector<float>& restored) {
    restored.resize(values.size());
    if (is_per_tensor(scheme_)) {
      round_trip(values, scale_, scheme_.integer, restored);
      sums_.add(values, restored);
      if (!whole_) return;
      round_trip(values, *whole_, scheme_.integer, restored);
      whole_sums_.add(values, restored);
      return;
    }
    for (size_t first = 0; first < values.size(); first += columns_) {
      restore_row(values.subspan(first, columns_), std::span(restored).subspan(first, columns_));
    }
    sums_.add(values, restored);
  }

  const ErrorSums& best() const {
    return whole_ && whole_sums_.noise <= sums_.noise ? whole_sums_ : sums_;
  }

 private:
  void restore_row(std::span<const float> row, std::span<float> restored) {
    switch (scheme_.method) {
      case QuantScheme::Method::kCast:
        return cast_through(scheme_.dtype, row, restored);
      case QuantScheme::Method::kBlocks:
        quantize_row(format_, row, row_);
        return dequantize_row(format_, row_, restored);
      case QuantScheme::Method::kInteger:
        break;
    }
    const size_t group = scheme_.granularity == Granularity::kGroup
                             ? static_cast<size_t>(scheme_.group)
                             : row.size();
    for (size_t first = 0; first < row.size(); first += group) {
      const size_t count = std::min(group, row.size() - first);
      const auto part = row.subspan(first, count);
      const ValueRange range = range_of(part, rule_, scheme_.integer, scratch_);
      round_trip(part, affine_scale(range, scheme_.integer), scheme_.integer,
                 restored.subspan(first, count));
    }
  }

  const QuantScheme& scheme_;
  RangeRule rule_;
  size_t columns_;
  RowFormat format_ = RowFormat::kQ8_0;
  AffineScale scale_{};
  std::optional<AffineScale> whole_{};  // min-max, beside what kMse suggests
  ErrorSums sums_{};
  ErrorSums whole_sums_{};
  std::vector<std::byte> row_{};
  std::vector<float> scratch_{};
};

// Calls visit(values) for the pieces of the matrix, in order; false when it did not come to the
// end.
template <typename Visit>
bool for_each_piece(const RowSource& source, const MeasureOptions& options, Measurement& result,
                    const Visit& visit) {
  const int64_t at_once = std::max<int64_t>(1, kPieceValues / source.columns);
  std::vector<float> values;
  for (int64_t first = 0; first < source.rows; first += at_once) {
    result.stopped = options.stop && options.stop();
    if (result.stopped) return false;
    const int64_t rows = std::min(at_once, source.rows - first);
    values.resize(static_cast<size_t>(rows * source.columns));
    result.failure = source.read(first, values);
    if (result.failure) return false;
    visit(std::span<const float>(values));
  }
  return true;
}

}  // namespace

Measurement measure(const RowSource& source, std::span<const QuantScheme> schemes,
                    const MeasureOptions& options) {
  check(source.columns > 0 && source.rows >= 0, "a matrix has columns");
  Measurement result;
  std::vector<SchemeErrors> errors;
  for (const QuantScheme& scheme : schemes) {
    check(takes_rows_of(scheme.dtype, source.columns), "the format takes rows of this length");
    errors.emplace_back(scheme, options.rule, source.columns);
  }
  if (std::ranges::any_of(schemes, is_per_tensor)) {
    RangeObserver observer;
    const bool all = for_each_piece(source, options, result,
                                    [&](std::span<const float> values) { observer.add(values); });
    result.not_finite = observer.not_finite();
    if (!all || result.not_finite > 0) return result;
    for (SchemeErrors& one : errors) one.take_ranges(observer);
  }
  std::vector<float> restored;
  const bool all = for_each_piece(source, options, result, [&](std::span<const float> values) {
    result.not_finite += count_not_finite(values);
    if (result.not_finite > 0) return;  // only counted from here on
    for (SchemeErrors& one : errors) one.add(values, restored);
  });
  if (!all || result.not_finite > 0) return result;
  for (const SchemeErrors& one : errors) result.errors.push_back(one.best());
  return result;
}

}  // namespace tidemark

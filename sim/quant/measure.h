// The error of one tensor in several formats at once, from rows that come in pieces.
//
//   pass 1, only for one scale a tensor: the range of all values (range_observer.h)
//   pass 2: each piece is turned into each format and back, and its errors are summed
//
// Memory: three pieces of at most kPieceValues values, or of one row where that is longer,
// whatever the tensor's size. kMse for a whole tensor measures both the range that the histogram
// suggests and min-max in pass 2, and keeps the better.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "planner/base/diagnostic.h"
#include "sim/quant/error_sums.h"
#include "sim/quant/quant_scheme.h"
#include "sim/quant/range_rule.h"

namespace tidemark {

inline constexpr int64_t kPieceValues = int64_t{1} << 18;  // 1 MiB as floats

// Rows of one matrix, read as often as needed.
struct RowSource {
  int64_t rows = 0;
  int64_t columns = 0;
  // Fills whole rows from row `first` on; a failure's diagnostics.
  std::function<std::optional<Diagnostics>(int64_t first, std::span<float> values)> read{};
};

struct MeasureOptions {
  RangeRule rule{};  // of integers; ggml's blocks have a rule of their own
  // Asked before each piece; true: give up.
  std::function<bool()> stop{};
};

struct Measurement {
  std::vector<ErrorSums> errors{};  // one for each scheme
  int64_t not_finite = 0;           // NaN or infinite: then nothing was measured
  bool stopped = false;             // nothing was measured
  std::optional<Diagnostics> failure{};
};

// Schemes must take rows of this length (takes_rows_of).
Measurement measure(const RowSource& source, std::span<const QuantScheme> schemes,
                    const MeasureOptions& options);

}  // namespace tidemark

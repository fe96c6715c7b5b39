// What ops take where kernels were measured (`tidemark calibrate`), and how that is read.
//
//   An op of kind K over T rows (tokens) does `row_work` operations and gives `row_outputs` values
//   a row; time = overhead + T x (row_work / rate + row_outputs / output_rate).
//
//   matmul, tokens 1, rate 20 GOPS, output_rate 1 GOPS, overhead 500 ns; 1,000 columns, 100 rows:
//   200,000 operations and 100 outputs: 10,000 + 100 + 500 = 10,600 ns
//
// A kind may be measured at several numbers of tokens: kernels share the reading of a weight
// between tokens. Between two of them times are taken in proportion; past the last its rates hold,
// before the first the first's.
//   tokens 1 -> 10,600 ns, tokens 9 -> 26,600 ns: 5 tokens take 18,600 ns.
// Checked by OpRateTest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "planner/base/quantity.h"
#include "planner/graph/graph.h"

namespace tidemark {

struct OpRate {
  OpKind kind = OpKind::kMatMul;
  int64_t tokens = 1;          // it was measured with
  OpsPerSecond rate{};         // operations; of kinds that count none, values written
  OpsPerSecond output_rate{};  // values written, beside the operations; zero = not counted apart
  Duration overhead{};         // of an op, whatever its size
  bool operator==(const OpRate&) const = default;
};

std::optional<OpKind> parse_op_kind(std::string_view name);

// An op as its kernel sees it.
struct OpSize {
  OpKind kind = OpKind::kPlainLayer;
  int64_t rows = 0;         // tokens, or those whose logits are wanted; 0 = not known
  int64_t row_work = 0;     // operations a row; values written where a kind counts none
  int64_t row_outputs = 0;  // values written a row
};

// None when the kind was not measured, or its size is not known.
std::optional<Duration> measured_time(std::span<const OpRate> rates, const OpSize& size);

}  // namespace tidemark

// The text of one axis -> its values, in llama-bench's spelling: values and ranges between commas.
//
//   512,1024-8192*2      512 1024 2048 4096 8192
//   1-8+3                1 4 7                     a range ends at the last value not above `last`
//   1-4                  1 2 3 4                   whole numbers only; a size needs a step
//   512 MiB-2 GiB*2      512 MiB, 1024 MiB, 2048 MiB
//   int4,Q4_0            int4 Q4_0                 names have no ranges: llama-3.1-8b is a name
//
// A value written twice counts once. Checked by AxisTextTest.WorkedExamples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "planner/base/units.h"

namespace tidemark {

// Scenarios of one sweep, and so values of one axis. Refused before anything is allocated.
inline constexpr int64_t kMostScenarios = 1'000'000;

enum class AxisKind {
  kName,         // commas separate values
  kNumber,       // and ranges of whole numbers
  kSize,         // and ranges of sizes with units
  kCountOrSize,  // and ranges of either: what begins with a bare number is a count
  kWhole,        // the text is one value, commas and all
};

// The values, at least one; or why there are none. The caller adds where the text stands.
Parsed<std::vector<std::string>> axis_values(AxisKind kind, std::string_view text);

}  // namespace tidemark

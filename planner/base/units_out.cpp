// Text out, in integer arithmetic: what is printed does not depend on floating-point rounding.
//   3,693,092,864 B = 3.4394... GiB -> "3.44 GiB";  1,048,064 B = 1023.5 KiB -> "1.00 MiB", never
//   "1024 KiB".
// Checked by UnitsOut.MemoryInBinaryUnits.
#include <fmt/core.h>

#include <array>
#include <span>

#include "planner/base/units.h"

namespace tidemark {
namespace {

__extension__ using Wide = unsigned __int128;

struct Step {
  std::string_view name{};
  uint64_t size = 1;
};

constexpr uint64_t kKi = 1024;
constexpr std::array<Step, 5> kBinary{{{"B", 1},
                                       {"KiB", kKi},
                                       {"MiB", kKi* kKi},
                                       {"GiB", kKi* kKi* kKi},
                                       {"TiB", kKi* kKi* kKi* kKi}}};
constexpr std::array<Step, 5> kRates{
    {{"B/s", 1}, {"kB/s", 1000}, {"MB/s", 1000000}, {"GB/s", 1000000000}, {"TB/s", 1000000000000}}};
constexpr std::array<Step, 4> kTimes{{{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}}};

// Correct for INT64_MIN too.
uint64_t magnitude(int64_t value) {
  return value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
}

// count x scale / size, rounded half up.
uint64_t rounded(uint64_t count, uint64_t size, uint64_t scale) {
  const Wide twice = static_cast<Wide>(count) * scale * 2 + size;
  return static_cast<uint64_t>(twice / (static_cast<Wide>(size) * 2));
}

std::string three_digits(uint64_t count, std::span<const Step> steps) {
  size_t unit = 0;
  while (unit + 1 < steps.size() && count >= steps[unit + 1].size) ++unit;
  if (unit == 0) return fmt::format("{} {}", count, steps[0].name);
  const uint64_t size = steps[unit].size;
  const uint64_t hundredths = rounded(count, size, 100);
  if (hundredths < 1000) {
    return fmt::format("{}.{:02} {}", hundredths / 100, hundredths % 100, steps[unit].name);
  }
  const uint64_t tenths = rounded(count, size, 10);
  if (tenths < 1000) return fmt::format("{}.{} {}", tenths / 10, tenths % 10, steps[unit].name);
  const uint64_t whole = rounded(count, size, 1);
  const bool carries = unit + 1 < steps.size() && whole >= steps[unit + 1].size / size;
  return carries ? fmt::format("1.00 {}", steps[unit + 1].name)
                 : fmt::format("{} {}", whole, steps[unit].name);
}

std::string with_separators(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t from_end = 3; from_end < digits.size(); from_end += 4) {
    digits.insert(digits.size() - from_end, ",");
  }
  return digits;
}

std::string_view minus(int64_t value) { return value < 0 ? "-" : ""; }

}  // namespace

std::string format_bytes(Bytes bytes) {
  return fmt::format("{}{}", minus(bytes.count()), three_digits(magnitude(bytes.count()), kBinary));
}

std::string format_bytes_exact(Bytes bytes) {
  if (magnitude(bytes.count()) < kKi) return format_bytes(bytes);
  return fmt::format("{} ({} B)", format_bytes(bytes), format_count(bytes.count()));
}

std::string format_signed_bytes(Bytes bytes) {
  return (bytes > Bytes{} ? "+" : "") + format_bytes(bytes);
}

std::string format_bandwidth(BytesPerSecond rate) {
  return fmt::format("{}{}", minus(rate.count()), three_digits(magnitude(rate.count()), kRates));
}

std::string format_duration(Duration duration) {
  return fmt::format("{}{}", minus(duration.count()),
                     three_digits(magnitude(duration.count()), kTimes));
}

std::string format_count(int64_t count) {
  return fmt::format("{}{}", minus(count), with_separators(magnitude(count)));
}

}  // namespace tidemark

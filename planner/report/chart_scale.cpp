#include "planner/report/chart_scale.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

struct Unit {
  int64_t size = 1;
  const char* name = "";
};

constexpr int64_t kKi = 1024;
constexpr std::array<Unit, 6> kByteUnits{{{kKi * kKi * kKi * kKi * kKi, "PiB"},
                                          {kKi * kKi * kKi * kKi, "TiB"},
                                          {kKi * kKi * kKi, "GiB"},
                                          {kKi * kKi, "MiB"},
                                          {kKi, "KiB"},
                                          {1, "B"}}};
constexpr std::array<Unit, 4> kTimeUnits{
    {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}}};

// "1.5 GiB": at most three decimals, none that are zero.
std::string in_unit(int64_t value, const Unit& unit) {
  std::string number =
      fmt::format("{:.3f}", static_cast<double>(value) / static_cast<double>(unit.size));
  while (number.back() == '0') number.pop_back();
  if (number.back() == '.') number.pop_back();
  return number + " " + unit.name;
}

template <size_t n>
const Unit& largest_unit(const std::array<Unit, n>& units, int64_t value) {
  for (const Unit& unit : units) {
    if (value >= unit.size) return unit;
  }
  return units.back();
}

// Values 0, step, ... <= top without overflow at the end.
std::vector<int64_t> multiples(int64_t step, int64_t top) {
  std::vector<int64_t> values{0};
  while (values.back() <= top - step) values.push_back(values.back() + step);
  return values;
}

// The slice of [0, end] that holds `time`.
int64_t column_of(Duration time, Duration end, int columns) {
  if (end <= Duration{}) return 0;
  const double share = static_cast<double>(time.count()) / static_cast<double>(end.count());
  return std::clamp(static_cast<int64_t>(share * columns), int64_t{0},
                    static_cast<int64_t>(columns) - 1);
}

Duration start_of(int64_t column, Duration end, int columns) {
  const double share = static_cast<double>(column) / columns;
  return Duration::ns(static_cast<int64_t>(share * static_cast<double>(end.count())));
}

// The same memory from `time` on; nothing when that is what `curve` already shows.
void append(std::vector<CurvePoint>& curve, CurvePoint point, Duration time) {
  if (!curve.empty()) {
    point.time = curve.back().time;
    if (point == curve.back()) return;
  }
  point.time = time;
  curve.push_back(point);
}

}  // namespace

std::vector<Tick> byte_ticks(Bytes top, int at_most) {
  int64_t step = 1;
  while (top.count() / step > at_most) step *= 2;
  std::vector<Tick> ticks;
  for (const int64_t value : multiples(step, top.count())) {
    ticks.push_back({value, value == 0 ? "0" : in_unit(value, largest_unit(kByteUnits, value))});
  }
  return ticks;
}

std::vector<Tick> time_ticks(Duration end, int at_most) {
  constexpr std::array<int64_t, 3> kGrowth{2, 5, 10};  // 1 -> 2 -> 5 -> 10
  int64_t decade = 1;
  int64_t step = 1;
  for (size_t i = 0; end.count() / step > at_most; i = (i + 1) % kGrowth.size()) {
    step = decade * kGrowth[i];
    if (kGrowth[i] == 10) decade = step;
  }
  std::vector<Tick> ticks;
  const Unit& unit = largest_unit(kTimeUnits, end.count());
  for (const int64_t value : multiples(step, end.count()))
    ticks.push_back({value, in_unit(value, unit)});
  return ticks;
}

Envelope envelope(std::span<const CurvePoint> curve, Duration end, int columns) {
  const auto lower = [](const CurvePoint& a, const CurvePoint& b) { return a.total() < b.total(); };
  Envelope result;
  size_t next = 0;
  for (int64_t column = 0; column < columns && !curve.empty(); ++column) {
    const size_t first = next;
    while (next < curve.size() && column_of(curve[next].time, end, columns) <= column) ++next;
    // From the point that is held over, where there is one, to the last one in this slice.
    const auto slice =
        curve.subspan(first == 0 ? 0 : first - 1, next - (first == 0 ? 0 : first - 1));
    if (slice.empty()) continue;
    append(result.highest, *std::max_element(slice.begin(), slice.end(), lower),
           start_of(column, end, columns));
    append(result.lowest, *std::min_element(slice.begin(), slice.end(), lower),
           start_of(column, end, columns));
  }
  return result;
}

}  // namespace tidemark

// Text in. Every quantity is one number and one unit; the number is read as decimal digits and
// scaled in 128-bit integers, so that "1.5 GiB" is exact and "0.3 B" is refused instead of rounded.
#include "planner/base/units.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "planner/base/diagnostic.h"

namespace tidemark {
namespace {

__extension__ using Wide = unsigned __int128;

// 24 digits x 2^40 stay below 2^128.
constexpr size_t kMostDigits = 24;

struct Unit {
  std::string_view name{};
  int64_t factor = 1;
};

constexpr int64_t kKi = 1024;
constexpr std::array<Unit, 9> kSizeUnits{{{"B", 1},
                                          {"kB", 1000},
                                          {"MB", 1000000},
                                          {"GB", 1000000000},
                                          {"TB", 1000000000000},
                                          {"KiB", kKi},
                                          {"MiB", kKi* kKi},
                                          {"GiB", kKi* kKi* kKi},
                                          {"TiB", kKi* kKi* kKi* kKi}}};
constexpr std::array<Unit, 5> kComputeUnits{
    {{"OPS", 1}, {"kOPS", 1000}, {"MOPS", 1000000}, {"GOPS", 1000000000}, {"TOPS", 1000000000000}}};
constexpr std::array<Unit, 4> kTimeUnits{
    {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}}};

// What one family of quantities is called and how a wrong spelling is answered.
struct Family {
  std::string_view noun{};       // "size"
  std::string_view smallest{};   // "bytes"
  std::string_view base_unit{};  // "B"
  std::string_view suffix{};     // "/s" behind the unit
  std::string_view example{};    // hint for a text that is no quantity at all
  std::string_view spellings{};  // hint for an unknown unit
  std::span<const Unit> units{};
};

constexpr std::string_view kSizeSpellings =
    "units are B, kB MB GB TB (powers of 1000) and KiB MiB GiB TiB (powers of 1024)";
constexpr Family kSize{
    "size",         "bytes",   "B", "", "write a number and a unit: 512 MiB, 3.5 GB",
    kSizeSpellings, kSizeUnits};
constexpr Family kBandwidth{
    "rate",         "bytes per second", "B", "/s", "write bytes per second: 4 GB/s, 900 MB/s",
    kSizeSpellings, kSizeUnits};
constexpr Family kComputeRate{"compute rate",
                              "operations per second",
                              "OPS",
                              "",
                              "write operations per second: 1339 GOPS, 2 TOPS",
                              "units are OPS kOPS MOPS GOPS TOPS; one multiply-add counts as two",
                              kComputeUnits};
constexpr Family kTime{"time",
                       "nanoseconds",
                       "ns",
                       "",
                       "write a number and a unit: 170 us, 1.5 ms",
                       "units are ns, us, ms and s",
                       kTimeUnits};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

size_t count_digits(std::string_view text) {
  const auto* end = std::find_if_not(text.begin(), text.end(), is_digit);
  return static_cast<size_t>(end - text.begin());
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return lower(c); });
  return out;
}

// Length of `[0-9]+(\.[0-9]+)?` at the front; 0 when there is none.
size_t number_length(std::string_view text) {
  const size_t whole = count_digits(text);
  if (whole == 0 || whole == text.size() || text[whole] != '.') return whole;
  const size_t fraction = count_digits(text.substr(whole + 1));
  return fraction == 0 ? whole : whole + 1 + fraction;
}

bool has_leading_zero(std::string_view digits) {
  return digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]);
}

// mantissa / 10^decimals.
struct Decimal {
  Wide mantissa = 0;
  Wide divisor = 1;
};

std::optional<Decimal> read_decimal(std::string_view number) {
  if (number.find('.') != std::string_view::npos) {
    number = number.substr(0, number.find_last_not_of('0') + 1);
  }
  if (number.size() > kMostDigits) return std::nullopt;
  Decimal decimal;
  bool in_fraction = false;
  for (const char c : number) {
    if (c == '.') {
      in_fraction = true;
      continue;
    }
    decimal.mantissa = decimal.mantissa * 10 + static_cast<unsigned>(c - '0');
    if (in_fraction) decimal.divisor *= 10;
  }
  return decimal;
}

// "G", "gb", "Gb", "KB": a prefix that may mean 1024 or 1000. Names both readings.
std::optional<UnitError> ambiguous_unit(std::string_view text, std::string_view number,
                                        std::string_view unit, const Family& family) {
  static constexpr std::array<std::string_view, 5> kTails{"", "b", "ib", "byte", "bytes"};
  static constexpr std::string_view kPrefixes = "kmgt";
  static constexpr std::array<std::string_view, 4> kApart{"2.4", "4.9", "7.4", "10"};
  if (family.base_unit != "B" || unit.empty()) return std::nullopt;
  const size_t power = kPrefixes.find(lower(unit[0]));
  if (power == std::string_view::npos) return std::nullopt;
  const std::string tail = lower(unit.substr(1));
  if (std::find(kTails.begin(), kTails.end(), tail) == kTails.end()) return std::nullopt;
  const Unit& decimal = kSizeUnits[power + 1];
  const Unit& binary = kSizeUnits[power + 5];
  return UnitError{
      fmt::format("{} has the ambiguous unit {}", in_quotes(text), in_quotes(unit)),
      fmt::format("write {0} {1}{4} (1024^{5}) or {0} {2}{4} (1000^{5}); they are {3} % apart",
                  number, binary.name, decimal.name, kApart[power], family.suffix, power + 1)};
}

UnitError unknown_unit(std::string_view text, std::string_view number, std::string_view unit,
                       const Family& family) {
  if (unit.empty()) {
    return {fmt::format("{} has no unit", in_quotes(text)), std::string(family.example)};
  }
  if (unit[0] == ',' || unit[0] == '_' || unit[0] == '\'') {
    return {fmt::format("{} has separators between digits", in_quotes(text)),
            "write the digits alone"};
  }
  if (auto error = ambiguous_unit(text, number, unit, family)) return *error;
  return {fmt::format("{} has the unknown unit {}", in_quotes(text), in_quotes(unit)),
          std::string(family.spellings)};
}

// The number in the family's base unit, or why not.
Parsed<int64_t> scale(std::string_view text, std::string_view number, const Unit& unit,
                      const Family& family) {
  const std::optional<Decimal> decimal = read_decimal(number);
  if (!decimal) {
    return UnitError{fmt::format("{} has too many digits", in_quotes(text)),
                     fmt::format("at most {} are read", kMostDigits - 1)};
  }
  const Wide scaled = decimal->mantissa * static_cast<Wide>(unit.factor);
  const Wide value = scaled / decimal->divisor;
  if (value > static_cast<Wide>(std::numeric_limits<int64_t>::max())) {
    return UnitError{fmt::format("{} is out of range", in_quotes(text)),
                     fmt::format("a {} stays below 2^63 {}", family.noun, family.smallest)};
  }
  const Wide rest = scaled % decimal->divisor;
  if (rest == 0) return static_cast<int64_t>(value);
  const auto nearest = static_cast<uint64_t>(value + (rest * 2 >= decimal->divisor ? 1 : 0));
  return UnitError{fmt::format("{} is not a whole number of {}", in_quotes(text), family.smallest),
                   fmt::format("the nearest is {} {}{}", nearest, family.base_unit, family.suffix)};
}

Parsed<int64_t> parse_quantity(std::string_view text, const Family& family) {
  const UnitError not_one{fmt::format("{} is not a {}", in_quotes(text), family.noun),
                          std::string(family.example)};
  if (!text.empty() && text[0] == '-') {
    return UnitError{fmt::format("{} is negative", in_quotes(text)),
                     fmt::format("a {} is not negative", family.noun)};
  }
  const size_t length = number_length(text);
  if (length == 0) return not_one;
  const std::string_view number = text.substr(0, length);
  if (has_leading_zero(number)) {
    return UnitError{fmt::format("{} has a leading zero", in_quotes(text)),
                     std::string(family.example)};
  }
  std::string_view unit = text.substr(std::min(text.find_first_not_of(' ', length), text.size()));
  if (!family.suffix.empty()) {
    if (!unit.ends_with(family.suffix)) return not_one;
    unit.remove_suffix(family.suffix.size());
  }
  for (const Unit& known : family.units) {
    if (known.name == unit) return scale(text, number, known, family);
  }
  return unknown_unit(text, number, unit, family);
}

template <typename T, typename Make>
Parsed<T> convert(const Parsed<int64_t>& parsed, Make make) {
  if (const auto* error = std::get_if<UnitError>(&parsed)) return *error;
  return make(std::get<int64_t>(parsed));
}

Parsed<int64_t> require_positive(std::string_view text, Parsed<int64_t> parsed) {
  const auto* value = std::get_if<int64_t>(&parsed);
  if (value == nullptr || *value > 0) return parsed;
  return UnitError{fmt::format("{} is not positive", in_quotes(text)),
                   "a rate is greater than zero"};
}

}  // namespace

Parsed<Bytes> parse_bytes(std::string_view text) {
  return convert<Bytes>(parse_quantity(text, kSize), Bytes::of);
}

Parsed<BytesPerSecond> parse_bandwidth(std::string_view text) {
  return convert<BytesPerSecond>(require_positive(text, parse_quantity(text, kBandwidth)),
                                 BytesPerSecond::of);
}

Parsed<OpsPerSecond> parse_compute_rate(std::string_view text) {
  return convert<OpsPerSecond>(require_positive(text, parse_quantity(text, kComputeRate)),
                               OpsPerSecond::of);
}

Parsed<Duration> parse_duration(std::string_view text) {
  return convert<Duration>(parse_quantity(text, kTime), Duration::ns);
}

Parsed<int64_t> parse_integer(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  const std::string_view digits = negative ? text.substr(1) : text;
  if (digits.empty() || count_digits(digits) != digits.size()) {
    return UnitError{fmt::format("{} is not a whole number", in_quotes(text)),
                     "write decimal digits alone: 4096"};
  }
  if (has_leading_zero(digits) || text == "-0") {
    return UnitError{fmt::format("{} has a leading zero", in_quotes(text)),
                     "some readers take it for an octal number"};
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return UnitError{fmt::format("{} is out of range", in_quotes(text)),
                     "whole numbers lie between -2^63 and 2^63 - 1"};
  }
  return value;
}

Parsed<double> parse_ratio(std::string_view text) {
  const UnitError not_one{fmt::format("{} is not a ratio", in_quotes(text)),
                          "write a percentage or a fraction: 10 %, 0.1"};
  const size_t length = number_length(text);
  if (length == 0 || has_leading_zero(text)) return not_one;
  const std::string_view rest =
      text.substr(std::min(text.find_first_not_of(' ', length), text.size()));
  if (rest != "%" && length != text.size()) return not_one;
  // Shifting the exponent in the text rounds once: 12.3 % is the double nearest to 0.123.
  const std::string shifted = std::string(text.substr(0, length)) + (rest == "%" ? "e-2" : "");
  double value = 0;
  const auto [end, error] = std::from_chars(shifted.data(), shifted.data() + shifted.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) {
    return UnitError{fmt::format("{} is out of range", in_quotes(text)), not_one.hint};
  }
  return value;
}

}  // namespace tidemark

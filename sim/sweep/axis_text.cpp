#include "sim/sweep/axis_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "planner/base/diagnostic.h"

namespace tidemark {
namespace {

using Values = std::vector<std::string>;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool starts_with_digit(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

bool is_count(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The parts of "first-last*step"; `sign` is '*', '+' or 0 when no step is written.
struct RangeText {
  std::string_view first{};
  std::string_view last{};
  char sign = 0;
  std::string_view step{};
};

// A number, a hyphen and anything behind it is meant as a range; "-4" is a number.
std::optional<RangeText> range_text(std::string_view item) {
  const size_t hyphen = item.find('-');
  if (!starts_with_digit(item) || hyphen == std::string_view::npos) return std::nullopt;
  RangeText range{.first = trimmed(item.substr(0, hyphen))};
  const std::string_view rest = item.substr(hyphen + 1);
  const size_t sign = rest.find_first_of("*+");
  range.last = trimmed(rest.substr(0, sign));
  if (sign != std::string_view::npos) {
    range.sign = rest[sign];
    range.step = trimmed(rest.substr(sign + 1));
  }
  return range;
}

struct Range {
  int64_t first = 0;
  int64_t last = 0;
  char sign = '+';
  int64_t step = 1;
};

// Next value of the range, or none past its end. Written so that nothing can overflow.
std::optional<int64_t> next_value(const Range& range, int64_t value) {
  if (range.sign == '*') {
    if (value > range.last / range.step) return std::nullopt;
    return value * range.step;
  }
  if (range.step > range.last - value) return std::nullopt;
  return value + range.step;
}

std::optional<UnitError> wrong_range(const Range& range, const RangeText& text) {
  if (range.first < 0 || range.last < 0) {
    return UnitError{"a range has no negative end", "list negative values one by one: -2,-1,0"};
  }
  if (range.last < range.first) {
    const std::string step = text.sign == 0 ? "" : fmt::format("{}{}", text.sign, text.step);
    return UnitError{fmt::format("the range ends at {}, below its start {}", text.last, text.first),
                     fmt::format("write {}-{}{}", text.last, text.first, step)};
  }
  if (range.step < 0) {
    return UnitError{fmt::format("the step {} is negative", text.step),
                     "a range counts upwards: 1-8+1"};
  }
  if (range.step == 0) {
    return UnitError{"a step of 0 never ends",
                     "write +N with N of at least 1, or *N of at least 2"};
  }
  if (range.sign == '*' && range.step == 1) {
    return UnitError{"a factor of 1 never ends",
                     "write *2 or more, or +1 for every number between"};
  }
  if (range.sign == '*' && range.first == 0) {
    return UnitError{"a range with a factor cannot start at 0", "write 0,1-8*2"};
  }
  return std::nullopt;
}

UnitError too_many_values() {
  return {fmt::format("more than {} values", format_count(kMostScenarios)),
          "take a larger step, or a factor: 512-65536*2"};
}

Parsed<std::vector<int64_t>> expand(const Range& range) {
  int64_t count = 0;
  for (std::optional<int64_t> value = range.first; value; value = next_value(range, *value)) {
    if (++count > kMostScenarios) return too_many_values();
  }
  std::vector<int64_t> values;
  values.reserve(static_cast<size_t>(count));
  for (std::optional<int64_t> value = range.first; value; value = next_value(range, *value)) {
    values.push_back(*value);
  }
  return values;
}

// Reads the ends and the step with `number`, the factor as a whole number.
template <typename Read>
Parsed<Range> read_range(const RangeText& text, Read number) {
  Range range{.sign = text.sign == 0 ? '+' : text.sign};
  const auto read = [](const Parsed<int64_t>& parsed, int64_t& into) -> std::optional<UnitError> {
    if (const auto* error = std::get_if<UnitError>(&parsed)) return *error;
    into = std::get<int64_t>(parsed);
    return std::nullopt;
  };
  if (auto error = read(number(text.first), range.first)) return *error;
  if (auto error = read(number(text.last), range.last)) return *error;
  if (text.sign == '*') {
    if (auto error = read(parse_integer(text.step), range.step)) return *error;
  } else if (text.sign == '+') {
    const bool negative = text.step.starts_with('-');
    if (auto error = read(number(text.step.substr(negative ? 1 : 0)), range.step)) return *error;
    if (negative) range.step = -range.step;
  }
  if (auto error = wrong_range(range, text)) return *error;
  return range;
}

Parsed<Values> number_range(const RangeText& text) {
  const Parsed<Range> range = read_range(text, parse_integer);
  if (const auto* error = std::get_if<UnitError>(&range)) return *error;
  const Parsed<std::vector<int64_t>> numbers = expand(std::get<Range>(range));
  if (const auto* error = std::get_if<UnitError>(&numbers)) return *error;
  Values values;
  for (const int64_t number : std::get<std::vector<int64_t>>(numbers)) {
    values.push_back(std::to_string(number));
  }
  return values;
}

Parsed<int64_t> byte_count(std::string_view text) {
  const Parsed<Bytes> parsed = parse_bytes(text);
  if (const auto* error = std::get_if<UnitError>(&parsed)) return *error;
  return std::get<Bytes>(parsed).count();
}

// In the unit of the range's start where that is exact, else in bytes.
std::string size_text(int64_t bytes, std::string_view unit, int64_t unit_bytes) {
  if (bytes % unit_bytes != 0) return fmt::format("{} B", bytes);
  return fmt::format("{} {}", bytes / unit_bytes, unit);
}

Parsed<Values> size_range(const RangeText& text) {
  if (text.sign == 0) {
    return UnitError{fmt::format("the range {}-{} has no step", text.first, text.last),
                     fmt::format("write {0}-{1}*2 or {0}-{1}+{0}", text.first, text.last)};
  }
  const Parsed<Range> range = read_range(text, byte_count);
  if (const auto* error = std::get_if<UnitError>(&range)) return *error;
  const Parsed<std::vector<int64_t>> sizes = expand(std::get<Range>(range));
  if (const auto* error = std::get_if<UnitError>(&sizes)) return *error;
  const std::string_view unit =
      trimmed(text.first.substr(text.first.find_first_not_of("0123456789.")));
  const int64_t unit_bytes = std::get<int64_t>(byte_count(fmt::format("1 {}", unit)));
  Values values;
  for (const int64_t bytes : std::get<std::vector<int64_t>>(sizes)) {
    values.push_back(size_text(bytes, unit, unit_bytes));
  }
  return values;
}

Parsed<Values> item_values(AxisKind kind, std::string_view item) {
  const std::optional<RangeText> range = kind == AxisKind::kName ? std::nullopt : range_text(item);
  if (!range) return Values{std::string(item)};
  const bool is_size =
      kind == AxisKind::kSize || (kind == AxisKind::kCountOrSize && !is_count(range->first));
  Parsed<Values> values = is_size ? size_range(*range) : number_range(*range);
  if (auto* error = std::get_if<UnitError>(&values)) {
    error->message = fmt::format("{}: {}", in_quotes(item), error->message);
  }
  return values;
}

UnitError empty_value(std::string_view text) {
  return {text.empty() ? "no value" : fmt::format("{} has an empty value", in_quotes(text)),
          "write values between commas: a,b,c"};
}

}  // namespace

Parsed<Values> axis_values(AxisKind kind, std::string_view text) {
  if (trimmed(text).empty()) return empty_value(text);
  if (kind == AxisKind::kWhole) return Values{std::string(text)};
  Values values;
  std::set<std::string, std::less<>> seen;
  int64_t written = 0;  // with repetitions: they cost time too
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    if (item.empty()) return empty_value(text);
    Parsed<Values> more = item_values(kind, item);
    if (const auto* error = std::get_if<UnitError>(&more)) return *error;
    written += std::ssize(std::get<Values>(more));
    if (written > kMostScenarios) return too_many_values();
    for (std::string& value : std::get<Values>(more)) {
      if (seen.insert(value).second) values.push_back(std::move(value));
    }
  }
  return values;
}

}  // namespace tidemark

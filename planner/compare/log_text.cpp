#include "planner/compare/log_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tidemark {
namespace {

constexpr int64_t kMostPlaces = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Behind an escape sequence that starts at `at`.
size_t behind_escape(std::string_view line, size_t at) {
  ++at;
  if (at >= line.size() || line[at] != '[') return std::min(at + 1, line.size());
  ++at;
  while (at < line.size() && (line[at] < '@' || line[at] > '~')) ++at;
  return std::min(at + 1, line.size());
}

// Digits before and after a point, as one integer and the number of places behind the point.
struct Decimal {
  int64_t digits = 0;
  int64_t places = 0;
  size_t length = 0;
};

std::optional<Decimal> leading_decimal(std::string_view text) {
  Decimal made;
  bool point = false;
  for (; made.length < text.size(); ++made.length) {
    const char c = text[made.length];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(c)) break;
    if (made.digits > kLargestLogNumber / 16 || (point && made.places == kMostPlaces)) {
      return std::nullopt;
    }
    made.digits = made.digits * 10 + (c - '0');
    if (point) ++made.places;
  }
  if (made.length == 0 || text[0] == '.') return std::nullopt;
  return made;
}

struct UnitRow {
  std::string_view name{};
  int64_t decimal = 1;
  int64_t binary = 1;
};

constexpr int64_t kKi = 1024;
// Longer names first: the first that fits is taken.
constexpr std::array kUnits{UnitRow{"KiB", kKi, kKi},
                            UnitRow{"MiB", kKi* kKi, kKi* kKi},
                            UnitRow{"GiB", kKi* kKi* kKi, kKi* kKi* kKi},
                            UnitRow{"TiB", kKi* kKi* kKi* kKi, kKi* kKi* kKi* kKi},
                            UnitRow{"kB", 1000, kKi},
                            UnitRow{"KB", 1000, kKi},
                            UnitRow{"MB", 1'000'000, kKi* kKi},
                            UnitRow{"GB", 1'000'000'000, kKi* kKi* kKi},
                            UnitRow{"TB", 1'000'000'000'000, kKi* kKi* kKi* kKi},
                            UnitRow{"B", 1, 1}};

}  // namespace

std::string clean_line(std::string_view line) {
  while (line.starts_with('>')) {
    line.remove_prefix(1);
    if (line.starts_with(' ')) line.remove_prefix(1);
  }
  std::string made;
  made.reserve(line.size());
  for (size_t i = 0; i < line.size();) {
    const char c = line[i];
    if (c == '\x1b') {
      i = behind_escape(line, i);
      continue;
    }
    if (c == '\t') {
      made += ' ';
    } else if (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f') {
      made += c;
    }
    ++i;
  }
  return made;
}

std::optional<TaggedLine> tagged(std::string_view line, std::span<const std::string_view> tags) {
  for (size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    size_t begin = colon;
    while (begin > 0 && is_word(line[begin - 1])) --begin;
    const std::string_view tag = line.substr(begin, colon - begin);
    if (!tag.empty() && std::ranges::binary_search(tags, tag)) {
      return TaggedLine{.tag = tag, .body = trimmed(line.substr(colon + 1))};
    }
  }
  return std::nullopt;
}

std::optional<std::pair<std::string_view, std::string_view>> assignment(std::string_view body) {
  const size_t sign = body.find('=');
  if (sign == std::string_view::npos) return std::nullopt;
  const std::string_view key = trimmed(body.substr(0, sign));
  if (key.empty()) return std::nullopt;
  return std::pair(key, trimmed(body.substr(sign + 1)));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

std::optional<int64_t> leading_integer(std::string_view text) {
  int64_t number = 0;
  size_t length = 0;
  for (; length < text.size() && is_digit(text[length]); ++length) {
    number = number * 10 + (text[length] - '0');
    if (number > kLargestLogNumber) return std::nullopt;
  }
  return length == 0 ? std::nullopt : std::optional(number);
}

std::vector<int64_t> integers(std::string_view text) {
  std::vector<int64_t> numbers;
  text = trimmed(text);
  const bool list = text.starts_with('[');
  if (list) text.remove_prefix(1);
  while (!text.empty()) {
    text = trimmed(text);
    const std::optional<int64_t> number = leading_integer(text);
    if (!number) break;
    numbers.push_back(*number);
    if (!list) break;
    const size_t comma = text.find(',');
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return numbers;
}

std::optional<LoggedFigure> scaled_figure(std::string_view text, int64_t unit) {
  const std::optional<Decimal> decimal = leading_decimal(text);
  if (!decimal) return std::nullopt;
  int64_t power = 1;
  for (int64_t i = 0; i < decimal->places; ++i) power *= 10;
  // digits x unit / power, without leaving 63 bits: whole units and the rest apart.
  const int64_t whole = decimal->digits / power;
  const int64_t rest = decimal->digits % power;
  if (whole > (int64_t{1} << 60) / unit) return std::nullopt;
  const auto part = static_cast<int64_t>(
      std::llround(static_cast<long double>(rest) * static_cast<long double>(unit) /
                   static_cast<long double>(power)));
  return LoggedFigure{.value = whole * unit + part,
                      .rounding = unit == 1 && power == 1 ? 0 : ceil_div(unit, 2 * power)};
}

std::optional<LoggedFigure> figure(std::string_view text, bool binary_mb) {
  text = trimmed(text);
  const std::optional<Decimal> decimal = leading_decimal(text);
  if (!decimal) return std::nullopt;
  const std::string_view rest = trimmed(text.substr(decimal->length));
  for (const UnitRow& unit : kUnits) {
    if (!rest.starts_with(unit.name)) continue;
    if (rest.size() > unit.name.size() && is_word(rest[unit.name.size()])) continue;
    return scaled_figure(text, binary_mb ? unit.binary : unit.decimal);
  }
  return std::nullopt;
}

std::optional<std::string_view> after(std::string_view text, std::string_view label) {
  const size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  return trimmed(text.substr(at + label.size()));
}

}  // namespace tidemark

#include "planner/alloc/csv_cells.h"

#include <algorithm>
#include <charconv>

#include "planner/alloc/csv.h"

namespace tidemark::csv {
namespace {

// Length of the one character at the start of a text that is not empty; 0 when it is none. RFC
// 3629.
size_t length_of_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  const unsigned second = byte(1);
  if (lead == 0xE0 && second < 0xA0) return 0;
  if (lead == 0xED && second > 0x9F) return 0;
  if (lead == 0xF0 && second < 0x90) return 0;
  if (lead == 0xF4 && second > 0x8F) return 0;
  return length;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<Field> split(std::string_view line, char separator, int column) {
  std::vector<Field> fields;
  while (true) {
    const size_t end = line.find(separator);
    fields.push_back({line.substr(0, end), column});
    if (end == std::string_view::npos) return fields;
    column += static_cast<int>(end) + 1;
    line.remove_prefix(end + 1);
  }
}

std::vector<Field> words(const Field& field) {
  std::vector<Field> all = split(field.text, ' ', field.column);
  std::erase_if(all, [](const Field& word) { return word.text.empty(); });
  return all;
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value > kLargestCsvNumber || value < -kLargestCsvNumber) return std::nullopt;
  return value;
}

std::optional<GapText> gap(std::string_view text) {
  const size_t at = std::min(text.find('@'), text.size());
  const std::string_view times = text.substr(0, at);
  // The first instant may be negative.
  const size_t dash = times.find('-', 1);
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = number(times.substr(0, dash));
  const auto last = number(times.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  GapText gap{.first = *first, .last = *last};
  if (at == text.size()) return gap;
  const std::string_view part = text.substr(at + 1);
  const size_t colon = part.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto low = number(part.substr(0, colon));
  const auto high = number(part.substr(colon + 1));
  if (!low || !high) return std::nullopt;
  gap.used = Interval<Bytes>{Bytes::of(*low), Bytes::of(*high)};
  return gap;
}

std::optional<size_t> first_not_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = length_of_character(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

}  // namespace tidemark::csv

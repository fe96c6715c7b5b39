// The text of single cells of a packing problem.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "planner/alloc/problem.h"

namespace tidemark::csv {

struct Field {
  std::string_view text{};
  int column = 1;  // of the file, 1-based
};

std::string_view trimmed(std::string_view text);
std::vector<Field> split(std::string_view line, char separator, int column);
std::vector<Field> words(const Field& field);  // apart by blanks

// A whole number of at most kLargestCsvNumber either way.
std::optional<int64_t> number(std::string_view text);

// "3-7", "-5--2", "3-7@0:64"; instants as they stand there.
struct GapText {
  int64_t first = 0;
  int64_t last = 0;
  std::optional<Interval<Bytes>> used{};
};
std::optional<GapText> gap(std::string_view text);

// Where the text stops being UTF-8; nothing when it does not.
std::optional<size_t> first_not_utf8(std::string_view text);

}  // namespace tidemark::csv

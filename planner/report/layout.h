// Text for a terminal of 80 to 100 columns: words wrapped under a label, and tables whose columns
// line up even when a name holds characters that are two columns wide.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/report/writers.h"

namespace tidemark {

inline constexpr int kPageWidth = 98;
inline constexpr int kLabelWidth = 11;

// Columns a terminal uses: 2 for East Asian wide characters, 0 for combining marks, else 1.
int display_width(std::string_view text);

// `text` cut to at most `width` columns, the last of them "..." when something was cut.
std::string shortened(std::string_view text, int width);

// "1 token", "2,048 tokens"; `more` where it is not `one` and an s.
std::string counted(int64_t count, std::string_view one, std::string_view more = {});

// Lines of at most `width` columns; an item is never broken, so a longer one has a line of its own.
std::vector<std::string> wrap_items(const std::vector<std::string>& items, int width);
std::vector<std::string> wrap_words(std::string_view text, int width);

// "Label      text that goes on and is wrapped
//             under itself"
std::string paragraph(std::string_view label, std::string_view text);

enum class Tint { kNone, kGood, kBad };
std::string tinted(std::string text, Tint tint, TextStyle style);

enum class Align { kLeft, kRight };

struct Column {
  std::string head{};
  Align align = Align::kRight;
};

struct Cell {
  std::string text{};
  Tint tint = Tint::kNone;
};

// A row without cells is a rule. A row may be shorter than the header.
struct Table {
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};
};

// Two spaces of indent; no line ends in a space.
std::string table_to_text(const Table& table, TextStyle style);
// A pipe table; rules are left out.
std::string table_to_markdown(const Table& table);

}  // namespace tidemark

#include "planner/report/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "planner/base/units.h"
#include "planner/report/escape.h"

namespace tidemark {
namespace {

struct Range {
  char32_t first = 0;
  char32_t last = 0;
};

// The blocks whose characters take two columns, coarsely (Unicode's East Asian Width W and F).
constexpr std::array<Range, 9> kWide{{{0x1100, 0x115F},
                                      {0x2E80, 0xA4CF},
                                      {0xAC00, 0xD7A3},
                                      {0xF900, 0xFAFF},
                                      {0xFE30, 0xFE6F},
                                      {0xFF00, 0xFF60},
                                      {0xFFE0, 0xFFE6},
                                      {0x1F300, 0x1FAFF},
                                      {0x20000, 0x3FFFD}}};

int width_of(char32_t c) {
  if (c >= 0x300 && c <= 0x36F) return 0;
  for (const Range& range : kWide) {
    if (c >= range.first && c <= range.last) return 2;
  }
  return 1;
}

void trim_right(std::string& line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
}

std::string spaces(int count) { return std::string(static_cast<size_t>(std::max(count, 0)), ' '); }

std::vector<int> column_widths(const Table& table) {
  std::vector<int> widths;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    int width = display_width(table.columns[i].head);
    for (const std::vector<Cell>& row : table.rows) {
      if (i < row.size()) width = std::max(width, display_width(row[i].text));
    }
    widths.push_back(width);
  }
  return widths;
}

std::string aligned(const Cell& cell, Align align, int width, TextStyle style) {
  const std::string gap = spaces(width - display_width(cell.text));
  const std::string text = tinted(cell.text, cell.tint, style);
  return align == Align::kLeft ? text + gap : gap + text;
}

std::string text_row(const Table& table, const std::vector<Cell>& row,
                     const std::vector<int>& widths, TextStyle style) {
  std::string line;
  for (size_t i = 0; i < row.size() && i < widths.size(); ++i) {
    line += "  " + aligned(row[i], table.columns[i].align, widths[i], style);
  }
  trim_right(line);
  return line + "\n";
}

// As long as the columns of numbers; a last column of notes stays without it.
std::string text_rule(const Table& table, const std::vector<int>& widths) {
  int width = -2;
  for (size_t i = 0; i < widths.size(); ++i) {
    const bool notes = i + 1 == widths.size() && table.columns[i].align == Align::kLeft;
    if (!notes) width += widths[i] + 2;
  }
  return "  " + std::string(static_cast<size_t>(std::max(width, 1)), '-') + "\n";
}

std::vector<Cell> heads(const Table& table) {
  std::vector<Cell> row;
  for (const Column& column : table.columns) row.push_back({.text = column.head});
  return row;
}

bool is_unit(std::string_view word) {
  while (!word.empty() && std::string_view(".,;:)").find(word.back()) != std::string_view::npos) {
    word.remove_suffix(1);
  }
  constexpr std::array<std::string_view, 11> kUnits{"B",  "KiB", "MiB", "GiB", "TiB", "PiB",
                                                    "ns", "us",  "ms",  "s",   "%"};
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

// "256", "MiB" -> "256 MiB": a line never ends between a number and its unit.
std::vector<std::string> with_units_joined(const std::vector<std::string>& words) {
  std::vector<std::string> joined;
  for (const std::string& word : words) {
    const bool after_number =
        !joined.empty() && std::isdigit(static_cast<unsigned char>(joined.back().back())) != 0;
    if (after_number && is_unit(word)) {
      joined.back() += " " + word;
    } else {
      joined.push_back(word);
    }
  }
  return joined;
}

}  // namespace

int display_width(std::string_view text) {
  // A long table is measured cell by cell, and nearly all of it is plain.
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  if (plain) return static_cast<int>(text.size());
  int width = 0;
  for (const char32_t c : code_points(text)) width += width_of(c);
  return width;
}

std::string counted(int64_t count, std::string_view one, std::string_view more) {
  const std::string number = format_count(count) + " ";
  if (count == 1) return number + std::string(one);
  return more.empty() ? number + std::string(one) + "s" : number + std::string(more);
}

std::string shortened(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  std::string out;
  int used = 3;
  for (const char32_t c : code_points(text)) {
    used += width_of(c);
    if (used > width) break;
    append_utf8(out, c);
  }
  return out + "...";
}

std::vector<std::string> wrap_items(const std::vector<std::string>& items, int width) {
  std::vector<std::string> lines;
  for (const std::string& item : items) {
    const bool fits =
        !lines.empty() && display_width(lines.back()) + 1 + display_width(item) <= width;
    if (fits) {
      lines.back() += " " + item;
    } else {
      lines.push_back(item);
    }
  }
  return lines;
}

std::vector<std::string> wrap_words(std::string_view text, int width) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c != ' ') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return wrap_items(with_units_joined(words), width);
}

std::string paragraph(std::string_view label, std::string_view text) {
  std::string out;
  std::string head(label);
  for (const std::string& line : wrap_words(text, kPageWidth - kLabelWidth)) {
    out += head + spaces(kLabelWidth - display_width(head)) + line + "\n";
    head.clear();
  }
  return out;
}

std::string tinted(std::string text, Tint tint, TextStyle style) {
  if (!style.color || tint == Tint::kNone) return text;
  return (tint == Tint::kGood ? "\x1b[32m" : "\x1b[31m") + text + "\x1b[0m";
}

std::string table_to_text(const Table& table, TextStyle style) {
  const std::vector<int> widths = column_widths(table);
  std::string out = text_row(table, heads(table), widths, {});
  for (const std::vector<Cell>& row : table.rows) {
    out += row.empty() ? text_rule(table, widths) : text_row(table, row, widths, style);
  }
  return out;
}

std::string table_to_markdown(const Table& table) {
  std::string head = "|";
  std::string rule = "|";
  for (const Column& column : table.columns) {
    head += " " + markdown_text(column.head) + " |";
    rule += column.align == Align::kLeft ? " :--- |" : " ---: |";
  }
  std::string out = head + "\n" + rule + "\n";
  for (const std::vector<Cell>& row : table.rows) {
    if (row.empty()) continue;
    out += "|";
    for (size_t i = 0; i < table.columns.size(); ++i) {
      out +=
          i < row.size() && !row[i].text.empty() ? " " + markdown_text(row[i].text) + " |" : " |";
    }
    out += "\n";
  }
  return out;
}

}  // namespace tidemark

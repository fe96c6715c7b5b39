#include "planner/report/tables.h"

#include <algorithm>
#include <cctype>

#include "planner/report/escape.h"
#include "planner/report/layout.h"

namespace tidemark {
namespace {

bool starts_like_a_number(const std::string& cell) {
  const size_t sign = !cell.empty() && (cell.front() == '-' || cell.front() == '+') ? 1 : 0;
  return cell.size() > sign && std::isdigit(static_cast<unsigned char>(cell[sign])) != 0;
}

// Right-aligned when every filled cell is a number; the first column never is.
Align alignment_of(const Listing& listing, size_t column) {
  const bool numbers =
      std::all_of(listing.rows.begin(), listing.rows.end(), [column](const auto& row) {
        return row[column].empty() || starts_like_a_number(row[column]);
      });
  return column > 0 && numbers && !listing.rows.empty() ? Align::kRight : Align::kLeft;
}

Table table_of(const Listing& listing) {
  Table table;
  for (size_t i = 0; i < listing.columns.size(); ++i) {
    table.columns.push_back({listing.columns[i], alignment_of(listing, i)});
  }
  for (const auto& row : listing.rows) {
    std::vector<Cell> cells;
    for (const std::string& cell : row) cells.push_back({one_line(cell)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void append_csv_row(std::string& text, const std::vector<std::string>& cells) {
  for (size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "," : "") + csv_field(cells[i]);
  text += "\n";
}

}  // namespace

std::string to_text(const Listing& listing) { return table_to_text(table_of(listing), {}); }

std::string to_markdown(const Listing& listing) { return table_to_markdown(table_of(listing)); }

std::string to_csv(const Listing& listing) {
  std::string text;
  append_csv_row(text, listing.columns);
  for (const auto& row : listing.rows) append_csv_row(text, row);
  return text;
}

}  // namespace tidemark

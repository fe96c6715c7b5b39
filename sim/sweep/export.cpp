#include "sim/sweep/export.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "planner/report/escape.h"
#include "planner/report/layout.h"
#include "sim/sweep/summary_table.h"

namespace tidemark {
namespace {

// Shortest text that reads back as the same number.
std::string real_text(double value) { return fmt::format("{}", value); }

bool is_true(const SweepCell& cell) { return cell == SweepCell(int64_t{1}); }

std::string csv_cell(const SweepCell& cell, ColumnKind kind) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) {
    if (kind == ColumnKind::kBoolean) return is_true(cell) ? "true" : "false";
    return std::to_string(*integer);
  }
  if (const auto* real = std::get_if<double>(&cell)) return real_text(*real);
  if (const auto* text = std::get_if<std::string>(&cell)) return csv_field(*text);
  return "";
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char32_t c : code_points(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20 || c == 0x7F || c == 0x2028 || c == 0x2029) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    } else {
      append_utf8(out, c);
    }
  }
  return out + "\"";
}

std::string json_cell(const SweepCell& cell, ColumnKind kind) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) {
    if (kind == ColumnKind::kBoolean) return is_true(cell) ? "true" : "false";
    return std::to_string(*integer);
  }
  if (const auto* text = std::get_if<std::string>(&cell)) return json_string(*text);
  const auto* real = std::get_if<double>(&cell);
  return real != nullptr && std::isfinite(*real) ? real_text(*real) : "null";
}

std::string csv_head() {
  std::string line = "id";
  for (const SweepColumn& column : sweep_columns()) line += "," + csv_field(column.name);
  return line + "\n";
}

std::string csv_line(const SweepRow& row) {
  std::string line = csv_field(row.id);
  for (size_t i = 0; i < row.cells.size(); ++i) {
    line += "," + csv_cell(row.cells[i], sweep_columns()[i].kind);
  }
  return line + "\n";
}

std::string json_line(const SweepRow& row) {
  std::string line = "{\"schema\":\"tidemark.sweep/1\",\"id\":" + json_string(row.id);
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const SweepColumn& column = sweep_columns()[i];
    line += fmt::format(",{}:{}", json_string(column.name), json_cell(row.cells[i], column.kind));
  }
  return line + "}\n";
}

std::string spaces(int count) { return std::string(static_cast<size_t>(std::max(count, 0)), ' '); }

std::string table_line(const SummaryTable& table, const std::vector<Cell>& cells, TextStyle style) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string gap = spaces(table.widths[i] - display_width(cells[i].text));
    const std::string text = tinted(cells[i].text, cells[i].tint, style);
    line +=
        (i == 0 ? "" : "  ") + (table.columns[i].align == Align::kLeft ? text + gap : gap + text);
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string markdown_line(const std::vector<Cell>& cells) {
  std::string line = "|";
  for (const Cell& cell : cells) line += " " + markdown_text(cell.text) + " |";
  return line + "\n";
}

std::vector<Cell> head_cells(const SummaryTable& table) {
  std::vector<Cell> cells;
  for (const Column& column : table.columns) cells.push_back({column.head});
  return cells;
}

// "Fixed      ctx_size 4096, parallel 1, ...", wrapped between items.
std::string fixed_paragraph(const SummaryTable& table) {
  std::vector<std::string> items = table.fixed;
  for (size_t i = 0; i + 1 < items.size(); ++i) items[i] += ",";
  std::string text;
  for (const std::string& line : wrap_items(items, kPageWidth - kLabelWidth)) {
    const std::string_view label = text.empty() ? "Fixed" : "";
    text += fmt::format("{:<{}}{}\n", label, kLabelWidth, line);
  }
  return text.empty() ? text : text + "\n";
}

std::string note_paragraph(const SummaryTable& table) {
  return table.note.empty() ? "" : paragraph("Note", table.note) + "\n";
}

std::string table_head(const SummaryTable& table, int64_t rows, TextStyle style) {
  int width = -2;
  for (const int column : table.widths) width += column + 2;
  return "Sweep of " + counted(rows, "scenario") + "\n\n" + fixed_paragraph(table) +
         note_paragraph(table) + table_line(table, head_cells(table), style) +
         std::string(static_cast<size_t>(std::max(width, 1)), '-') + "\n";
}

std::string markdown_head(const SummaryTable& table) {
  std::string text;
  for (const std::string& item : table.fixed) {
    text += (text.empty() ? "Fixed: " : ", ") + markdown_text(item);
  }
  if (!text.empty()) text += "\n\n";
  if (!table.note.empty()) text += "Note: " + markdown_text(table.note) + "\n\n";
  text += markdown_line(head_cells(table)) + "|";
  for (const Column& column : table.columns) {
    text += column.align == Align::kLeft ? " --- |" : " ---: |";
  }
  return text + "\n";
}

template <typename Line>
Result<int64_t> write_lines(const Store& store, const std::string& head, const TextSink& sink,
                            Line line) {
  if (!sink(head)) return int64_t{0};
  return store.for_each([&](const SweepRow& row) { return sink(line(row)); });
}

Result<int64_t> write_summary(const Store& store, ExportFormat format, const TextSink& sink,
                              TextStyle style) {
  const Result<SummaryTable> table = summary_table(store);
  if (!table) return table.diagnostics();
  if (format == ExportFormat::kMarkdown) {
    return write_lines(store, markdown_head(*table), sink, [&](const SweepRow& row) {
      return markdown_line(summary_cells(*table, row));
    });
  }
  const Result<int64_t> count = store.count();
  if (!count) return count.diagnostics();
  return write_lines(store, table_head(*table, *count, style), sink, [&](const SweepRow& row) {
    return table_line(*table, summary_cells(*table, row), style);
  });
}

}  // namespace

Result<int64_t> export_rows(const Store& store, ExportFormat format, const TextSink& sink,
                            TextStyle style) {
  switch (format) {
    case ExportFormat::kCsv:
      return write_lines(store, csv_head(), sink, csv_line);
    case ExportFormat::kJsonLines:
      return write_lines(store, "", sink, json_line);
    case ExportFormat::kTable:
    case ExportFormat::kMarkdown:
      break;
  }
  return write_summary(store, format, sink, style);
}

}  // namespace tidemark

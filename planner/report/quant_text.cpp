// Quantization reports for people: the table of a terminal of 120 columns, Markdown, CSV.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/layout.h"
#include "planner/report/quant_report.h"

namespace tidemark {
namespace {

constexpr int kTableWidth = 120;
constexpr size_t kNamesShown = 3;

// "2048 x 512"; "scalar" without a dimension.
std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t side : shape) text += fmt::format("{}{}", text.empty() ? "" : " x ", side);
  return text.empty() ? "scalar" : text;
}

// "model.layers.12.mlp...proj.weight": layer and role stand at the two ends of a name.
std::string shortened_inside(const std::string& name, int width) {
  const std::string line = one_line(name);
  const std::vector<char32_t> signs = code_points(line);
  if (display_width(line) <= width || std::ssize(signs) <= width) return shortened(line, width);
  const size_t tail = static_cast<size_t>(width - 3) / 2;
  std::string end;
  for (size_t i = signs.size() - tail; i < signs.size(); ++i) append_utf8(end, signs[i]);
  std::string begin;
  for (size_t i = 0; i + tail + 3 < static_cast<size_t>(width); ++i) append_utf8(begin, signs[i]);
  return begin + "..." + end;
}

std::string decibels(double value) {
  return std::isinf(value) ? (value > 0 ? "infinite" : "-infinite") : fmt::format("{:.2f}", value);
}

std::string error_text(double value) { return value == 0 ? "0" : fmt::format("{:#.3g}", value); }

std::string cosine_text(const std::optional<double>& cosine) {
  return cosine ? fmt::format("{:.6f}", *cosine) : "-";
}

std::string percent_of(Bytes part, Bytes whole) {
  if (whole == Bytes{}) return "-";
  return fmt::format(
      "{:.1f} %", 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

std::vector<Cell> outcome_cells(const std::string& format, const QuantOutcome& outcome) {
  if (outcome.as_stored) {
    return {{format}, {format_bytes(outcome.bytes)}, {"as stored"}, {"-"}, {"-"}};
  }
  return {{format},
          {format_bytes(outcome.bytes)},
          {decibels(outcome.sqnr_db)},
          {error_text(outcome.largest_error)},
          {cosine_text(outcome.cosine)}};
}

// Columns that are left for names in a table without any.
int room_for_names(const Table& table) {
  const std::string text = table_to_text(table, {});
  int widest = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    widest = std::max(widest, display_width(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  constexpr int kHead = 6;  // "Tensor" is part of the widest line
  return std::clamp(kTableWidth - widest + kHead, 24, 60);
}

// A tensor's name stands in its first row only, except where each row is read by itself.
Table tensor_table(const QuantReport& report, bool repeat_names) {
  Table table{.columns = {{"Tensor", Align::kLeft},
                          {"shape", Align::kLeft},
                          {"stored", Align::kLeft},
                          {"size"},
                          {"to", Align::kLeft},
                          {"size"},
                          {"SQNR, dB"},
                          {"max error"},
                          {"cosine"}}};
  for (const size_t index : shown_tensors(report)) {
    const QuantTensor& tensor = report.tensors[index];
    for (size_t i = 0; i < tensor.outcomes.size(); ++i) {
      std::vector<Cell> row(4);
      if (i == 0 || repeat_names) {
        row = {{repeat_names ? one_line(tensor.name) : ""},
               {shape_text(tensor.shape)},
               {one_line(tensor.type)},
               {format_bytes(tensor.bytes)}};
      }
      for (Cell& cell : outcome_cells(report.formats[i], tensor.outcomes[i])) {
        row.push_back(std::move(cell));
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

// The names, as long as the other columns let them be.
Table terminal_table(const QuantReport& report) {
  Table table = tensor_table(report, false);
  const int width = room_for_names(table);
  size_t row = 0;
  for (const size_t index : shown_tensors(report)) {
    const QuantTensor& tensor = report.tensors[index];
    table.rows[row].front().text = shortened_inside(tensor.name, width);
    row += tensor.outcomes.size();
  }
  return table;
}

Table total_table(const QuantReport& report) {
  Table table{.columns = {{"All tensors", Align::kLeft},
                          {"size"},
                          {"of stored"},
                          {"quantized"},
                          {"mean SQNR, dB"},
                          {"worst"},
                          {"in", Align::kLeft}}};
  for (const QuantTotal& total : report.totals) {
    const std::string none = total.exact > 0 ? "infinite" : "-";
    table.rows.push_back({{total.format},
                          {format_bytes(total.bytes)},
                          {percent_of(total.bytes, report.stored)},
                          {format_count(total.quantized)},
                          {total.mean_sqnr_db ? decibels(*total.mean_sqnr_db) : none},
                          {total.worst_sqnr_db ? decibels(*total.worst_sqnr_db) : none},
                          {shortened_inside(total.worst_tensor, 46)}});
  }
  return table;
}

struct Group {
  std::string what{};
  std::vector<std::string> names{};
  Bytes bytes{};
};

// In the order in which they first come up.
Group& group_of(std::vector<Group>& groups, const std::string& what) {
  const auto found = std::ranges::find(groups, what, &Group::what);
  return found != groups.end() ? *found : groups.emplace_back(Group{.what = what});
}

std::string names_of(const Group& group) {
  std::string text;
  for (size_t i = 0; i < std::min(group.names.size(), kNamesShown); ++i) {
    text += (i > 0 ? ", " : "") + shortened_inside(group.names[i], 48);
  }
  const size_t more = group.names.size() - std::min(group.names.size(), kNamesShown);
  return more > 0 ? text + fmt::format(" and {} more", more) : text;
}

std::vector<Group> kept_groups(const QuantReport& report) {
  std::vector<Group> groups;
  for (const KeptTensor& kept : report.kept) {
    Group& group = group_of(groups, kept.reason);
    group.names.push_back(kept.name);
    group.bytes += kept.bytes;
  }
  return groups;
}

// Matrices that one format takes and another does not, by the width and those formats.
std::vector<Group> misfits(const QuantReport& report) {
  std::vector<Group> groups;
  for (const QuantTensor& tensor : report.tensors) {
    std::string formats;
    for (size_t i = 0; i < tensor.outcomes.size(); ++i) {
      if (!tensor.outcomes[i].as_stored) continue;
      formats += (formats.empty() ? "" : " and ") + report.formats[i];
    }
    if (formats.empty()) continue;
    Group& group = group_of(groups, fmt::format("{}, whose blocks rows of {} do not fill", formats,
                                                tensor.shape.back()));
    group.names.push_back(tensor.name);
    group.bytes += tensor.bytes;
  }
  return groups;
}

std::string scales_text(const QuantReport& report) {
  if (report.granularity.empty()) return "scales as their names say";
  const std::string zero = report.asymmetric ? ", with a zero point" : ", symmetric";
  if (report.granularity == "tensor") return "one scale a tensor" + zero;
  if (report.granularity == "channel") return "one scale for each output row" + zero;
  return fmt::format("one scale for each {} values of a row{}", report.granularity.substr(6), zero);
}

std::string integers_text(const QuantReport& report) {
  const std::string text = scales_text(report);
  if (report.range == "minmax") return text + "; range: smallest to largest value";
  if (report.range == "mse") return text + "; range: the one of least squared error";
  return text + fmt::format("; range: percentile {}", report.range.substr(11));
}

std::string facts(const QuantReport& report) {
  std::string out = fmt::format("Quantization of {}\n\n", one_line(report.file));
  out += paragraph(
      "Source", fmt::format("{}, {}, {}", report.file_format,
                            counted(std::ssize(report.tensors) + std::ssize(report.kept), "tensor"),
                            format_bytes_exact(report.stored)));
  if (report.left_out > 0) {
    out += paragraph("Left out", fmt::format("{} by --tensors, counted nowhere",
                                             counted(report.left_out, "tensor")));
  }
  if (!report.range.empty()) out += paragraph("Integers", integers_text(report));
  for (const Group& group : kept_groups(report)) {
    out += paragraph(
        "Kept", fmt::format("{} as stored, {} ({}): {}", counted(std::ssize(group.names), "tensor"),
                            format_bytes(group.bytes), group.what, names_of(group)));
  }
  for (const Group& group : misfits(report)) {
    out += paragraph(
        "Misfit", fmt::format("{} as stored in {}: {}", counted(std::ssize(group.names), "tensor"),
                              group.what, names_of(group)));
  }
  for (const std::string& note : report.notes) out += paragraph("Note", one_line(note));
  return out;
}

std::string shown_line(const QuantReport& report) {
  const size_t shown = shown_tensors(report).size();
  if (report.top <= 0 || shown == report.tensors.size()) return "";
  return paragraph("Shown", fmt::format("{} of {} matrices, the lowest SQNR first", shown,
                                        report.tensors.size()));
}

}  // namespace

std::string to_text(const QuantReport& report, TextStyle style) {
  std::string out = facts(report) + shown_line(report);
  if (report.tensors.empty()) return out;
  out += "\n" + table_to_text(terminal_table(report), style);
  return out + "\n" + table_to_text(total_table(report), style);
}

std::string to_markdown(const QuantReport& report) {
  return table_to_markdown(tensor_table(report, true)) + "\n" +
         table_to_markdown(total_table(report));
}

std::string to_csv(const QuantReport& report) {
  std::string out =
      "tensor,shape,stored_type,stored_bytes,format,bytes,as_stored,sqnr_db,max_error,rms_error,"
      "cosine\n";
  for (const size_t index : shown_tensors(report)) {
    const QuantTensor& tensor = report.tensors[index];
    for (size_t i = 0; i < tensor.outcomes.size(); ++i) {
      const QuantOutcome& outcome = tensor.outcomes[i];
      out += fmt::format("{},{},{},{},{},{},{},", csv_field(tensor.name), shape_text(tensor.shape),
                         csv_field(tensor.type), tensor.bytes.count(), report.formats[i],
                         outcome.bytes.count(), outcome.as_stored);
      out += outcome.as_stored
                 ? ",,,\n"
                 : fmt::format("{},{},{},{}\n", outcome.sqnr_db, outcome.largest_error,
                               outcome.rms_error,
                               outcome.cosine ? fmt::format("{}", *outcome.cosine) : "");
    }
  }
  return out;
}

}  // namespace tidemark

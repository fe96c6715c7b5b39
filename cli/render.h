// One report or several in the format asked for; the writers are planner/report's. `table` makes
// the text for people.
#pragma once

#include <string>
#include <vector>

#include "options.h"
#include "planner/report/tables.h"
#include "planner/report/writers.h"

namespace tidemark::cli {

template <typename Report, typename MakeTable>
std::string render(const std::vector<Report>& reports, const OutputOptions& output,
                   const MakeTable& table) {
  switch (output.format) {
    case OutputFormat::kJson:
      return to_json(reports);
    case OutputFormat::kCsv:
      return to_csv(reports);
    case OutputFormat::kMarkdown:
      return to_markdown(reports);
    case OutputFormat::kTable:
      break;
  }
  return table(TextStyle{.color = use_color(output)});
}

// Plans and simulations: one in full, several side by side.
template <typename Report>
std::string render(const std::vector<Report>& reports, const OutputOptions& output) {
  return render(reports, output, [&](TextStyle style) {
    return reports.size() == 1 ? to_text(reports.front(), style) : to_comparison(reports, style);
  });
}

// A plain table; `head` stands above it where people read it.
inline std::string render(const Listing& listing, const std::string& what,
                          const OutputOptions& output, const std::string& head = "") {
  switch (output.format) {
    case OutputFormat::kJson:
      return to_json(listing, what);
    case OutputFormat::kCsv:
      return to_csv(listing);
    case OutputFormat::kMarkdown:
      return to_markdown(listing);
    case OutputFormat::kTable:
      break;
  }
  return head + to_text(listing);
}

}  // namespace tidemark::cli

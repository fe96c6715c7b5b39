// A report in the format that was asked for, where it has all four.
#pragma once

#include <string>

#include "options.h"

namespace tidemark::cli {

// `Report` has to_json, to_csv, to_markdown and to_text.
template <typename Report>
std::string rendered(const Report& report, const OutputOptions& output) {
  switch (output.format) {
    case OutputFormat::kJson:
      return to_json(report);
    case OutputFormat::kCsv:
      return to_csv(report);
    case OutputFormat::kMarkdown:
      return to_markdown(report);
    case OutputFormat::kTable:
      break;
  }
  return to_text(report, {.color = use_color(output)});
}

}  // namespace tidemark::cli

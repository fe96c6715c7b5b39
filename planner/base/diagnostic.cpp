#include "planner/base/diagnostic.h"

#include <fmt/core.h>

#include <algorithm>

namespace tidemark {

Diagnostics one_error(std::string path, std::string message, std::string hint) {
  return {Diagnostic{.path = std::move(path), .message = std::move(message), .hint = std::move(hint)}};
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::string to_string(const Diagnostic& diagnostic) {
  std::string text;
  const SourcePos& where = diagnostic.where;
  if (!where.file.empty()) {
    text += where.file;
    if (where.line > 0) text += fmt::format(":{}:{}", where.line, where.column);
    text += ": ";
  }
  text += diagnostic.severity == Severity::kError ? "error: " : "warning: ";
  if (!diagnostic.path.empty()) text += diagnostic.path + ": ";
  text += diagnostic.message + "\n";
  if (!diagnostic.hint.empty()) text += "  hint: " + diagnostic.hint + "\n";
  return text;
}

std::string to_string(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += to_string(diagnostic);
  return text;
}

}  // namespace tidemark

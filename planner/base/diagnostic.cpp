#include "planner/base/diagnostic.h"

#include <fmt/core.h>

#include <algorithm>

namespace tidemark {

Diagnostics one_error(std::string path, std::string message, std::string hint) {
  return {
      Diagnostic{.path = std::move(path), .message = std::move(message), .hint = std::move(hint)}};
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kMost = 60;
  size_t end = std::min(text.size(), kMost);
  // Never cut inside a UTF-8 sequence: its later bytes look like 10xxxxxx.
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  std::string out = "\"";
  for (const char c : text.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (end < text.size() ? "...\"" : "\"");
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

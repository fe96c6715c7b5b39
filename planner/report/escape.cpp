#include "planner/report/escape.h"

#include <fmt/core.h>

namespace tidemark {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F); }

// What moves or hides text without being a control character: line separators, direction overrides,
// zero-width characters, the byte order mark and the non-characters XML refuses.
bool is_invisible(char32_t c) {
  return (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF || (c & 0xFFFE) == 0xFFFE;
}

struct Decoded {
  char32_t code_point = kReplacement;
  size_t length = 1;
};

struct Lead {
  size_t length = 0;      // 0 = not the first byte of a sequence
  char32_t bits = 0;      // payload of the first byte
  char32_t smallest = 0;  // anything below is an overlong form
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if ((byte & 0xE0) == 0xC0) return {2, byte & 0x1Fu, 0x80};
  if ((byte & 0xF0) == 0xE0) return {3, byte & 0x0Fu, 0x800};
  if ((byte & 0xF8) == 0xF0) return {4, byte & 0x07u, 0x10000};
  return {};
}

Decoded decode(std::string_view text) {
  const Lead lead = lead_of(static_cast<unsigned char>(text.front()));
  if (lead.length == 0 || lead.length > text.size()) return {};
  char32_t code_point = lead.bits;
  for (size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {};
    code_point = (code_point << 6) | (byte & 0x3Fu);
  }
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < lead.smallest || code_point > 0x10FFFF || surrogate) return {};
  return {code_point, lead.length};
}

std::string visible(char32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto value = static_cast<uint32_t>(c);
  return value < 0x100 ? fmt::format("\\x{:02x}", value) : fmt::format("\\u{{{:x}}}", value);
}

// `text` on one line with some characters replaced.
template <typename Replace>
std::string replaced(std::string_view text, Replace replace) {
  std::string out;
  for (const char32_t c : code_points(one_line(text))) {
    const std::string_view replacement = replace(c);
    if (replacement.empty()) {
      append_utf8(out, c);
    } else {
      out += replacement;
    }
  }
  return out;
}

}  // namespace

std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> result;
  while (!text.empty()) {
    const Decoded decoded = decode(text);
    result.push_back(decoded.code_point);
    text.remove_prefix(decoded.length);
  }
  return result;
}

void append_utf8(std::string& out, char32_t c) {
  const auto push = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return push(c);
  if (c < 0x800) {
    push(0xC0 | (c >> 6));
  } else if (c < 0x10000) {
    push(0xE0 | (c >> 12));
    push(0x80 | ((c >> 6) & 0x3F));
  } else {
    push(0xF0 | (c >> 18));
    push(0x80 | ((c >> 12) & 0x3F));
    push(0x80 | ((c >> 6) & 0x3F));
  }
  push(0x80 | (c & 0x3F));
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char32_t c : code_points(text)) {
    if (is_control(c) || is_invisible(c)) {
      out += visible(c);
    } else {
      append_utf8(out, c);
    }
  }
  return out;
}

std::string csv_field(std::string_view text) {
  std::string clean;
  for (const char32_t c : code_points(text)) append_utf8(clean, c);
  const bool outer_space = !clean.empty() && (clean.front() == ' ' || clean.back() == ' ');
  if (!outer_space && clean.find_first_of("\",\r\n") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (const char c : clean) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string xml_text(std::string_view text) {
  return replaced(text, [](char32_t c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\'':
        return "&#39;";
      default:
        return "";
    }
  });
}

std::string markdown_text(std::string_view text) {
  return replaced(text, [](char32_t c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '\\':
        return "\\\\";
      case '|':
        return "\\|";
      case '*':
        return "\\*";
      case '`':
        return "\\`";
      case '[':
        return "\\[";
      case ']':
        return "\\]";
      default:
        return "";
    }
  });
}

}  // namespace tidemark

// What is looked for in the bytes of a document before the parser sees them.
#include <algorithm>
#include <array>
#include <string_view>

#include "planner/config/yaml_node.h"

namespace tidemark {
namespace {

// Number of bytes of the well-formed UTF-8 sequence at the front (no surrogates, no overlong forms,
// at most U+10FFFF); 0 when there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool outside = (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F);
  return overlong || outside ? 0 : length;
}

bool starts_marker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) && (line.size() == 3 || line[3] == ' ' || line[3] == '\t');
}

// Messages of the parser, which tell what it met and not why. Most often it is an indentation.
struct SyntaxHint {
  std::string_view message{};
  std::string_view hint{};
};
constexpr std::array kSyntaxHints = {
    SyntaxHint{
        "illegal map value",
        "the keys of one mapping begin in one column; a value with \": \" in it needs quotes"},
    SyntaxHint{"end of map not found",
               "the keys of one mapping begin in one column, and each has a \":\" behind it"},
    SyntaxHint{"end of sequence not found", "the items of one list begin in one column"},
    SyntaxHint{"end of sequence flow not found", "a [ further up is not closed"},
    SyntaxHint{"end of map flow not found", "a { further up is not closed"},
    SyntaxHint{"illegal flow end", "nothing is open here; text with a bracket needs quotes"},
    SyntaxHint{
        "illegal block entry",
        "indent with spaces; a list begins on a line of its own or stands in brackets: [a, b]"},
    SyntaxHint{"illegal tab when looking for indentation", "indent with spaces"},
    SyntaxHint{"illegal EOF in scalar", "a quote further up is not closed"},
    SyntaxHint{"unknown token", "text that begins with such a character needs quotes"},
};

}  // namespace

// The parser guesses encodings from NUL bytes and takes invalid UTF-8 as it is, so both are looked
// for first.
bool refuse_bytes(YamlDocument::Impl& document, std::string_view text) {
  int line = 1;
  int column = 1;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i));
    if (length == 0 || text[i] == '\0') {
      document.add(document.at(line, column), "",
                   length == 0 ? "the text is not valid UTF-8" : "the text contains a NUL byte",
                   "configuration files are UTF-8 text");
      return true;
    }
    line += text[i] == '\n' ? 1 : 0;
    column = text[i] == '\n' ? 1 : column + static_cast<int>(length);
    i += length;
  }
  return false;
}

// The parser silently ignores a second document, so markers are looked for line by line. `---` in
// the first column is a marker wherever it stands, also inside quotes and block text.
bool refuse_markers(YamlDocument::Impl& document, std::string_view text) {
  bool has_content = false;
  int number = 0;
  const auto refuse = [&](std::string message, std::string hint) {
    document.add(document.at(number, 1), "", std::move(message), std::move(hint));
    return true;
  };
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with('%') && !has_content)
      return refuse("directives are not read", "remove the line");
    if (starts_marker(line, "..."))
      return refuse("a document end marker is not read", "remove the line");
    const bool is_marker = starts_marker(line, "---");
    if (is_marker && has_content) {
      return refuse("a second document begins here", "one file holds one document");
    }
    const size_t first = line.find_first_not_of(" \t");
    has_content =
        has_content || is_marker || (first != std::string_view::npos && line[first] != '#');
  }
  return false;
}

std::string_view hint_of_syntax(std::string_view message) {
  const auto* found = std::find_if(kSyntaxHints.begin(), kSyntaxHints.end(),
                                   [&](const SyntaxHint& row) { return row.message == message; });
  return found == kSyntaxHints.end() ? "" : found->hint;
}

}  // namespace tidemark

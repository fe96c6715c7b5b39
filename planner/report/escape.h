// Names come from files and command lines and may hold anything. What each writer must do to them
// so that its output stays well-formed: every function here also replaces invalid UTF-8 by U+FFFD.
//
//   name      a<LF>"b" & <c> | d
//   one_line  a\n"b" & <c> | d
//   csv       "a<LF>""b"" & <c> | d"
//   xml       a\n&quot;b&quot; &amp; &lt;c&gt; | d
//   markdown  a\\n"b" &amp; &lt;c&gt; \| d
//   Checked by EscapeTest.WorkedExample.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// Code points; one U+FFFD for each byte that belongs to no valid sequence (overlong forms and
// surrogates included).
std::vector<char32_t> code_points(std::string_view text);
void append_utf8(std::string& out, char32_t code_point);

// Valid UTF-8 on one line: control characters become visible (\n, \t, \x1b), so a name cannot move
// a terminal's cursor or break a table.
std::string one_line(std::string_view text);

// One field of a CSV row (RFC 4180): quoted when it holds a quote, a comma, a line break or an
// outer space.
std::string csv_field(std::string_view text);

// For XML text and double-quoted attributes.
std::string xml_text(std::string_view text);

// For a cell of a Markdown table.
std::string markdown_text(std::string_view text);

}  // namespace tidemark

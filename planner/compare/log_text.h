// Lines of a log, cleaned, and the small pieces they are made of. Tolerant of what terminals,
// containers and pagers add; bounded whatever the text is.
//
//   "\x1b[34m1.14.608 I llama_context: n_ctx     = 4096\r"
//     clean_line()           "1.14.608 I llama_context: n_ctx     = 4096"
//     tagged(.., {llama_context})   tag "llama_context", body "n_ctx     = 4096"
//     assignment(body)       key "n_ctx", value "4096"
//   figure("164.01 MiB")   171,976,950 +- 5,243: 164.01 x 2^20 and half of 0.01 MiB
//   Checked by LogTextTest.WorkedInTheHeader.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/compare/logged_run.h"

namespace tidemark {

inline constexpr size_t kLongestLogLine = 8192;  // of a longer line the rest is not read
inline constexpr size_t kMostLogLines = 2'000'000;
inline constexpr int64_t kLargestLogNumber = int64_t{1} << 50;

// Calls on_line(number from 1, cleaned text) for each line: without escapes, control characters,
// carriage returns and the quotation marks of mail ("> ").
template <typename OnLine>
void each_log_line(std::string_view text, OnLine on_line);

std::string clean_line(std::string_view line);

struct TaggedLine {
  std::string_view tag{};
  std::string_view body{};
};

// The first of `tags` (sorted) that stands in the line as a word before a colon.
std::optional<TaggedLine> tagged(std::string_view line, std::span<const std::string_view> tags);

// "key = value", spaces around both taken off; the first " = " or "=" decides.
std::optional<std::pair<std::string_view, std::string_view>> assignment(std::string_view body);

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> words_of(std::string_view text);  // at spaces and tabs

// Digits at the start of `text`, at most kLargestLogNumber.
std::optional<int64_t> leading_integer(std::string_view text);
// One number, or a list "[8, 8, 4]".
std::vector<int64_t> integers(std::string_view text);

// A decimal number at the start of `text` times `unit`, and half of its last place times `unit`.
std::optional<LoggedFigure> scaled_figure(std::string_view text, int64_t unit);
// A size with its unit: B, kB, KB, MB, GB (powers of 1000, or of 1024 if `binary`), KiB, MiB, GiB.
std::optional<LoggedFigure> figure(std::string_view text, bool binary_mb = false);

// What follows `label` in `text`, blanks skipped.
std::optional<std::string_view> after(std::string_view text, std::string_view label);

template <typename OnLine>
void each_log_line(std::string_view text, OnLine on_line) {
  int64_t number = 0;
  while (!text.empty() && static_cast<size_t>(number) < kMostLogLines) {
    const size_t end = text.find('\n');
    const std::string_view raw = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    on_line(++number, clean_line(raw.substr(0, kLongestLogLine)));
  }
}

}  // namespace tidemark

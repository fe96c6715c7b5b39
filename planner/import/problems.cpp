#include "planner/import/problems.h"

#include <fmt/core.h>

#include <utility>

namespace tidemark {

void Problems::add(std::string_view name, int64_t byte, std::string_view message,
                   std::string_view hint) {
  add(name, fmt::format("byte {}: {}", byte, message), hint);
}

void Problems::add(std::string_view name, std::string_view message, std::string_view hint) {
  keep({.where = {.file = file_},
        .path = printable(name),
        .message = std::string(message),
        .hint = std::string(hint)});
}

void Problems::append(const Diagnostics& more) {
  for (const Diagnostic& problem : more) keep(problem);
}

void Problems::keep(Diagnostic problem) {
  if (++count_ <= kMostProblems) kept_.push_back(std::move(problem));
}

Diagnostics Problems::take() {
  if (count_ > kMostProblems) {
    kept_.push_back({.where = {.file = file_},
                     .message = fmt::format("and {} more problems", count_ - kMostProblems)});
  }
  count_ = 0;
  return std::exchange(kept_, {});
}

std::string printable(std::string_view name) {
  constexpr size_t kMost = 100;
  std::string out;
  for (const char c : name.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7E) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return name.size() > kMost ? out + "..." : out;
}

bool is_utf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (length == 0 || lead > 0xF4 || text.size() - i < length) return false;
    for (size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      // The second byte alone tells overlong forms (E0, F0), surrogates (ED) and code points above
      // U+10FFFF (F4) from the rest.
      const unsigned char least = k > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
      const unsigned char most = k > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
      if (byte < least || byte > most) return false;
    }
    i += length;
  }
  return true;
}

}  // namespace tidemark

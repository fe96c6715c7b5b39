#include "sim/replay/system_text.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace tidemark {

std::string system_text(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();  // a failure to read only ends it
  return std::move(text).str();
}

std::string_view line_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.starts_with(key)) {
      line.remove_prefix(key.size());
      return line.substr(std::min(line.find_first_not_of(" \t:"), line.size()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::optional<int64_t> leading_number(std::string_view text) {
  int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && number >= 0 ? std::optional(number) : std::nullopt;
}

std::optional<Bytes> kib_in(std::string_view text) {
  constexpr int64_t kMost = int64_t{1} << 50;
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::optional<int64_t> kib = leading_number(text);
  return kib && *kib <= kMost ? std::optional(Bytes::of(*kib * 1024)) : std::nullopt;
}

std::optional<Bytes> kib_after(std::string_view text, std::string_view key) {
  return kib_in(line_after(text, key));
}

}  // namespace tidemark

// Refuses an empty value: an unset variable of a script must not mean "none", "all" or the default.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tidemark::cli {

inline CLI::Validator stated() {
  return CLI::Validator([](const std::string& text) { return text.empty() ? "is empty" : ""; }, "");
}

}  // namespace tidemark::cli

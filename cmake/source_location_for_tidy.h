// clang 14 lacks the builtin behind std::source_location, and so libstdc++ hides the type from it.
// clang-tidy is given this stand-in (preset tidy, scripts/tidy), so that it can read files that use
// the type; nothing is compiled with it.
#pragma once

#include <source_location>

#ifndef __cpp_lib_source_location
namespace std {
struct source_location {
  static constexpr source_location current() { return {}; }
  constexpr const char* file_name() const { return ""; }
  constexpr const char* function_name() const { return ""; }
  constexpr unsigned line() const { return 0; }
  constexpr unsigned column() const { return 0; }
};
}  // namespace std
#endif

// What is wrong with one file, collected while it is read; at most kMostProblems are kept, so that
// a file with a million faults does not become a million lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "planner/base/diagnostic.h"

namespace tidemark {

inline constexpr int64_t kMostProblems = 100;

class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  // `name` is the key or tensor as it stands in the file; it is made printable. `byte` counts from
  // the file's begin.
  void add(std::string_view name, int64_t byte, std::string_view message,
           std::string_view hint = "");
  // A problem of the file as a whole, or one that has no byte.
  void add(std::string_view name, std::string_view message, std::string_view hint = "");
  void append(const Diagnostics& more);

  int64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  // All of them, with a last line that counts those left out.
  Diagnostics take();

 private:
  void keep(Diagnostic problem);

  std::string file_;
  Diagnostics kept_{};
  int64_t count_ = 0;
};

// A name from a file as it may stand in a message: ASCII, everything else as \xNN, cut after 100
// bytes.
std::string printable(std::string_view name);

// Is it well-formed UTF-8 (no overlong forms, no surrogates)? Names that reach a report must be.
bool is_utf8(std::string_view text);

}  // namespace tidemark

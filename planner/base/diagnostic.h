// What is wrong with an input, where, and what to do about it.
//
//   configs/models/x.yaml:12:14: error: n_head_kv: 7 does not divide n_head 32
//     hint: grouped-query attention needs n_head to be a multiple of n_head_kv
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// 1-based line and column; 0 = unknown (then only what is known is printed). An empty file name
// stands for a command-line flag.
struct SourcePos {
  std::string file{};
  int line = 0;
  int column = 0;
  bool operator==(const SourcePos&) const = default;
};

enum class Severity { kError, kWarning };

struct Diagnostic {
  Severity severity = Severity::kError;
  SourcePos where{};
  std::string path{};  // config path or flag: "attention.n_head_kv", "--ctx-size"
  std::string message{};
  std::string hint{};  // empty = none
  bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

// One error about a flag or a file as a whole.
Diagnostics one_error(std::string path, std::string message, std::string hint = "");

bool has_errors(const Diagnostics& diagnostics);

// The user's text as it may stand in a message: in double quotes, control characters escaped, cut
// after 60 bytes.
std::string in_quotes(std::string_view text);

// `file:line:col: error: path: message`, then `  hint: ...` on a line of its own. Ends with a
// newline.
std::string to_string(const Diagnostic& diagnostic);
std::string to_string(const Diagnostics& diagnostics);

}  // namespace tidemark

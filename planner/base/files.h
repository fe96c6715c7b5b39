// Whole files in and out. Reading is bounded; writing goes to a temporary file that is renamed into
// place, so a reader never sees half a file and a failure leaves the old one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "planner/base/bytes.h"
#include "planner/base/result.h"

namespace tidemark {

// The content of `path`, refused when it is no regular file or larger than `limit`.
Result<std::string> read_file(const std::filesystem::path& path, Bytes limit);

// A file being replaced: written beside `path` and renamed into its place by commit(), so a failure
// leaves the old one. A link is followed and the old file's permissions are kept; what is no
// regular file (a pipe, a terminal, a device) is written straight into. Without commit() the
// destructor removes what was written.
class FileReplacement {
 public:
  static Result<FileReplacement> open(const std::filesystem::path& path);
  FileReplacement(FileReplacement&& other) noexcept;
  FileReplacement& operator=(FileReplacement&&) = delete;
  ~FileReplacement();

  bool write(std::string_view content);  // false once anything failed
  Result<Bytes> commit();                // the number of bytes written

 private:
  explicit FileReplacement(std::filesystem::path path);

  std::filesystem::path path_;    // as given, for messages
  std::filesystem::path target_;  // links followed
  std::string temporary_{};       // empty: written straight into the target
  int descriptor_ = -1;
  int64_t written_ = 0;
  int error_ = 0;  // the first errno
};

// Replaces `path` with `content`. The value is the number of bytes written.
Result<Bytes> write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace tidemark

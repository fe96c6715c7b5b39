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

// Replaces `path` with `content`. The value is the number of bytes written.
Result<Bytes> write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace tidemark

// Files packed with gzip (RFC 1952), unpacked in memory and bounded: a file of a few bytes can hold
// gigabytes, so the limit is on what comes out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "planner/base/bytes.h"
#include "planner/base/result.h"

namespace tidemark {

// Does it begin as gzip data does (1f 8b)? No text in UTF-8 begins so.
bool is_gzip(std::string_view bytes);

// The content of all members, one after the other, as gzip itself unpacks them. Checksums are
// checked. Errors name `file`: no gzip data, damaged, cut off, more than `limit` unpacked, or other
// bytes after the last member.
Result<std::string> gunzip(std::string_view bytes, Bytes limit, std::string_view file);

// The content of `path`, unpacked when it is gzip data; refused when it is larger than `limit`,
// packed or unpacked. The file's name does not matter.
Result<std::string> read_file_or_gzip(const std::filesystem::path& path, Bytes limit);

}  // namespace tidemark

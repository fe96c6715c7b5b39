// A file with a begin and nothing but a hole behind it.
#pragma once

#include <filesystem>
#include <string_view>

#include "planner/base/bytes.h"
#include "planner/base/result.h"

namespace tidemark {

// Makes `path` a file of `size` bytes that begins with `head` and is zero from there on, without
// taking disk for the zeros. Written beside `path` and renamed, so that a reader never sees half of
// it. Requires size >= head.size().
Result<Bytes> write_sparse_file(const std::filesystem::path& path, std::string_view head,
                                Bytes size);

}  // namespace tidemark

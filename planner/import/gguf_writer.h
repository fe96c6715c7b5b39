// Writes GGUF files with a real header and no data: the data section is a hole, as long as it would
// be (all zeros when read), so a model of any size takes a few kilobytes of disk.
#pragma once

#include <filesystem>
#include <string>

#include "planner/base/result.h"
#include "planner/import/gguf_header.h"

namespace tidemark {

// `header` as version 3 with each tensor's bytes and offset, the value's file_offset, and the one
// part filled in; tensors follow each other, each padded to the alignment. The alignment is that of
// the key general.alignment, else 32. Errors: an element type or a dimension that
// cannot be written, a value that was not kept.
Result<GgufHeader> lay_out_gguf(const std::string& file, GgufHeader header);

// The bytes of one laid-out file before the zeros that pad it to its data.
std::string encode_gguf_header(const GgufHeader& header);

// Lays out and writes `header` to `path`, replacing what is there. Gives what read_gguf() of the
// file would give, but for values that are too large to be kept when read.
Result<GgufHeader> write_gguf(const std::filesystem::path& path, const GgufHeader& header);

}  // namespace tidemark

// Writes safetensors files with a real header and no data: the data section is a hole, as long as
// it would be.
#pragma once

#include <filesystem>
#include <string>

#include "planner/base/result.h"
#include "planner/import/safetensors_header.h"

namespace tidemark {

// `header` with each tensor's begin and end, and the one part filled in; tensors follow each other
// without a gap. The JSON is padded with spaces to a multiple of 8 bytes. Errors: a negative
// dimension, a size that is no whole number of bytes, a name twice.
Result<SafetensorsHeader> lay_out_safetensors(const std::string& file, SafetensorsHeader header);

// The bytes before the data of one laid-out file.
std::string encode_safetensors_header(const SafetensorsHeader& header);

// Lays out and writes `header` to `path`, replacing what is there. Gives what read_safetensors()
// of the file would give.
Result<SafetensorsHeader> write_safetensors(const std::filesystem::path& path,
                                            const SafetensorsHeader& header);

}  // namespace tidemark

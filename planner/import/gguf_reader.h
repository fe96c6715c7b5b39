// Reads the header of GGUF files, never their data.
//
// Every error names the byte it stands at, and the key or tensor as its path:
//   x.gguf: error: blk.0.attn_q.weight: byte 1234: type 4 (Q4_2) was retired
// Nothing in a file makes the reader allocate more than a fixed multiple of what the file holds,
// and a header of more than 1 GiB is refused. What cannot be passed over (an end in mid-value, an
// unknown value type) ends the reading; everything else is collected, up to 100 errors.
#pragma once

#include <filesystem>
#include <string>

#include "planner/base/result.h"
#include "planner/import/byte_source.h"
#include "planner/import/gguf_header.h"

namespace tidemark {

// The header in `source`; `file` is its name in messages and in parts[0]. One file: of a split set
// only this part.
Result<GgufHeader> parse_gguf_header(const std::string& file, ByteSource& source);

// The header of the file at `path`. When it is one part of a split set (any of
// NAME-00001-of-0000N.gguf), all parts are read: keys of the first, tensors of all. Parts that are
// missing are errors, each by its name.
Result<GgufHeader> read_gguf(const std::filesystem::path& path);

}  // namespace tidemark

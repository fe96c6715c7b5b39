// What a file really is when it is not what its name says, told by its first bytes.
//
//   model.gguf begins with "version https://git-lfs.github.com/spec/v1": a repository was cloned
//   without its large files -> "this is Git LFS's pointer to the file, not the file: ..."
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "planner/import/byte_source.h"

namespace tidemark {

inline constexpr int64_t kForeignBeginBytes = 64;

// What the begin is that of and what to do about it, as a hint; "" for one that nothing is known
// of. The first kForeignBeginBytes tell all there is to tell. Sources: the magic numbers that the
// formats' own pages state.
std::string_view hint_of_foreign(std::string_view begin);

// The same of a source, or `otherwise` where nothing is known.
std::string_view hint_of_foreign(ByteSource& source, std::string_view otherwise);

}  // namespace tidemark

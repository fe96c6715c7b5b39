// Memory and the page cache of this machine.
//
//   bandwidth     a buffer that no cache holds, read from front to back
//   fresh_memory  anonymous pages made as a replay makes those it reads weights into
//   page_fault    the first touch of a page that needs no read: a fresh anonymous one, and one of a
//                 mapped file that the page cache holds
//   cached_read   read() of what the page cache holds, into memory that is there
//   mapped_read   a mapped file touched from front to back, nothing of it in the page cache
#pragma once

#include <optional>

#include "planner/base/bytes.h"
#include "sim/calibrate/bench.h"
#include "sim/replay/scratch_file.h"

namespace tidemark {

// Bytes a second of `threads` readers, each of its part of `size` bytes.
Spread memory_bandwidth(const Bench& bench, Bytes size, int threads);
// Bytes a second.
Spread fresh_memory(const Bench& bench, Bytes size);
// Nanoseconds.
Spread anonymous_fault(const Bench& bench, Bytes size);
Spread mapped_fault(const Bench& bench, const ScratchFile& file, Bytes size);
// Bytes a second. All of these use the first `size` bytes of the file, which has them.
Spread cached_read(const Bench& bench, const ScratchFile& file, Bytes size);
// None where the page cache cannot be dropped.
std::optional<Spread> mapped_read(const Bench& bench, const ScratchFile& file, Bytes size);

}  // namespace tidemark

// Memory and the page cache of this machine, a piece of them each round.
//
//   bandwidth       a buffer that no cache holds, read from front to back
//   fresh_memory    anonymous pages made as a replay makes those it reads weights into, a moment
//                   after as much was given back
//   mapped_read     the whole file mapped and touched from front to back, nothing of it in the page
//                   cache; every third round
//   page_fault      the first touch of a page that needs no read: of the next piece of that file,
//                   and of a fresh anonymous page
//   cached_read     read() of that piece, into memory that is there
#pragma once

#include <cstddef>
#include <span>

#include "planner/base/bytes.h"
#include "sim/calibrate/rounds.h"
#include "sim/replay/scratch_file.h"

namespace tidemark {

// Nanoseconds of a byte; of a fault.
struct MemoryProbes {
  const Probe* fresh_memory = nullptr;
  const Probe* mapped_read = nullptr;  // null where the page cache cannot be dropped
  const Probe* mapped_fault = nullptr;
  const Probe* anonymous_fault = nullptr;
  const Probe* cached_read = nullptr;
};

// Pieces of anonymous memory and of the file, which has one and must outlive the rounds. All throw
// std::system_error.
MemoryProbes add_memory_probes(Rounds& rounds, const ScratchFile& file, Bytes piece);
// Of memory that nobody used for a while, `pieces` held side by side: nanoseconds of a byte. In a
// virtual machine such memory may have to come from the host. Before any rounds.
Spread unused_memory(const Rounds& rounds, Bytes piece, int64_t pieces);
// Nanoseconds of a byte, of `threads` readers, each of its part of the buffer, which must outlive
// them.
const Probe& add_bandwidth_probe(Rounds& rounds, std::span<const std::byte> buffer, int threads);

}  // namespace tidemark

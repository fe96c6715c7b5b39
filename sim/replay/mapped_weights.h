// The weight file mapped: pages are shared with the page cache, and what is resident is what
// mincore(2) says of the mapping.
//
// Nothing comes by itself. The mapping is advised to be read at random, which turns the kernel's
// own readahead off, and readahead is asked for in windows: how far a kernel reads ahead differs
// from machine to machine (128 KiB where nobody has changed it, 8 MiB on some virtual disks), and a
// prediction can only be of one of them.
//
//   ask_for [0, 128 KiB)    32 pages on their way, nobody waits
//   touch [0, 4 KiB)        waits for the first
//   drop [0, 64 KiB)        16 pages are out of the mapping and of the page cache
#pragma once

#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/interval.h"
#include "sim/replay/scratch_file.h"

namespace tidemark {

// Does the page cache let go of the file? Not of one that lives in memory. Throws
// std::system_error.
bool can_begin_cold(const ScratchFile& file);

class MappedWeights {
 public:
  // The file must outlive it. Cold, whatever was done with the file before, or all of it in the
  // page cache. Throws std::system_error, also when the file cannot begin cold.
  MappedWeights(const ScratchFile& file, bool is_cached);
  ~MappedWeights();
  MappedWeights(const MappedWeights&) = delete;
  MappedWeights& operator=(const MappedWeights&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  // Ranges are of bytes of the file; what lies past its end is left out.
  void ask_for(Interval<Bytes> range) const;
  void touch(Interval<Bytes> range) const;
  void drop(Interval<Bytes> range) const;  // whole pages

  Bytes resident(Interval<Bytes> range) const;
  Bytes resident() const { return resident({Bytes{}, end()}); }
  // Waits for pages that were asked for, a second at the most.
  void wait_for(Interval<Bytes> range) const;
  Bytes end() const { return Bytes::of(std::ssize(bytes_)); }

 private:
  std::span<const std::byte> pages(Interval<Bytes> range) const;

  const ScratchFile& file_;
  std::span<const std::byte> bytes_{};
  mutable std::vector<unsigned char> answer_{};  // kept, so that measuring allocates nothing
};

}  // namespace tidemark

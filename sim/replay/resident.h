// What the kernel says is resident: Rss in /proc/self/smaps of given mappings, and the process's
// peak.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "planner/base/bytes.h"
#include "sim/replay/mapping.h"

namespace tidemark {

// Sum of the Rss of every mapping in the text that lies inside one of the ranges.
//   7f00000-7f02000 rw-p ...
//   Rss:                   8 kB
Bytes resident_in_smaps(std::string_view smaps, std::span<const AddressRange> ranges);

class ResidentReader {
 public:
  ResidentReader();  // throws std::system_error
  ~ResidentReader();
  ResidentReader(const ResidentReader&) = delete;
  ResidentReader& operator=(const ResidentReader&) = delete;

  Bytes resident(std::span<const AddressRange> ranges);

 private:
  int file_ = -1;
  std::string text_{};  // kept, so that measuring allocates nothing
};

// Forgets the peak so far. False where that is not allowed.
bool reset_process_peak();
std::optional<Bytes> process_peak();  // VmHWM

// What could be used without swapping, by /proc/meminfo.
std::optional<Bytes> available_memory();

}  // namespace tidemark

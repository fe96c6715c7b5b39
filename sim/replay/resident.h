// What the kernel says is resident: Rss in /proc/self/smaps of given mappings, and the process's
// peak.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/bytes.h"
#include "sim/replay/mapping.h"

namespace tidemark {

// Sum of the Rss of every mapping in the text that lies inside one of the ranges.
//   7f00000-7f02000 rw-p ...
//   Rss:                   8 kB
Bytes resident_in_smaps(std::string_view smaps, std::span<const AddressRange> ranges);

// Pages of the ranges that are in memory, asked of mincore(2): a page is there or it is not, and no
// account of it is read, which is quicker. None when part of a range is not mapped. `answer` is
// room for one byte a page, kept by the caller.
std::optional<Bytes> resident_by_mincore(std::span<const AddressRange> ranges,
                                         std::vector<unsigned char>& answer);

// Rss where the mappings are not those of the time before; mincore as long as they are the same.
class ResidentReader {
 public:
  ResidentReader();  // throws std::system_error
  ~ResidentReader();
  ResidentReader(const ResidentReader&) = delete;
  ResidentReader& operator=(const ResidentReader&) = delete;

  Bytes resident(std::span<const AddressRange> ranges);

 private:
  Bytes rss(std::span<const AddressRange> ranges);

  int file_ = -1;
  // Kept, so that measuring allocates nothing.
  std::string text_{};
  std::vector<AddressRange> last_{};
  std::vector<unsigned char> answer_{};
};

// Forgets the peak so far. False where that is not allowed.
bool reset_process_peak();
std::optional<Bytes> process_peak();  // VmHWM

// What could be used without swapping, by /proc/meminfo and the limits of control groups.
std::optional<Bytes> available_memory();

// Takes `size`, or three quarters of what there is, and gives it back: what is made next comes from
// there and not, in a virtual machine, from its host, which gets back what nobody uses for a while.
// Ends early when stopped (null = never).
void take_and_give_back(Bytes size, const std::atomic<bool>* stop = nullptr);

}  // namespace tidemark

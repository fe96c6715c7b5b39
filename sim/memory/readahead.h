// How one gap of missing pages is read: windows that grow from the first to the largest, or
// requests of one size.
//
//   gap [0,100), wanted [0,50), first window 4, largest 32     4, 8, 16, 32: [0,60), 10 more than
//                                                              were wanted
//   then [60,100) wanted, window 32 before                     32, 8: the gap ends
//   Checked by ReadaheadTest.WorkedInTheHeader.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/memory/page_set.h"

namespace tidemark {

// Reads one after the other, runs of equal ones together.
struct ReadWindows {
  struct Equal {
    int64_t first = 0;
    int64_t pages = 0;  // of each
    int64_t count = 0;
  };
  std::vector<Equal> equal{};
  int64_t end = 0;

  void add(int64_t pages);
};

struct GrowingWindow {
  int64_t first = 1;
  int64_t largest = 1;
  int64_t last = 0;  // the window before; 0 = start with the first
};

// Until `wanted_end` is read; the last window goes on to the gap's end at most.
ReadWindows grow_windows(PageRange gap, int64_t wanted_end, GrowingWindow& window);
// Requests of `size` pages; nothing that is not wanted.
ReadWindows equal_windows(PageRange gap, int64_t wanted_end, int64_t size);

}  // namespace tidemark

#include "sim/memory/readahead.h"

#include <algorithm>

namespace tidemark {

void ReadWindows::add(int64_t pages) {
  if (!equal.empty() && equal.back().pages == pages) {
    ++equal.back().count;
  } else {
    equal.push_back({.first = end, .pages = pages, .count = 1});
  }
  end += pages;
}

ReadWindows grow_windows(PageRange gap, int64_t wanted_end, GrowingWindow& window) {
  ReadWindows windows{.end = gap.lower};
  while (windows.end < std::min(gap.upper, wanted_end)) {
    window.last = window.last == 0 ? window.first : std::min(2 * window.last, window.largest);
    windows.add(std::min(window.last, gap.upper - windows.end));
  }
  return windows;
}

ReadWindows equal_windows(PageRange gap, int64_t wanted_end, int64_t size) {
  ReadWindows windows{.end = gap.lower};
  const int64_t end = std::min(gap.upper, wanted_end);
  while (windows.end < end) windows.add(std::min(size, end - windows.end));
  return windows;
}

}  // namespace tidemark

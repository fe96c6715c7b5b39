// What the benchmark programs that print tables of their own share.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

namespace tidemark {

inline double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

inline Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {.median = values[values.size() / 2], .least = values.front(), .most = values.back()};
}

// On the heap, of the whole program.
inline int64_t bytes_held() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

}  // namespace tidemark

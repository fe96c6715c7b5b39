// Numbers by chance that are the same on every machine: std::mt19937_64 is fixed by the standard to
// the last bit, the distributions of <random> are not.
#pragma once

#include <cstdint>
#include <random>

namespace tidemark {

// One of 0 .. n-1, each as likely; n >= 1. The lowest 2^64 mod n values are drawn again, as they
// would come once too often.
//   n = 3: 2^64 mod 3 = 1, so 0 is drawn again and 1 .. 2^64-1 falls into three equal parts.
inline uint64_t draw_below(std::mt19937_64& bits, uint64_t n) {
  const uint64_t again = (0 - n) % n;
  for (;;) {
    const uint64_t drawn = bits();
    if (drawn >= again) return drawn % n;
  }
}

}  // namespace tidemark

// The key of a state of the exact search in the table of failed states (exact_table.h).
#pragma once

#include <cstdint>
#include <vector>

#include "planner/alloc/exact_part.h"

namespace tidemark::exact {

// For each shape and state: how many. Two words when an offset needs more than 32 bits.
template <typename Unit>
void make_key(const Part<Unit>& part, std::vector<uint64_t>& key) {
  constexpr uint64_t kOneMore = uint64_t{1} << 32;
  constexpr uint64_t kCount = uint64_t{0x1fff} << 32;
  key.clear();
  for (int32_t i = 0; i < part.count; ++i) {
    const int32_t v = part.by_shape[i];
    if (part.placed[v] != 0) continue;
    const uint64_t what = (static_cast<uint64_t>(part.shape[v]) << 1 | part.blocked[v]) << 13;
    const auto floor = static_cast<uint64_t>(part.floor[v]);
    if constexpr (sizeof(Unit) == 4) {
      const uint64_t word = what << 32 | floor;
      if (!key.empty() && (key.back() & ~kCount) == word) {
        key.back() += kOneMore;
      } else {
        key.push_back(word);
      }
    } else {
      key.push_back(what);
      key.push_back(floor);
    }
  }
}

}  // namespace tidemark::exact

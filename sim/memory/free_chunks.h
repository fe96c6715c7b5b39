// What is free of a heap, as chunks that never touch each other.
//
//   heap of 100, take 30, take 20, take 10, give back [0,30)     free: [0,30) [60,100)
//   take 25: the smallest chunk that holds it is [0,30)          at 0, free: [25,30) [60,100)
//   give back [30,50)                                            free: [25,50) [60,100)
//   Checked by FreeChunksTest.WorkedInTheHeader.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tidemark {

class FreeChunks {
 public:
  explicit FreeChunks(int64_t heap);

  // Best fit: the smallest chunk that holds `size` at an offset of that alignment, a power of two;
  // ties: the lowest. What stands before the offset stays free. O(log chunks), and a step for each
  // chunk that is large enough but for the alignment.
  std::optional<int64_t> take(int64_t size, int64_t alignment);
  // Joined with its neighbours.
  void give(int64_t offset, int64_t size);

  int64_t free() const { return free_; }
  int64_t largest() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  void add(int64_t offset, int64_t size);
  std::map<int64_t, int64_t>::iterator remove(std::map<int64_t, int64_t>::iterator chunk);

  std::map<int64_t, int64_t> by_offset_{};
  std::set<std::pair<int64_t, int64_t>> by_size_{};  // size, offset
  int64_t free_ = 0;
};

}  // namespace tidemark

// The random instances that benchmark programs plan: seeded, sizes of 1 to 4,096 units, lifetimes
// of 1 to 64 steps, about 33 buffers live at a time.
#pragma once

#include <cstdint>
#include <random>

#include "planner/alloc/problem.h"

namespace tidemark {

inline Problem random_problem(int64_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(count));
  Problem problem;
  for (int64_t i = 0; i < count; ++i) {
    const auto start = static_cast<int64_t>(random() % static_cast<uint64_t>(count));
    const auto length = static_cast<int64_t>(1 + random() % 64);
    problem.buffers.push_back({.size = Bytes::of(static_cast<int64_t>(1 + random() % 4096)),
                               .lifetime = {start, start + length}});
  }
  return problem;
}

}  // namespace tidemark

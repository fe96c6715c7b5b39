// Problems whose load is known to be reachable, and which have no room to spare.
#pragma once

#include <random>

#include "problems.h"

namespace tidemark {

// A box of 40 instants by 64 units is cut in two, and a piece of it again, until there are
// `pieces`: they fit into 64, and 64 is their load.
inline Problem cut_box(uint32_t seed, size_t pieces) {
  std::mt19937 random(seed);
  const auto below = [&](int64_t count) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(count));
  };
  Problem problem{{buffer("", 0, 40, 64)}};
  while (problem.buffers.size() < pieces) {
    Buffer& piece = problem.buffers[random() % problem.buffers.size()];
    Buffer rest = piece;
    const int64_t length = piece.lifetime.upper - piece.lifetime.lower;
    if (random() % 2 == 0 && length > 1) {
      const int64_t cut = piece.lifetime.lower + 1 + below(length - 1);
      piece.lifetime.upper = rest.lifetime.lower = cut;
    } else if (piece.size.count() > 1) {
      piece.size = Bytes::of(1 + below(piece.size.count() - 1));
      rest.size = rest.size - piece.size;
    } else {
      continue;
    }
    problem.buffers.push_back(rest);
  }
  return problem;
}

}  // namespace tidemark

// Small problems whose lowest peak is above the load, found by random search, with how each is
// known.
#pragma once

#include <vector>

#include "problems.h"

namespace tidemark {

struct HardProblem {
  std::string name{};
  Problem problem{};
  int64_t load = 0;
  int64_t optimum = 0;
};

// Load 4, optimum 5, without padding, gaps or fixed offsets. Seven buffers; none can be left out.
//
//   size
//    2   aaaa          Within 4: a and b fill [0,2), so a stands at an end, say at 0, else turn
//    2   bb            the plan over. Beside it, c and d are at 2 and 3. At 4 both are still there,
//    1     ccc         so e is at 0 or 1. f and g fill [7,8), so f stands at an end too: at 0 it
//    1     ddddd       hits e, at 2 it hits d.
//    1       eee
//    2        fff
//    2          g
//        01234567
inline HardProblem seven_buffers() {
  return {"Seven",
          {{buffer("a", 0, 4, 2), buffer("b", 0, 2, 2), buffer("c", 2, 5, 1), buffer("d", 2, 7, 1),
            buffer("e", 4, 7, 1), buffer("f", 5, 8, 2), buffer("g", 7, 8, 2)}},
          4,
          5};
}

// Three of 2, each pair together at some instant, never all three: load 4, and 6 are needed. The
// third is away at 5, when the first two meet.
inline HardProblem triangle() {
  HardProblem made{
      "Triangle", {{buffer("a", 5, 7, 2), buffer("b", 4, 6, 2), buffer("c", 3, 7, 2)}}, 4, 6};
  made.problem.buffers[2].gaps = {{5, 6}};
  return made;
}

// Two of 4 at multiples of 8: load 8, and the second ends at 12.
inline HardProblem two_aligned() {
  return {"Aligned", {{buffer("a", 0, 2, 4, 8), buffer("b", 0, 2, 4, 8)}}, 8, 12};
}

// b is fixed at 3 and splits the space: a, of 4, stands above it. Load 5, and 4 + 4 are needed.
inline HardProblem split_by_a_fixed_one() {
  HardProblem made{"Fixed", {{buffer("a", 0, 2, 4), buffer("b", 1, 3, 1)}}, 5, 8};
  made.problem.buffers[1].offset = Bytes::of(3);
  return made;
}

// Too many to try by hand; both oracles say so.
inline HardProblem eleven_buffers() {
  return {"Eleven",
          {{buffer("", 4, 5, 3), buffer("", 5, 7, 1), buffer("", 0, 2, 3), buffer("", 5, 7, 2),
            buffer("", 0, 1, 3), buffer("", 1, 3, 1), buffer("", 3, 4, 2), buffer("", 2, 6, 1),
            buffer("", 2, 3, 1), buffer("", 6, 7, 3), buffer("", 1, 6, 2)}},
          6,
          7};
}

inline HardProblem twelve_buffers() {
  return {"Twelve",
          {{buffer("", 6, 7, 1), buffer("", 8, 9, 4), buffer("", 6, 8, 1), buffer("", 5, 7, 1),
            buffer("", 1, 3, 4), buffer("", 3, 7, 2), buffer("", 1, 4, 3), buffer("", 2, 4, 3),
            buffer("", 7, 9, 4), buffer("", 6, 9, 3), buffer("", 5, 6, 4), buffer("", 3, 8, 3)}},
          11,
          12};
}

inline std::vector<HardProblem> hard_problems() {
  return {seven_buffers(),        triangle(),       two_aligned(),
          split_by_a_fixed_one(), eleven_buffers(), twelve_buffers()};
}

}  // namespace tidemark

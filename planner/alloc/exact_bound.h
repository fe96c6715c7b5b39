// Can the unplaced items of a part still fit? Necessary conditions, checked after every change,
// only where something changed.
//
//   Clique with floors 0, 0, 5 and sizes 3, 4, 2:   at or above 5: 5 + 2 = 7
//                                                   at or above 0: 0 + 2 + 3 + 4 = 9
//   so no plan ends below 9. Checked by ExactSearchTest.TheBoundCountsFromEveryFloor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "planner/alloc/exact_part.h"

namespace tidemark::exact {

template <typename Unit>
constexpr Unit round_up(Unit offset, Unit alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

// The lowest top of an unplaced neighbour, on which a blocked item may come to stand; the largest
// number there is when it has none.
template <typename Unit>
Unit lowest_support(Part<Unit>& part, int32_t item) {
  Unit lowest = std::numeric_limits<Unit>::max();
  for (int32_t i = part.neighbour_begin[item]; i < part.neighbour_begin[item + 1]; ++i) {
    const int32_t v = part.neighbours[i];
    if (part.placed[v] != 0) continue;
    const Unit top = part.effective[v] + part.size[v];
    if (top < lowest) {
      lowest = top;
      part.support[item] = v;
    }
  }
  return lowest;
}

// Does the lowest support found last still decide? All others only rise.
template <typename Unit>
bool support_stands(const Part<Unit>& part, int32_t item) {
  const int32_t v = part.support[item];
  return v >= 0 && part.placed[v] == 0 &&
         round_up(part.effective[v] + part.size[v], part.alignment[item]) == part.effective[item];
}

// Could an unplaced neighbour reach into the place of a blocked item at its floor? If none can, the
// item would be moved there.
template <typename Unit>
bool has_blocker(Part<Unit>& part, int32_t item) {
  const Unit top = part.floor[item] + part.size[item];
  const int32_t last = part.blocker[item];
  if (last >= 0 && part.placed[last] == 0 && part.effective[last] < top) return true;
  for (int32_t i = part.neighbour_begin[item]; i < part.neighbour_begin[item + 1]; ++i) {
    const int32_t v = part.neighbours[i];
    if (part.placed[v] == 0 && part.effective[v] < top) {
      part.blocker[item] = v;
      return true;
    }
  }
  return false;
}

// Adds the item to the cliques of `span`; the sign bit of the result tells of a sum above `room`.
template <typename Unit>
Unit add_to_cliques(Unit* sum, Span span, Unit size, Unit room) {
  Unit signs = 0;
  for (int32_t k = span.first; k <= span.last; ++k) {
    const Unit total = sum[k] + size;
    sum[k] = total;
    signs |= room - total;
  }
  return signs;
}

constexpr Span clipped(Span span, Span window) {
  return {std::max(span.first, window.first), std::min(span.last, window.last)};
}

constexpr bool meets(Span span, Span window) {
  return span.first <= window.last && window.first <= span.last;
}

template <typename Unit>
bool add_item(Part<Unit>& part, int32_t item, Span window, Unit room) {
  const Unit size = part.size[item];
  Unit signs = 0;
  part.for_each_piece(item, [&](Span piece) {
    signs |= add_to_cliques(part.sum, clipped(piece, window), size, room);
  });
  return signs >= 0;
}

// In the cliques of `window`: by falling floor, what stands at or above it must fit above it.
// `order`: the unplaced by floor.
template <typename Unit>
bool release_bound_holds(Part<Unit>& part, const int32_t* order, int32_t count, Span window,
                         Unit capacity) {
  int32_t left = 0;  // blocked ones in `waiting`, by effective floor
  for (int32_t i = 0; i < count; ++i) {
    const int32_t v = order[i];
    if (part.blocked[v] == 0 || !meets(part.span[v], window)) continue;
    int32_t at = left++;
    for (; at > 0 && part.effective[part.waiting[at - 1]] > part.effective[v]; --at) {
      part.waiting[at] = part.waiting[at - 1];
    }
    part.waiting[at] = v;
  }
  std::fill(part.sum + window.first, part.sum + window.last + 1, Unit{0});
  for (int32_t i = count - 1; i >= 0; --i) {
    const int32_t v = order[i];
    if (part.blocked[v] != 0 || !meets(part.span[v], window)) continue;
    for (; left > 0 && part.effective[part.waiting[left - 1]] >= part.floor[v]; --left) {
      const int32_t b = part.waiting[left - 1];
      if (!add_item(part, b, window, capacity - part.effective[b])) return false;
    }
    if (!add_item(part, v, window, capacity - part.floor[v])) return false;
  }
  for (; left > 0; --left) {
    const int32_t b = part.waiting[left - 1];
    if (!add_item(part, b, window, capacity - part.effective[b])) return false;
  }
  return true;
}

}  // namespace tidemark::exact

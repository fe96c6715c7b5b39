// What the exact search works on: a problem in its own small units, with time reduced to cliques.
//
//   Five buffers of problem.h: sizes 4 4 4 4 4 become 1 1 1 1 1 (unit 4), and of the instants only
//   the largest sets of buffers live together, the maximal cliques, are kept:
//
//     clique 0: b1 b3 b5     clique 1: b2 b3 b5     clique 2: b4 b5
//     so b1 spans [0,0], b2 [1,1], b3 [0,1], b4 [2,2], b5 [0,2]
//   Checked by ExactInstanceTest.FiveBuffers.
//
// Two buffers conflict exactly when a clique holds both, so nothing is lost. Between two
// neighbouring cliques that no buffer crosses the problem falls apart.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/alloc/problem.h"

namespace tidemark::exact {

// Cliques first..last, both included.
struct Span {
  int32_t first = 0;
  int32_t last = 0;
  auto operator<=>(const Span&) const = default;
};

struct Item {
  BufferId buffer{};
  int64_t size = 0;       // units, rounded up to the common alignment
  int64_t alignment = 1;  // units
  int64_t fixed = -1;     // units; -1: free
  int64_t useful = 0;     // bytes; the size before rounding
  int64_t width = 0;      // instants
  int32_t shape = 0;      // items of one shape can be swapped in any plan
  Span span{};            // hull of the pieces
  std::vector<Span> pieces{};
};

struct Instance {
  std::vector<Item> items{};  // ever live; indexed by item number
  int32_t cliques = 0;
  int64_t unit = 1;           // bytes
  int64_t granule = 1;        // bytes; every offset is a multiple of it, and it divides sizes
  bool gapped = false;        // has some item more than one piece?
  bool representable = true;  // false: a fixed offset breaks its own alignment or is negative
  int64_t load = 0;           // units
};

// Throws std::overflow_error when the sum of all sizes leaves 63 bits. O(n log n).
Instance make_instance(const Problem& problem);

// The capacity in units that every plan within `capacity` bytes respects (rounding lets an item
// count its padding below the top; latest_offset says what remains to be checked).
int64_t capacity_in_units(const Instance& instance, Bytes capacity);

// The highest offset, in units, at which the item still ends within `capacity`; negative when none.
int64_t latest_offset(const Instance& instance, const Item& item, Bytes capacity);

// No plan ends below this, in bytes: in each clique all but the topmost item fill their padding
// too.
//   Two of 4 bytes at multiples of 8: 8 + 4 = 12, though the load is 8.
// With more than 5,000 items the largest padding of all stands for that of each clique.
Bytes padded_load(const Instance& instance);

// Size times cliques of each item; of very large sizes without their low bits, so that the sum
// stays within 62 bits.
std::vector<int64_t> areas_of(const Instance& instance);

// The items of each part that shares no instant with another part, by time.
std::vector<std::vector<int32_t>> independent_parts(const Instance& instance);

}  // namespace tidemark::exact

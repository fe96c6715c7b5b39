// Lower bounds with their certificates: how high every plan is at least, and which few buffers show
// it. The peak load is one; others are higher where alignment, fixed offsets, or the shape of the
// lifetimes make a plan at the load impossible.
//
//   size
//    2   aaaa          Load 4. Within 4 bytes a and b fill [0,2), so a stands at an end, and c and
//    2   bb            d share the other half; then e has a's half. f and g fill [7,8), so f stands
//    1     ccc         at an end too, and hits either e or d.
//    1     ddddd
//    1       eee         lower_bound() -> kSearch, 5 bytes, {a b c d e f g}, irreducible
//    2        fff
//    2          g      Checked by LowerBoundTest.SevenBuffers.
//        01234567
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "planner/alloc/problem.h"

namespace tidemark {

enum class BoundKind {
  kLoad,     // all of `buffers` are live at `instant`: the sum of their sizes
  kPadding,  // as kLoad, and each but the topmost fills its padding up to the smallest alignment
             // among them: the sum of padded sizes, less the largest padding
  kFixed,    // the one of `buffers` is fixed, and ends there
  kSearch,   // an exact search found no place for all of `buffers` lower than this; shown by
             // nothing less than such a search
};

std::string_view name_of(BoundKind kind);  // "load", "padding", "fixed", "search"

struct LowerBound {
  BoundKind kind = BoundKind::kLoad;
  Bytes bytes{};                    // no plan of `buffers`, whatever else there is, ends lower
  std::vector<BufferId> buffers{};  // the certificate, by id
  int64_t instant = 0;              // of kLoad and kPadding: all are live then
  bool irreducible = false;  // of kSearch: whichever is taken out, the rest was found to fit lower
  bool tight = false;        // was a plan found that ends at `bytes`? Then no bound is higher
  int64_t nodes = 0;         // of all searches
};

struct LowerBoundOptions {
  int64_t node_limit = 50'000;   // of all searches together; 0: none
  std::function<bool()> stop{};  // true: return the best bound so far
};

// The highest bound found: of load, padding and fixed offsets the highest, and what searches of
// parts of the problem add. The parts are what lives within 1, 2, 4, 8 ... consecutive maximal sets
// of buffers live together, the fullest first, each with its whole life; in the end all there is.
// Whether such a part fits at the best bound so far is searched for a few nodes, then for twice as
// many, and so on. What does not fit raises the bound, and is reduced while nodes last.
//
// Buffers of one group count as one, and all of them are named. Where rectangles can not tell the
// whole (body.h, Reduction::exact) or pairs must be kept apart there is no search, only the load.
// Pools do not count. Deterministic unless `stop` decides. Bounds that need no search: O(n log n)
// for each alignment.
LowerBound lower_bound(const Problem& problem, const LowerBoundOptions& options = {});

}  // namespace tidemark

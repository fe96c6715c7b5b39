// One depth-first search of the exact planner: does the problem fit, looking at no more than so
// many nodes?
//
// Canonical placement. Sort any plan by offset and push every item down until it stands on 0 or on
// an item that lives with it: the plan stays valid. So it is enough to place items in order of
// offset (ties by rank), each at its floor, the highest top of the placed items it conflicts with.
// A node tries one item after the other as the next in that order. In the branch of w, an item u
// that could have come before w but does not is *blocked*: it can not stand at its present floor,
// only on top of something still to be placed.
//
//   C = 4      a [0,2) 2   b [0,1) 1   c [1,2) 2   d [0,1) 1
//   root: all floors 0. Branch c: c at 0; a has floor 2; b and d stay at floor 0, blocked if ranked
//   before c: then they must stand on each other or on a, and a ends at 4. Fails without a search.
//
// Rules that save work. Of all plans, take one with the least sum of offsets, each weighted by the
// square of its size, ties by rank: the search may drop what no such plan does.
//   release bound  in a clique, items whose floors are f or more need f + their sizes <= capacity
//   blocked bound  a blocked item's floor rises to the lowest top of an unplaced neighbour
//   dominance      w is not next when an unplaced u could end at or below w's floor: u would be
//                  moved there
//   same shape     of items that can be swapped only the first is tried
//   same span      of two items with one span, the smaller does not stand directly under the larger
//   decompose      when no unplaced item crosses an instant, the sides are solved one by one
//   re-rank        ... each ranked by what is left in it
//   failed states  a state that failed once fails again (exact_table.h)
// Each is a switch: it changes the number of nodes, never the answer.
#pragma once

#include <functional>
#include <limits>
#include <memory>

#include "planner/alloc/exact_instance.h"
#include "planner/alloc/exact_rank.h"
#include "planner/alloc/exact_table.h"

namespace tidemark::exact {

struct Rules {
  bool release_bound = true;
  bool blocked_bound = true;
  bool dominance = true;
  bool same_shape = true;
  bool same_span = true;
  bool decompose = true;
  bool rerank = true;
  bool failed_states = true;
};

enum class Outcome { kSolved, kFailed, kLimit };

// What every search of one problem shares. `failed` may be used again for a lower capacity.
struct Shared {
  const Instance* instance = nullptr;
  Bytes capacity{};
  Rules rules{};
  FailedStates* failed = nullptr;
  const std::function<bool()>* stop = nullptr;  // asked now and then; true ends the search
};

// When a run gives up.
struct Patience {
  int64_t nodes = 0;
  int64_t idle_nodes = std::numeric_limits<int64_t>::max();  // without more being placed than ever
};

class Searcher {
 public:
  virtual ~Searcher() = default;
  // Places `items` (numbers in the instance; at most kLargestPart), or proves that they do not fit,
  // or gives up when its patience ends or it is told to stop.
  virtual Outcome run(const std::vector<int32_t>& items, const Order& order, Patience patience) = 0;
  // Of all runs together.
  virtual int64_t nodes() const = 0;
  // How far the last run came: the least area, in size times cliques, that a state which no rule
  // refuted left to be placed.
  virtual int64_t least_left() const = 0;
  // By item number, in units; meaningful for the items of a run that ended in kSolved.
  virtual const std::vector<int64_t>& offsets() const = 0;
};

inline constexpr size_t kLargestPart = 4000;

// Requires 0 <= load <= capacity in units.
std::unique_ptr<Searcher> make_searcher(const Shared& shared);

}  // namespace tidemark::exact

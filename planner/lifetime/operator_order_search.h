// The best order of one piece: exact, best first over sets of ops that have run, and a beam that
// gives it its first bound. Used by operator_order*.cpp alone.
//
// A state is a set of ops closed under "must run before", with the least peak over the orders that
// lead to it. States are taken up by that peak, of equals the one with most ops; the first complete
// set taken up therefore has the least peak there is, and only sets that can be reached below it
// were visited. When the limit on states strikes first, the peak of the state at hand is still a
// lower bound: every state with a lower one was visited.
//
// Dominance. In a state with peak p, an op that is ready, loads no more than p and leaves no more
// memory live than before it may be run at once, and the other ready ops need not be tried.
//   Proof. Take any order that completes the state, and move the op to its front. The op itself
//   loads no more than p. An op q that stood before it, and ran after a set T, now runs after T and
//   the op. (1) What is live then is no more than after T: running the op after T instead of after
//   the state frees at least as much, since an input of it ends when its other readers are in the
//   set and T holds the state; what it writes is the same, and none of its readers is in T. So
//   memory changes by no more than it does now, that is not upward. (2) If q could write over an
//   input when it ran after T, it still can: its other readers are in T. So q loads no more than it
//   did. Ops behind the old place of the op run after the same sets as before. The peak is no
//   higher.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/lifetime/operator_order_piece.h"

namespace tidemark {

struct OrderedPiece {
  std::vector<size_t> order{};
  Bytes peak{};         // peak_of(piece, order)
  Bytes lower_bound{};  // no order has a lower peak
  int64_t states = 0;   // visited by the exact search
};

// Level by level (one op more each time), the `width` sets with the least (peak, live memory). With
// a width of 1 this is the greedy list schedule that always runs the op that needs least.
OrderedPiece beam_order(const Piece& piece, int64_t width);

struct SearchLimits {
  int64_t max_states = 0;
  Bytes max_memory{};
  bool take_free_ops = true;
  Bytes lower_bound{};  // known; 0 = none
};

// Improves on `known`, an order of the piece with its peak. What comes back is never worse.
OrderedPiece exact_order(const Piece& piece, const OrderedPiece& known, const SearchLimits& limits);

}  // namespace tidemark

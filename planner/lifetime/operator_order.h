// An order of the ops that needs less memory.
//
// What is made least is exactly what load_profile reports of a schedule's buffers after
// share_in_place. That is possible because the load of a step depends on the op and on the *set* of
// ops that ran before it, not on their order: an input ends when all of its other readers are in
// the set, and only then may the op write over it. So the least peak over all orders is the least
// over paths through sets (downsets of the graph), of which there are far fewer than orders.
//
//   x 2 --> a 8 --> c 1 --\      program order a b c d e:  at b  x 2 + a 8 + b 8 = 18
//     \---> b 8 --> d 1 ---> e   order         a c b d e:  at b  x 2 + c 1 + b 8 = 11, as at c
//   Checked by OperatorOrderTest.TwoWideBranches, with the arithmetic of each step.
//
// Sources: Ahn et al., "Ordering Chaos" (SERENITY), MLSys 2020, arXiv 2003.02369: dynamic
// programming over sets, divided where everything passes through one op; Liberis and Lane, arXiv
// 1910.05110: the same sets without in-place reuse.
#pragma once

#include <cstdint>

#include "planner/graph/schedule.h"
#include "planner/lifetime/load_profile.h"

namespace tidemark {

// Of the buffers with in-place sharing; its peak is what an order makes least.
LoadProfile load_of(const Graph& graph, const Schedule& schedule);

// The limits are counts, never times, so a result does not depend on the machine. The switches
// change how many states are visited, never the peak of a proved result.
struct OrderOptions {
  int64_t max_states = 100'000;                    // sets kept by the exact search, over all pieces
  Bytes max_memory = Bytes::of(64 * 1024 * 1024);  // of the search's table
  int64_t max_piece = 256;  // ops; a larger piece is cut where little is live, and no longer exact
  int64_t beam_width = 32;  // of the heuristic that gives the search its first bound
  bool divide = true;       // at ops that everything passes through
  bool take_free_ops = true;  // dominance, see operator_order_search.h
  bool use_bounds = true;     // heuristic and lower bound before the search
};

struct OrderResult {
  Schedule schedule{};
  Bytes program_peak{};         // load in program order
  Bytes peak{};                 // load in this order; never more
  Bytes lower_bound{};          // no order has a lower peak
  bool proved_optimal = false;  // peak == lower_bound
  int64_t states = 0;           // sets visited by the exact search
  int64_t pieces = 0;           // parts solved apart from each other
  int64_t searched = 0;         // of these, different ones that were looked at
  int64_t largest_piece = 0;    // ops
};

// Program order is kept wherever a change would not lower the peak of the whole: the result differs
// from it only in pieces that reach further. A graph whose bytes sum up to more than 63 bits keeps
// its program order, unproved.
OrderResult order_for_memory(const Graph& graph, const OrderOptions& options = {});

}  // namespace tidemark

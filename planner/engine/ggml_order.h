// An order of a ggml graph's nodes that needs less memory, and the graph in that order.
//
//   x 256 (leaf) --> a 1024 --> c 32 --\      as written  a b c d e: at b  a + b + x      = 2304
//      \-----------> b 1024 --> d 32 ---> e   reordered   a c b d e: at b  c + b + x      = 1312
//   Checked by GgmlOrderTest.WorkedInTheHeader. Every node is a MUL_MAT; e 32 is an output.
//
// The search is that of planner/lifetime/operator_order.h, on a Graph made of the ggml graph
// (ggml_order_graph.h). What is told of an order is not that Graph's load but the peak_load of the
// packing_problem of the nodes in that order.
//
// What may not change: each tensor stands after what it reads; and each node finds in the memory it
// reads (and, if it writes into memory that is there already, the memory it writes) what the same
// nodes wrote before it in the graph's own order. The latter is about caches, recurrent states and
// other memory that nodes share by views (SET_ROWS, CPY, CLAMP): two nodes of which one writes
// there keep their order. Ranges within one owner are not told apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/engine/ggml_problem.h"
#include "planner/lifetime/operator_order.h"

namespace tidemark {

struct GgmlOrder {
  std::vector<TensorId> order{};  // all tensors: the leaves in their order, then the nodes
  Bytes program_load{};           // of the graph as it is
  Bytes load{};                   // in this order; never more
  Bytes lower_bound{};            // no order that keeps the meaning has a lower load
  bool proved_optimal = false;    // load == lower_bound
  int64_t states = 0;             // sets of nodes visited by the exact search
  int64_t largest_piece = 0;      // ops that had to be ordered together
};

// The program order is kept where no other was found to be better. `packing` decides what may run
// in place: kNone, kThroughViews and kWithGlu are searched as they are; for kEngine the search
// takes kThroughViews, which allows more, so that its bound holds, but is seldom met.
GgmlOrder order_for_memory(const GgmlGraph& graph, const GgmlPackingOptions& packing = {},
                           const OrderOptions& options = {});

// Does `order` name each tensor once, each after what it reads, and keep the order of accesses to
// memory that is written by views? O(n log n).
bool keeps_meaning(const GgmlGraph& graph, std::span<const TensorId> order);

// The tensors in this order, under new ids. CHECKs keeps_meaning.
GgmlGraph reorder(const GgmlGraph& graph, std::span<const TensorId> order);

}  // namespace tidemark

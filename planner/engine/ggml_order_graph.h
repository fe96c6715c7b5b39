// A ggml graph as a Graph, for a search of orders. Used by ggml_order.cpp alone.
//
//   leaves x (arena), w, cache (external)                     op    reads         writes
//   0: k = MUL_MAT(w, x) 64                                   given               x, token
//   1: v = RESHAPE(k)                                    ->   k     x             k
//   2: s = SET_ROWS(v, cache), a view of cache                s     k             token
//   3: q = MUL_MAT(cache, x) 64, an output                    q     x, s's token  q
//                                                             end   q
//   Checked by GgmlOrderGraphTest.WorkedInTheHeader.
//
// Tensors of the arena become activations. Leaves are written by the first op, so that they are
// live from the start and may be overwritten, as in packing_problem. Views become nothing: who
// reads one reads its owner. A node without memory of its own writes a token of no bytes, through
// which others can be made to wait for it. Where one must wait for a node that does have memory,
// without reading it, a tick follows that node: an op that reads it and writes a token.
//
// In place: the op's kind says over which inputs it may write, and is chosen so that those are the
// sources over which packing_problem lets it write. Where three sources have the size of the result
// and just two of them qualify, all three are allowed: the load is then a lower bound.
//
// An op that writes a token alone can as well run as soon as it is ready: it takes no memory, and
// may free some. So all that is behind everything it waits for is made to wait for it. That changes
// no least load, and lets the search cut the graph where otherwise such ops could float past.
//
// The other way about with late ops, which read nothing but leaves, no larger in sum than what they
// write: the rows of a recurrent state. They are made to wait for all that is before everything
// which waits for them. Take any order and move them back to where they are first needed. While one
// waits, what it writes is missing, and at most its leaves are live for longer. When it runs, what
// is live is what its first reader will find, and its leaves; they are covered by what that reader
// adds: it must write as much, and over no input. So no least load changes. Leaves that a node may
// write over do not count: who has to wait for a late reader could not.
#pragma once

#include <optional>
#include <vector>

#include "planner/engine/ggml_problem.h"
#include "planner/graph/graph.h"

namespace tidemark {

struct GgmlOrderGraph {
  Graph graph{};
  std::vector<std::optional<TensorId>> node_of{};  // by OpId; none for given, end and ticks
};

GgmlOrderGraph order_graph(const GgmlGraph& graph, const GgmlPackingOptions& packing);

}  // namespace tidemark

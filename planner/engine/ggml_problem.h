// A ggml graph as a packing problem: what needs memory becomes buffers, time is the number of the
// node, and a plan's offsets go back to the tensors.
//
//   node 0: a = MUL_MAT(w, x) 64    1: b = RESHAPE(a)    2: c = ROPE(b, p) 64    3: d = SQR(c) 64
//   x and p are leaves of 32 bytes, d is an output
//
//   kNone             x [0,1)   p [0,3)   a [0,3)   c [2,4)   d [3,4)    load 160, at node 2
//   kEngine           x [0,1)   p [0,3)   a [0,3)   c, d [2,4)           load 160: b is a view, so
//                                                                        c takes new memory
//   kThroughViews     x [0,1)   p [0,3)   a, c, d [0,4)                  load 128, at node 0
//   Checked by GgmlProblemTest.WorkedInTheHeader.
//
// A tensor lives from its node, or the start when it is a leaf or an input, to the last node that
// reads it or a view of it, both included. Outputs, and nodes that nobody reads, live to the end.
//
// Which of several sources is overwritten makes no difference to the load: all have the size of the
// result and all end at this node. Whether one is, does, so one is wherever it is legal.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "planner/alloc/problem.h"
#include "planner/base/result.h"
#include "planner/engine/ggml_graph.h"

namespace tidemark {

// Where a result may stand in a source's memory. Each allows all that the one before does.
enum class GgmlInPlace {
  kNone,
  kEngine,        // as the engine does (ggml_alloc.h)
  kThroughViews,  // also where the source is a view of the whole of its owner
  kWithGlu,       // also GLU over its gate or its factor: an engine's list would need one more line
};

struct GgmlPackingOptions {
  GgmlInPlace in_place = GgmlInPlace::kThroughViews;
  bool drop_idle_inputs = true;  // no memory for inputs that no node reads
};

struct GgmlPacking {
  Problem problem{};                                 // names are unique: "Qcur-0#453"
  std::vector<std::optional<BufferId>> buffer_of{};  // by TensorId; none for views and external
};

GgmlPacking packing_problem(const GgmlGraph& graph, const GgmlPackingOptions& options = {});

// Of every tensor in the arena, views as well; nothing for what is external, empty or dropped.
// Requires one offset for each buffer.
std::vector<std::optional<Bytes>> tensor_offsets(const GgmlGraph& graph, const GgmlPacking& packing,
                                                 const Plan& plan);

// The problem of a dump (ggml_dump.h), packed with gzip or not. For those who want no more of it.
Result<Problem> read_graph_problem(std::string_view bytes, std::string_view file,
                                   const GgmlPackingOptions& options = {});

inline constexpr Bytes kMostGgmlDump = Bytes::of(int64_t{256} << 20);  // unpacked

}  // namespace tidemark

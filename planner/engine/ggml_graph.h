// A graph of ggml tensors as data: what an engine built on ggml evaluates, in the order in which it
// does, with all that decides how much memory it needs. Read from a dump (ggml_dump.h) or built in
// code:
//
//   GgmlGraph graph;
//   const auto x = add(graph, {.name = "x", .ne = {8, 1, 1, 1}, .bytes = 32_B, .leaf = true});
//   const auto y = add(graph, {.op = "SCALE", .ne = {8, 1, 1, 1}, .bytes = 32_B, .sources = {x}});
//   const auto z = add(graph, view_of(graph, y, "RESHAPE", {4, 2, 1, 1}));      owns nothing, sees
//   y add(graph, {.op = "SQR", .ne = {4, 2, 1, 1}, .bytes = 32_B, .output = true, .sources = {z}});
//   Checked by GgmlGraphTest.IsBuiltInCode.
//
// Leaves (what is given: weights, caches, inputs) and nodes (what is computed) may be mixed; the
// order of the leaves among themselves and of the nodes among themselves is the engine's, in which
// it places them. Each stands after what it reads.
// Source: ggml.h (ggml_tensor, ggml_cgraph), ggml 0.21.0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"

namespace tidemark {

struct GgmlTensor {
  std::string name{};
  std::string op = "NONE";                // as ggml spells it, "MUL_MAT"; "NONE" for every leaf
  std::string type = "f32";               // likewise, "q4_K"
  std::array<int64_t, 4> ne{1, 1, 1, 1};  // elements by dimension; 1 where it has none
  Bytes bytes{};                    // as ggml_nbytes: of a view, from its first element to its last
  bool leaf = false;                // given, not computed
  bool contiguous = true;           // no gaps and no permutation
  bool external = false;            // its memory is elsewhere: weights, caches and views of them
  bool input = false;               // set from outside before each evaluation
  bool output = false;              // read from outside after it
  std::optional<TensorId> owner{};  // of a view: whose memory it is; never a view itself
  Bytes offset_in_owner{};
  std::vector<TensorId> sources{};
};

struct GgmlGraph {
  std::vector<GgmlTensor> tensors{};  // by TensorId

  const GgmlTensor& operator[](TensorId id) const { return tensors[id.index()]; }
};

inline constexpr Alignment kGgmlAlignment = Alignment::of(32);  // of the CPU's buffers
inline constexpr size_t kMostGgmlTensors = size_t{1} << 20;
inline constexpr size_t kMostGgmlSources = 10;
inline constexpr int64_t kLargestGgmlNumber = int64_t{1} << 42;  // elements and bytes of a tensor

// Whose memory a tensor lives in: itself, or the owner of the view it is.
TensorId root_of(const GgmlGraph& graph, TensorId id);

// Does it need memory of the arena for itself? Not: views, what is external, what is empty.
bool needs_memory(const GgmlTensor& tensor);

// Memory of the arena that it takes: its bytes, rounded up to 32.
Bytes padded_bytes(const GgmlTensor& tensor);

// Same type, shape and strides, so that equal indices are equal addresses, given equal starts. Two
// that are not contiguous are never taken for the same: their strides are not known.
bool same_layout(const GgmlTensor& a, const GgmlTensor& b);

// Ops that may write their result over a source of the same layout: each element (or row) is read
// before it is written. Those of the engine's own list, and GLU, which that list leaves out.
//   Source: ggml-alloc.c, ggml_op_can_inplace; ggml-cpu/vec.cpp, ggml_vec_swiglu_f32 and its kin:
//   y[i] = f(x[i]) * g[i].
bool engine_runs_in_place(std::string_view op);
bool can_run_in_place(std::string_view op);

// What is wrong with `tensor` as the next of `graph`; `field` names the member as dumps do.
struct GgmlFault {
  std::string_view field{};
  std::string message{};
  bool operator==(const GgmlFault&) const = default;
};
std::optional<GgmlFault> fault_in(const GgmlGraph& graph, const GgmlTensor& tensor);

// Appends it. CHECKs that there is no fault in it.
TensorId add(GgmlGraph& graph, GgmlTensor tensor);

// All of `source` under another shape: op is RESHAPE, VIEW, PERMUTE or TRANSPOSE. What sees a part
// only is told by changing bytes and offset_in_owner.
GgmlTensor view_of(const GgmlGraph& graph, TensorId source, std::string op,
                   std::array<int64_t, 4> ne);

}  // namespace tidemark

// Builds a GgmlGraph as code written against ggml does: tensors are stated in any order, and
// `expand` puts a tensor behind everything that it needs, depth first, sources from left to right.
// The order of leaves and nodes, which decides where the allocator puts them, so comes out as that
// engine's own.
//
//   w = weight "w" [4, 8]; x = input [4, 2]; y = MUL_MAT(w, x); z = ADD(y, y)
//   expand(z): leaves w, x; nodes MUL_MAT, ADD
//   x as [2, 4] seen through a view: RESHAPE [2, 4], owner x
//   Checked by GgmlBuilderTest.WorkedInTheHeader.
//
// Strides are kept, so bytes and contiguity of views are those of ggml_nbytes and
// ggml_is_contiguous. Names are made as ggml makes them: "q (reshaped) (permuted)", "node_7".
// Source: ggml.c (ggml_visit_parents_graph, ggml_view_impl, ggml_nbytes), ggml 0.21.0.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/engine/ggml_graph.h"
#include "planner/model/dtype.h"

namespace tidemark {

using GgmlShape = std::array<int64_t, 4>;
using BuiltId = Id<struct BuiltTag>;

struct BuiltTensor {
  std::string name{};
  std::string_view op = "NONE";
  DType type = DType::kF32;
  GgmlShape ne{1, 1, 1, 1};
  GgmlShape nb{};  // strides in bytes; nb[0] is the size of a block
  bool external = false;
  bool input = false;
  bool output = false;
  std::optional<BuiltId> owner{};
  int64_t offset = 0;  // in the owner, bytes
  std::vector<BuiltId> sources{};
  std::optional<TensorId> placed{};  // once expanded: its number among leaves or among nodes
};

// Rows of a view: strides of the dimensions 1 to 3 in bytes.
struct GgmlStrides {
  int64_t nb1 = 0;
  int64_t nb2 = 0;
  int64_t nb3 = 0;
};

// Every function that makes a tensor throws std::overflow_error when it is larger than
// kLargestGgmlNumber or when there are more than kMostGgmlTensors.
class GgmlBuilder {
 public:
  BuiltId weight(std::string name, DType type, GgmlShape ne);  // also a cache: memory elsewhere
  BuiltId input(std::string name, DType type, GgmlShape ne);
  // A result of its own memory.
  BuiltId op(std::string_view op, GgmlShape ne, std::vector<BuiltId> sources,
             DType type = DType::kF32);
  // A result of the shape of its first source.
  BuiltId map(std::string_view op, std::vector<BuiltId> sources);
  // A result that is written into `target`, as SET_ROWS and CPY and what is said to be in place.
  BuiltId into(std::string_view op, BuiltId target, std::vector<BuiltId> sources);

  BuiltId view(BuiltId source, GgmlShape ne, GgmlStrides strides, int64_t offset);
  BuiltId reshape(BuiltId source, GgmlShape ne);
  // Dimension i of the source becomes dimension axes[i].
  BuiltId permute(BuiltId source, std::array<size_t, 4> axes);
  BuiltId transpose(BuiltId source);
  BuiltId cont(BuiltId source);  // CONT of the same shape
  BuiltId cont(BuiltId source, GgmlShape ne);
  BuiltId mul_mat(BuiltId a, BuiltId b);  // [a.ne1, b.ne1, b.ne2, b.ne3]

  void name(BuiltId id, std::string name);
  void output(BuiltId id);
  void expand(BuiltId id);

  const BuiltTensor& operator[](BuiltId id) const { return tensors_[id.index()]; }
  bool is_contiguous(BuiltId id) const;
  Bytes bytes_of(BuiltId id) const;

  // Leaves, then nodes; what was never expanded is left out.
  GgmlGraph graph() const;

 private:
  BuiltId keep(BuiltTensor tensor);
  BuiltId see(std::string_view op, BuiltId source, GgmlShape ne, std::string_view suffix);
  void place(BuiltId id);

  std::vector<BuiltTensor> tensors_{};
  std::vector<BuiltId> leaves_{};
  std::vector<BuiltId> nodes_{};
};

// ggml's name of a type: "q4_K", "iq4_nl".
std::string ggml_type_name(DType type);

}  // namespace tidemark

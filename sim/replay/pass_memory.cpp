#include "sim/replay/pass_memory.h"

#include <algorithm>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// By TensorId: does it stand behind the selection of rows?
std::vector<bool> behind_selection(const Graph& graph) {
  std::vector<bool> behind(graph.tensors().size(), false);
  for (const Op& op : graph.ops()) {
    const bool selected = op.kind == OpKind::kSelectRows ||
                          std::any_of(op.inputs.begin(), op.inputs.end(),
                                      [&](TensorId id) { return behind[id.index()]; });
    for (const TensorId output : op.outputs) behind[output.index()] = selected;
  }
  return behind;
}

// By TensorId: are its tokens in the third dimension, behind a row for each chosen expert?
std::vector<bool> by_chosen_expert(const Graph& graph) {
  std::vector<bool> by_expert(graph.tensors().size(), false);
  for (const Op& op : graph.ops()) {
    const bool begins = op.kind == OpKind::kExpertMatMul;
    const bool ends = op.kind == OpKind::kSumRows;
    const bool goes_on = std::any_of(op.inputs.begin(), op.inputs.end(),
                                     [&](TensorId id) { return by_expert[id.index()]; });
    for (const TensorId output : op.outputs) {
      by_expert[output.index()] = !ends && (begins || goes_on);
    }
  }
  return by_expert;
}

}  // namespace

PassMemory::PassMemory(const PhasePlan& phase, const TensorMemory& memory, const Pass& pass)
    : phase_(phase), pass_(pass) {
  const GraphOptions& options = phase.options;
  check(pass.tokens >= 1 && pass.tokens <= options.n_tokens, "a pass fits its graph");
  check(pass.cells >= pass.tokens && pass.cells <= options.n_cells, "a pass fits the context");
  for (int64_t i = 0; i < pass.tokens; ++i) {
    positions_.push_back(static_cast<int32_t>(pass.cells - pass.tokens + i));
  }
  output_rows_ = std::min(options.n_outputs, pass.tokens);
  const std::vector<bool> behind = behind_selection(phase.graph);
  const std::vector<bool> by_expert = by_chosen_expert(phase.graph);
  for (const Tensor& tensor : phase.graph.tensors()) {
    reserved_.push_back(memory.tensor(phase, tensor.id));
    const int64_t rows = behind[tensor.id.index()] ? output_rows_ : pass.tokens;
    const int64_t parts = by_expert[tensor.id.index()] ? tensor.shape[1] : tensor.shape[2];
    used_.push_back(used_bytes(tensor, rows, parts));
    in_arena_.push_back(memory.in_arena(phase, tensor.id));
    check(used_.back() <= reserved_.back().size(), "a tensor's values fit what is planned for it");
  }
}

// Int8 activations have one scale a tensor, known beforehand, so their rows are plain int8 and a
// little shorter than the planned ones, which count a scale a row.
size_t PassMemory::used_bytes(const Tensor& tensor, int64_t rows, int64_t parts) const {
  if (tensor.kind == TensorKind::kState) {
    if (tensor.dtype == DType::kF32) return static_cast<size_t>(tensor.bytes.count());  // recurrent
    const int64_t cells = tensor.shape[1];  // fewer than there are positions, if it is a ring
    return static_cast<size_t>(tensor.bytes.count() / cells * std::min(pass_.cells, cells));
  }
  const int64_t element = tensor.dtype == DType::kInt8 ? 1 : 4;
  const bool is_input = tensor.kind == TensorKind::kInput;  // [n_tokens] of numbers, or a tower's
  if (is_input && tensor.dtype != DType::kI32) {
    return static_cast<size_t>(tensor.shape[0] * tensor.shape[1] * element);
  }
  return static_cast<size_t>(is_input ? rows * element : tensor.shape[0] * rows * parts * element);
}

}  // namespace tidemark

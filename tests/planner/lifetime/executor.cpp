#include "executor.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <span>

namespace tidemark {
namespace {

class Executor {
 public:
  Executor(const Graph& graph, const std::vector<ArenaBuffer>& buffers,
           const std::vector<Bytes>& offsets)
      : graph_(graph), start_of_(graph.tensors().size()) {
    int64_t end = 0;
    for (size_t i = 0; i < buffers.size(); ++i) {
      for (const TensorId member : buffers[i].members) {
        start_of_[member.index()] = offsets[i].count();
        end = std::max(end, offsets[i].count() + bytes_of(member));
      }
    }
    arena_.resize(static_cast<size_t>(end), -1);
  }

  std::string run(const Schedule& schedule) {
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.kind == TensorKind::kInput) write(tensor.id);
    }
    for (const OpId id : schedule.order) {
      run(graph_.op(id));
      for (const TensorId output : graph_.op(id).outputs) read(output);
      if (!fault_.empty()) return fmt::format("op {}: {}", id.value(), fault_);
    }
    return {};
  }

 private:
  void run(const Op& op) {
    if (allows_in_place(op.kind) && op.outputs.size() == 1) return run_element_by_element(op);
    for (const TensorId output : op.outputs) write(output);
    for (const TensorId input : op.inputs) read(input);
  }

  void run_element_by_element(const Op& op) {
    const bool streams_all = op.kind == OpKind::kAdd || op.kind == OpKind::kMul;
    const TensorId output = op.outputs.front();
    int64_t elements = bytes_of(output);
    for (const TensorId input : op.inputs) elements = std::max(elements, bytes_of(input));
    for (int64_t i = 0; i < elements; ++i) {
      for (size_t k = 0; k < op.inputs.size(); ++k) {
        if (streams_all || k == 0) {
          read_byte(op.inputs[k], i);
        } else {
          read(op.inputs[k]);
        }
      }
      write_byte(output, i);
    }
  }

  void write(TensorId id) {
    for (int64_t i = 0; i < bytes_of(id); ++i) write_byte(id, i);
  }
  void read(TensorId id) {
    for (int64_t i = 0; i < bytes_of(id); ++i) read_byte(id, i);
  }

  void write_byte(TensorId id, int64_t i) {
    if (int64_t* byte = byte_of(id, i)) *byte = id.value();
  }
  void read_byte(TensorId id, int64_t i) {
    const int64_t* byte = byte_of(id, i);
    if (byte == nullptr || *byte == id.value() || !fault_.empty()) return;
    fault_ = fmt::format("byte {} of t{} holds t{}", i, id.value(), *byte);
  }

  // Null outside the arena and beyond the tensor. An arena tensor without a place is a fault.
  int64_t* byte_of(TensorId id, int64_t i) {
    const TensorKind kind = graph_.tensor(id).kind;
    if (kind == TensorKind::kState || kind == TensorKind::kOutput || i >= bytes_of(id)) {
      return nullptr;
    }
    const std::optional<int64_t> start = start_of_[id.index()];
    if (!start) {
      fault_ = fmt::format("t{} has no place", id.value());
      return nullptr;
    }
    return &arena_.at(static_cast<size_t>(*start + i));
  }

  int64_t bytes_of(TensorId id) const { return graph_.tensor(id).bytes.count(); }

  const Graph& graph_;
  std::vector<std::optional<int64_t>> start_of_;  // by tensor
  std::vector<int64_t> arena_;                    // the tensor whose byte it is, or -1
  std::string fault_;
};

}  // namespace

std::string first_fault(const Graph& graph, const Schedule& schedule,
                        const std::vector<ArenaBuffer>& buffers,
                        const std::vector<Bytes>& offsets) {
  return Executor(graph, buffers, offsets).run(schedule);
}

}  // namespace tidemark

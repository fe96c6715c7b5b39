#include "planner/lifetime/relief_rewrite.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "planner/base/check.h"

namespace tidemark {
namespace {

class Rewriter {
 public:
  Rewriter(const Graph& graph, const Schedule& schedule, std::span<const Absence> absences,
           ReliefKind kind)
      : graph_(graph),
        schedule_(schedule),
        kind_(kind),
        absences_(absences.begin(), absences.end()) {
    for (const Tensor& tensor : graph.tensors()) current_.push_back(copy(tensor, tensor.kind));
    std::sort(absences_.begin(), absences_.end(),
              [](const Absence& a, const Absence& b) { return a.tensor < b.tensor; });
    for (const Absence& absence : absences_) {
      const Tensor& tensor = graph.tensor(absence.tensor);
      outside_.push_back(kind == ReliefKind::kSpill ? copy(tensor, TensorKind::kState)
                                                    : TensorId{});
    }
  }

  Rewritten run() && {
    for (size_t step = 0; step < schedule_.order.size(); ++step) {
      for (size_t i = 0; i < absences_.size(); ++i) {
        if (absences_[i].back.index() == step) bring_back(i);
      }
      Op op = graph_.op(schedule_.order[step]);
      for (TensorId& input : op.inputs) input = current_[input.index()];
      builder_.add_op(std::move(op));
      for (size_t i = 0; i < absences_.size(); ++i) {
        if (kind_ == ReliefKind::kSpill && absences_[i].left.index() == step) move_out(i);
      }
    }
    Rewritten rewritten{.graph = std::move(builder_).build()};
    rewritten.schedule = schedule_in_program_order(rewritten.graph);
    return rewritten;
  }

 private:
  TensorId copy(const Tensor& tensor, TensorKind kind) {
    return builder_.add_sized_tensor(tensor.name, kind, tensor.bytes);
  }

  void move_out(size_t i) {
    const TensorId id = absences_[i].tensor;
    builder_.add_op({.name = graph_.tensor(id).name + ".out",
                     .inputs = {current_[id.index()]},
                     .outputs = {outside_[i]}});
  }

  void bring_back(size_t i) {
    const TensorId id = absences_[i].tensor;
    const TensorId back = copy(graph_.tensor(id), TensorKind::kActivation);
    if (kind_ == ReliefKind::kSpill) {
      builder_.add_op(
          {.name = graph_.tensor(id).name + ".back", .inputs = {outside_[i]}, .outputs = {back}});
    } else {
      Op again = graph_.op(*graph_.producer(id));
      for (TensorId& input : again.inputs) input = current_[input.index()];
      for (TensorId& output : again.outputs) {
        output = output == id ? back : copy(graph_.tensor(output), TensorKind::kActivation);
      }
      builder_.add_op(std::move(again));
    }
    current_[id.index()] = back;
  }

  const Graph& graph_;
  const Schedule& schedule_;
  ReliefKind kind_;
  std::vector<Absence> absences_;
  GraphBuilder builder_{};
  std::vector<TensorId> current_{};  // by tensor of the graph: the copy to read from here on
  std::vector<TensorId> outside_{};  // by absence
};

}  // namespace

bool is_recomputable(const Graph& graph, TensorId tensor) {
  if (graph.tensor(tensor).kind != TensorKind::kActivation) return false;
  const auto& outputs = graph.op(*graph.producer(tensor)).outputs;
  return std::all_of(outputs.begin(), outputs.end(), [&](TensorId output) {
    return graph.tensor(output).kind == TensorKind::kActivation;
  });
}

Rewritten rewrite(const Graph& graph, const Schedule& schedule, std::span<const Absence> absences,
                  ReliefKind kind) {
  for (const Absence& absence : absences) {
    check(absence.left < absence.back, "a tensor is away between two uses");
    check(kind == ReliefKind::kSpill || is_recomputable(graph, absence.tensor),
          "a tensor made again has an op that can run twice");
  }
  return Rewriter(graph, schedule, absences, kind).run();
}

}  // namespace tidemark

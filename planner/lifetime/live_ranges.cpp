#include "planner/lifetime/live_ranges.h"

#include <algorithm>
#include <optional>
#include <span>

#include "planner/base/check.h"

namespace tidemark {
namespace {

StepIndex after(StepIndex step) { return StepIndex(step.value() + 1); }

bool in_arena(const Tensor& tensor) {
  return tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kActivation;
}

LiveRange live_range(const Graph& graph, const Schedule& schedule, const Tensor& tensor) {
  StepIndex first;  // of an input: step 0
  if (tensor.kind == TensorKind::kActivation) {
    const std::optional<OpId> producer = graph.producer(tensor.id);
    check(producer.has_value(), "an activation is written by an op");
    first = schedule.step_of[producer->index()];
  }
  StepIndex last = first;
  for (const OpId reader : graph.consumers(tensor.id)) {
    last = std::max(last, schedule.step_of[reader.index()]);
  }
  return {tensor.id, {first, after(last)}};
}

using StepsOfTensor = std::vector<std::optional<Interval<StepIndex>>>;  // none outside the arena

StepsOfTensor by_tensor(const Graph& graph, const std::vector<LiveRange>& ranges) {
  StepsOfTensor steps_of(graph.tensors().size());
  for (const LiveRange& range : ranges) steps_of[range.tensor.index()] = range.steps;
  return steps_of;
}

// How many of the first inputs are read element by element, in step with what is written: both of a
// sum or product; otherwise only the first (rope reads each position for many elements).
size_t streamed_inputs(const Op& op) {
  const bool on_either = op.kind == OpKind::kAdd || op.kind == OpKind::kMul;
  return on_either ? op.inputs.size() : std::min<size_t>(1, op.inputs.size());
}

// The input that `op`, run at `step`, may write over, if any.
std::optional<TensorId> overwritten_input(const Graph& graph, const Op& op, StepIndex step,
                                          const StepsOfTensor& steps_of) {
  for (const TensorId id : may_write_over(graph, op)) {
    if (steps_of[id.index()]->upper == after(step)) return id;
  }
  return std::nullopt;
}

}  // namespace

std::vector<TensorId> may_write_over(const Graph& graph, const Op& op) {
  // With two outputs, one could destroy what the other still has to read.
  if (!allows_in_place(op.kind) || op.outputs.size() != 1) return {};
  const Tensor& output = graph.tensor(op.outputs.front());
  if (output.kind != TensorKind::kActivation) return {};
  const auto streamed = std::span(op.inputs).first(streamed_inputs(op));
  const auto read_whole = std::span(op.inputs).subspan(streamed.size());
  std::vector<TensorId> found;
  for (const TensorId id : streamed) {
    const Tensor& input = graph.tensor(id);
    if (input.kind == TensorKind::kActivation && input.bytes == output.bytes &&
        std::find(read_whole.begin(), read_whole.end(), id) == read_whole.end()) {
      found.push_back(id);
    }
  }
  return found;
}

std::vector<LiveRange> live_ranges(const Graph& graph, const Schedule& schedule) {
  std::vector<LiveRange> ranges;
  for (const Tensor& tensor : graph.tensors()) {
    if (in_arena(tensor)) ranges.push_back(live_range(graph, schedule, tensor));
  }
  return ranges;
}

std::vector<ArenaBuffer> share_in_place(const Graph& graph, const Schedule& schedule,
                                        const std::vector<LiveRange>& ranges) {
  const StepsOfTensor steps_of = by_tensor(graph, ranges);
  std::vector<std::optional<TensorId>> source_of(graph.tensors().size());  // written over
  for (const OpId id : schedule.order) {
    const Op& op = graph.op(id);
    const auto input = overwritten_input(graph, op, schedule.step_of[id.index()], steps_of);
    if (input) source_of[op.outputs.front().index()] = input;
  }

  std::vector<ArenaBuffer> buffers;
  std::vector<BufferId> buffer_of(graph.tensors().size());
  for (const LiveRange& range : ranges) {
    if (source_of[range.tensor.index()]) continue;
    buffer_of[range.tensor.index()] = BufferId::of(buffers.size());
    buffers.push_back({graph.tensor(range.tensor).bytes, range.steps, {range.tensor}});
  }
  // In schedule order a source has its buffer before the tensor that follows it.
  for (const OpId id : schedule.order) {
    for (const TensorId output : graph.op(id).outputs) {
      const std::optional<TensorId> source = source_of[output.index()];
      if (!source) continue;
      const BufferId shared = buffer_of[source->index()];
      buffer_of[output.index()] = shared;
      ArenaBuffer& buffer = buffers[shared.index()];
      buffer.lifetime = hull(buffer.lifetime, *steps_of[output.index()]);
      buffer.members.push_back(output);
    }
  }
  return buffers;
}

std::vector<ArenaBuffer> one_buffer_each(const Graph& graph, const std::vector<LiveRange>& ranges) {
  std::vector<ArenaBuffer> buffers;
  buffers.reserve(ranges.size());
  for (const LiveRange& range : ranges) {
    buffers.push_back({graph.tensor(range.tensor).bytes, range.steps, {range.tensor}});
  }
  return buffers;
}

}  // namespace tidemark

// Short words for building a small graph in a test.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "planner/graph/graph.h"
#include "planner/graph/schedule.h"
#include "planner/lifetime/live_ranges.h"

namespace tidemark {

// A graph with its ops scheduled in program order: op i runs at step i.
struct Scheduled {
  Graph graph{};
  Schedule schedule{};
  std::vector<LiveRange> ranges{};

  std::vector<ArenaBuffer> shared() const { return share_in_place(graph, schedule, ranges); }
};

class SmallGraph {
 public:
  TensorId input(int64_t bytes) { return tensor(TensorKind::kInput, bytes); }
  TensorId state(int64_t bytes) { return tensor(TensorKind::kState, bytes); }

  // An op that reads `inputs` and writes one new tensor.
  TensorId op(OpKind kind, std::vector<TensorId> inputs, int64_t bytes,
              TensorKind output = TensorKind::kActivation) {
    const TensorId written = tensor(output, bytes);
    add(kind, std::move(inputs), {written});
    return written;
  }

  std::pair<TensorId, TensorId> op_with_two_outputs(OpKind kind, std::vector<TensorId> inputs,
                                                    int64_t bytes) {
    const TensorId first = tensor(TensorKind::kActivation, bytes);
    const TensorId second = tensor(TensorKind::kActivation, bytes);
    add(kind, std::move(inputs), {first, second});
    return {first, second};
  }

  // An op that reads and writes nothing new.
  void reader(std::vector<TensorId> inputs) { add(OpKind::kPlainLayer, std::move(inputs), {}); }

  void add(OpKind kind, std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
    builder_.add_op({.kind = kind, .inputs = std::move(inputs), .outputs = std::move(outputs)});
  }

  TensorId tensor(TensorKind kind, int64_t bytes) {
    const TensorId id =
        builder_.add_sized_tensor("t" + std::to_string(count_), kind, Bytes::of(bytes));
    ++count_;
    return id;
  }

  Graph build() { return std::move(builder_).build(); }

  Scheduled scheduled() {
    Scheduled result{.graph = build()};
    result.schedule = schedule_in_program_order(result.graph);
    result.ranges = live_ranges(result.graph, result.schedule);
    return result;
  }

 private:
  GraphBuilder builder_;
  int count_ = 0;
};

// "t0 [0,3)" and the like, one for each range, and "{t0 t1} 8 [0,3)" for each buffer.
inline std::string to_text(const Interval<StepIndex>& steps) {
  return "[" + std::to_string(steps.lower.value()) + "," + std::to_string(steps.upper.value()) +
         ")";
}

inline std::vector<std::string> to_text(const std::vector<LiveRange>& ranges) {
  std::vector<std::string> lines;
  for (const LiveRange& range : ranges) {
    lines.push_back("t" + std::to_string(range.tensor.value()) + " " + to_text(range.steps));
  }
  return lines;
}

inline std::vector<std::string> to_text(const std::vector<ArenaBuffer>& buffers) {
  std::vector<std::string> lines;
  for (const ArenaBuffer& buffer : buffers) {
    std::string line = "{";
    for (const TensorId member : buffer.members) {
      line += (line.size() > 1 ? " t" : "t") + std::to_string(member.value());
    }
    lines.push_back(line + "} " + std::to_string(buffer.size.count()) + " " +
                    to_text(buffer.lifetime));
  }
  return lines;
}

}  // namespace tidemark

// Small ggml graphs for the tests beside it.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

#include "planner/engine/ggml_graph.h"

namespace tidemark {

// A graph put together line by line. Sizes are of f32 in one dimension: 64 bytes are 16 elements.
class SmallGraph {
 public:
  TensorId leaf(std::string name, int64_t bytes) {
    return add(graph, tensor(std::move(name), "NONE", bytes, {}, true));
  }
  TensorId weight(std::string name, int64_t bytes) {
    GgmlTensor made = tensor(std::move(name), "NONE", bytes, {}, true);
    made.external = true;
    return add(graph, std::move(made));
  }
  TensorId node(std::string name, std::string op, int64_t bytes, std::vector<TensorId> sources) {
    return add(graph, tensor(std::move(name), std::move(op), bytes, std::move(sources), false));
  }
  TensorId output(std::string name, std::string op, int64_t bytes, std::vector<TensorId> sources) {
    GgmlTensor made = tensor(std::move(name), std::move(op), bytes, std::move(sources), false);
    made.output = true;
    return add(graph, std::move(made));
  }
  TensorId view(TensorId source) {
    return add(graph, view_of(graph, source, "RESHAPE", graph[source].ne));
  }

  GgmlGraph graph{};

 private:
  static GgmlTensor tensor(std::string name, std::string op, int64_t bytes,
                           std::vector<TensorId> sources, bool leaf) {
    return {.name = std::move(name),
            .op = std::move(op),
            .ne = {bytes / 4, 1, 1, 1},
            .bytes = Bytes::of(bytes),
            .leaf = leaf,
            .sources = std::move(sources)};
  }
};

// The graph at the head of ggml_problem.h.
inline GgmlGraph rope_after_reshape() {
  SmallGraph g;
  const auto w = g.weight("w", 4096);
  const auto x = g.leaf("x", 32);
  const auto p = g.leaf("p", 32);
  const auto a = g.node("a", "MUL_MAT", 64, {w, x});
  const auto b = g.view(a);
  const auto c = g.node("c", "ROPE", 64, {b, p});
  g.output("d", "SQR", 64, {c});
  return g.graph;
}

// Up to `most` tensors of 32 or 64 bytes (now and then none) of every kind, and an output.
inline rc::Gen<GgmlGraph> any_graph(int most) {
  return rc::gen::exec([most] {
    SmallGraph g;
    const auto up_to = [](int high) { return *rc::gen::inRange(0, high + 1); };
    const int count = 2 + up_to(most - 2);
    for (int i = 0; i < count; ++i) {
      const auto earlier = [&] { return TensorId(up_to(i - 1)); };
      const std::string name = "t" + std::to_string(i);
      const int64_t bytes = *rc::gen::element<int64_t>(64, 64, 64, 32, 20, 0);
      const int kind = i == 0 ? 0 : up_to(9);
      if (kind == 0) {
        g.leaf(name, bytes);
      } else if (kind == 1) {
        g.weight(name, bytes);
      } else if (kind <= 3) {
        g.view(earlier());
      } else {
        std::vector<TensorId> sources{earlier()};
        if (up_to(2) > 0) sources.push_back(earlier());
        const auto op = *rc::gen::element<std::string>("ADD", "MUL", "GLU", "RMS_NORM", "MUL_MAT");
        kind == 9 ? g.output(name, op, bytes, sources) : g.node(name, op, bytes, sources);
      }
    }
    g.output("last", "MUL_MAT", 32, {TensorId(up_to(count - 1))});
    return g.graph;
  });
}

}  // namespace tidemark

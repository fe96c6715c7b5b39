#include "planner/engine/llama_cpp/device_split.h"

#include <gtest/gtest.h>

#include "planner/engine/ggml_alloc.h"

namespace tidemark {
namespace {

using namespace literals;

class Sketch {
 public:
  TensorId weight(std::string name, size_t home) {
    request.home.emplace_back(home);
    request.is_weight.push_back(true);
    return next({.name = std::move(name), .bytes = 64_B, .leaf = true, .external = true});
  }
  TensorId input(std::string name) {
    unknown();
    return next({.name = std::move(name), .bytes = 64_B, .leaf = true, .input = true});
  }
  TensorId op(std::string name, std::vector<TensorId> sources, Bytes bytes = 64_B) {
    unknown();
    return next(
        {.op = std::move(name), .ne = {4, 4, 1, 1}, .bytes = bytes, .sources = std::move(sources)});
  }
  DeviceSplit split() {
    request.wish.resize(graph.tensors.size());
    return split_devices(graph, request);
  }

  GgmlGraph graph{};
  DeviceRequest request{};

 private:
  void unknown() {
    request.home.emplace_back();
    request.is_weight.push_back(false);
  }
  TensorId next(GgmlTensor tensor) { return add(graph, std::move(tensor)); }
};

std::vector<std::string> ops(const GgmlGraph& graph) {
  std::vector<std::string> names;
  for (const GgmlTensor& tensor : graph.tensors)
    names.push_back(tensor.leaf ? tensor.name : tensor.op);
  return names;
}

using Names = std::vector<std::string>;

TEST(DeviceSplitTest, WorkedInTheHeader) {
  Sketch sketch;
  sketch.request.n_devices = 3;
  const TensorId table = sketch.weight("table", 2);
  const TensorId w0 = sketch.weight("w0", 0);
  const TensorId w1 = sketch.weight("w1", 1);
  const TensorId tokens = sketch.input("tokens");
  const TensorId e = sketch.op("GET_ROWS", {table, tokens});
  const TensorId a = sketch.op("MUL_MAT", {w0, e});
  const TensorId b = sketch.op("SQR", {a});
  sketch.op("MUL_MAT", {w1, b});
  const DeviceSplit made = sketch.split();
  EXPECT_EQ(made.n_splits, 3);
  EXPECT_EQ(made.device[e.index()], 2U);
  EXPECT_EQ(made.device[a.index()], 0U);
  EXPECT_EQ(made.device[b.index()], 0U);
  EXPECT_EQ(ops(made.graphs[2]), (Names{"table", "tokens", "GET_ROWS", "COPY_OUT"}));
  EXPECT_EQ(ops(made.graphs[0]), (Names{"w0", "COPY_IN", "MUL_MAT", "SQR", "COPY_OUT"}));
  EXPECT_EQ(ops(made.graphs[1]), (Names{"w1", "COPY_IN", "MUL_MAT"}));
}

// One device: the graph itself.
TEST(DeviceSplitTest, OneDeviceKeepsTheGraph) {
  Sketch sketch;
  const TensorId x = sketch.input("x");
  const TensorId w = sketch.weight("w", 0);
  const TensorId y = sketch.op("MUL_MAT", {w, x}, 128_B);
  sketch.op("ADD", {y, y}, 128_B);
  const DeviceSplit made = sketch.split();
  EXPECT_EQ(made.n_splits, 1);
  EXPECT_EQ(ops(made.graphs[0]), (Names{"x", "w", "MUL_MAT", "ADD"}));
  EXPECT_EQ(reserve(made.graphs[0]).reserved, reserve(sketch.graph).reserved);
}

// Weights of the CPU, 4 rows: with an offload from 4 rows on, each product opens a run of its own,
// and its weight is copied for that run.
TEST(DeviceSplitTest, LargeBatchesAreComputedOnADevice) {
  Sketch sketch;
  sketch.request.n_devices = 2;
  sketch.request.offload_batch = 4;
  const TensorId x = sketch.input("x");
  const TensorId w0 = sketch.weight("w0", 1);
  const TensorId w1 = sketch.weight("w1", 1);
  const TensorId a = sketch.op("MUL_MAT", {w0, x});
  sketch.op("MUL_MAT", {w1, a});
  const DeviceSplit made = sketch.split();
  EXPECT_EQ(made.n_splits, 2);
  EXPECT_EQ(ops(made.graphs[0]), (Names{"COPY_IN", "COPY_IN", "MUL_MAT", "COPY_IN", "MUL_MAT"}));
  EXPECT_EQ(ops(made.graphs[1]), (Names{"x", "w0", "w1", "COPY_OUT", "COPY_OUT", "COPY_OUT"}));
  sketch.request.offload_batch = 5;
  EXPECT_EQ(sketch.split().graphs[0].tensors.size(), 0U);
}

// Four batches in flight: four times the input and four times its copy, 8 x 64 B that stay.
TEST(DeviceSplitTest, BatchesInFlight) {
  Sketch sketch;
  sketch.request.n_devices = 2;
  sketch.request.n_copies = 4;
  const TensorId x = sketch.input("x");
  sketch.input("unread");
  const TensorId w = sketch.weight("w", 0);
  sketch.op("MUL_MAT", {w, x});
  const DeviceSplit made = sketch.split();
  EXPECT_EQ(reserve(made.graphs[1]).reserved, 320_B);  // 4 x 64 and the one that nobody reads
  EXPECT_EQ(reserve(made.graphs[0]).reserved, 320_B);  // 4 x 64 and the product
}

// A view of what another device made is copied as far as it is seen.
TEST(DeviceSplitTest, ViewsAcrossDevices) {
  Sketch sketch;
  sketch.request.n_devices = 2;
  const TensorId table = sketch.weight("table", 1);
  const TensorId tokens = sketch.input("tokens");
  const TensorId w = sketch.weight("w", 0);
  const TensorId e = sketch.op("GET_ROWS", {table, tokens}, 128_B);
  GgmlTensor half = view_of(sketch.graph, e, "VIEW", {4, 2, 1, 1});
  half.bytes = 64_B;
  const TensorId seen = add(sketch.graph, half);
  sketch.request.home.emplace_back();
  sketch.request.is_weight.push_back(false);
  sketch.op("MUL_MAT", {w, seen});
  const DeviceSplit made = sketch.split();
  EXPECT_EQ(ops(made.graphs[0]), (Names{"w", "COPY_IN", "MUL_MAT"}));
  EXPECT_EQ(made.graphs[0].tensors[1].bytes, 64_B);
  EXPECT_EQ(ops(made.graphs[1]), (Names{"table", "tokens", "GET_ROWS", "VIEW", "COPY_OUT"}));
}

}  // namespace
}  // namespace tidemark

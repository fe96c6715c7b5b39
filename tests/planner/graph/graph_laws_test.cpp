// What holds for the graph of every layer kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "layer_kinds.h"
#include "planner/base/check.h"
#include "planner/graph/schedule.h"

namespace tidemark {
namespace {

using testing::all_kinds;
using testing::LayerKind;
using testing::model_of;

// Both ways to attend, one sequence and several, caches of their own and a unified one.
std::vector<GraphOptions> many_options() {
  std::vector<GraphOptions> many;
  for (const bool flash : {true, false}) {
    many.push_back({.n_tokens = 3, .n_cells = 5, .n_source = 4, .flash_attention = flash});
    many.push_back({.n_tokens = 6,
                    .n_outputs = 6,
                    .n_cells = 12,
                    .n_seq = 3,
                    .n_ubatch = 7,
                    .n_source = 2,
                    .swa_full = flash,
                    .flash_attention = flash});
    many.push_back({.n_tokens = 2,
                    .n_outputs = 2,
                    .n_cells = 40,
                    .n_seq = 2,
                    .n_ubatch = 6,
                    .n_source = 9,
                    .unified = true,
                    .cell_multiple = 4,
                    .flash_attention = flash});
  }
  return many;
}

// Every kind by itself, twice over, and all kinds in one model.
std::vector<std::pair<std::string, ModelSpec>> many_models() {
  std::vector<std::pair<std::string, ModelSpec>> many;
  ModelSpec mixed = model_of({}, 0);
  for (const LayerKind& kind : all_kinds()) {
    many.emplace_back(kind.name, model_of(kind.layer, 2));
    if (kind.name != "rwkv7") testing::dims_of(mixed).layers.push_back(kind.layer);
  }
  many.emplace_back("all kinds", std::move(mixed));
  return many;
}

void check_flow(const std::string& name, const Graph& graph) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kOutput || tensor.kind == TensorKind::kState) continue;
    EXPECT_FALSE(graph.consumers(tensor.id).empty()) << name << ": nobody reads " << tensor.name;
  }
}

TEST(GraphLaws, EveryActivationAndInputIsRead) {
  for (const auto& [name, model] : many_models()) {
    for (const GraphOptions& options : many_options()) {
      check_flow(name, testing::graph_of(model, options));
    }
  }
}

// K and V of an encoder's states are made once for a generation, outside this graph.
bool runs_once(const WeightTensor& tensor) {
  return tensor.role == WeightRole::kCrossKey || tensor.role == WeightRole::kCrossValue;
}

TEST(GraphLaws, EveryWeightOfTheMainStackIsReadInItsLayer) {
  for (auto [name, model] : many_models()) {
    testing::dims_of(model).stacks = {
        {.role = StackRole::kVision, .n_embd = 4, .layers = {testing::attention_kinds()[1].layer}}};
    const WeightsInventory weights = weights_inventory(model, DType::kInt8);
    for (const GraphOptions& options : many_options()) {
      const Graph graph = build_graph(model, weights, options);
      std::vector<bool> is_read(weights.tensors.size(), false);
      for (const Op& op : graph.ops()) {
        Bytes at_most;
        for (const WeightId id : op.weights) {
          is_read[id.index()] = true;
          EXPECT_EQ(weights.tensors[id.index()].layer, op.layer) << name << ": " << op.name;
          at_most += weights.tensors[id.index()].bytes;
        }
        EXPECT_LE(op.weights_read, at_most) << name << ": " << op.name;
        EXPECT_EQ(op.weights_read > Bytes{}, !op.weights.empty()) << name << ": " << op.name;
      }
      for (size_t i = 0; i < is_read.size(); ++i) {
        const WeightTensor& tensor = weights.tensors[i];
        EXPECT_EQ(is_read[i], tensor.stack < 0 && !runs_once(tensor))
            << name << ": " << tensor.name;
      }
    }
  }
}

TEST(GraphLaws, StateTensorsAddUpToTheStateOfTheModel) {
  for (const auto& [name, model] : many_models()) {
    for (GraphOptions options : many_options()) {
      options.type_k = DType::kQ8_0;
      const StateSizes sizes = state_sizes(model, state_options(options));
      Bytes floats;
      Bytes cached;
      const Graph graph = testing::graph_of(model, options);
      for (const Tensor& tensor : graph.tensors()) {
        if (tensor.kind != TensorKind::kState) continue;
        (tensor.dtype == DType::kF32 ? floats : cached) += tensor.bytes;
      }
      EXPECT_EQ(floats, sizes.recurrent) << name;
      EXPECT_EQ(cached, sizes.kv_cache()) << name;
    }
  }
}

TEST(GraphLaws, NoGraphHasMoreOpsThanIsSaidBeforeItIsBuilt) {
  for (const auto& [name, model] : many_models()) {
    for (const GraphOptions& options : many_options()) {
      const Graph graph = testing::graph_of(model, options);
      EXPECT_LE(std::ssize(graph.ops()), most_ops(model)) << name;
    }
  }
  EXPECT_EQ(most_ops(model_of(testing::attention_kinds()[0].layer, 3)), 9 + 3 * 19);
}

TEST(GraphLaws, EveryLayerAddsToTheSameSum) {
  for (const auto& [name, model] : many_models()) {
    const Graph graph = testing::graph_of(model, testing::kThree);
    const Tensor& rows = testing::tensor_named(graph, "select_rows");
    EXPECT_EQ(rows.shape, (std::array<int64_t, 4>{8, 1, 1, 1})) << name;
    EXPECT_EQ(testing::tensor_named(graph, "logits").shape, (std::array<int64_t, 4>{10, 1, 1, 1}))
        << name;
  }
}

// Two operations for each matrix element that a token uses; the vectors and tables of the tiny
// models are counted out by their roles.
int64_t matrix_elements(const ModelSpec& model) {
  static const std::set<WeightRole> kMatrices = {
      WeightRole::kQuery,        WeightRole::kKey,         WeightRole::kValue,
      WeightRole::kQkv,          WeightRole::kQueryA,      WeightRole::kQueryB,
      WeightRole::kKvA,          WeightRole::kKvB,         WeightRole::kKeyB,
      WeightRole::kValueB,       WeightRole::kGate,        WeightRole::kUp,
      WeightRole::kDown,         WeightRole::kRouter,      WeightRole::kAttentionOutput,
      WeightRole::kSharedRouter, WeightRole::kSharedGate,  WeightRole::kSharedUp,
      WeightRole::kSharedDown,   WeightRole::kStateIn,     WeightRole::kStateConv,
      WeightRole::kStateX,       WeightRole::kStateGates,  WeightRole::kStateOut,
      WeightRole::kChannelIn,    WeightRole::kChannelGate, WeightRole::kChannelOut,
      WeightRole::kCrossQuery,   WeightRole::kCrossOutput, WeightRole::kTokenEmbedding};
  const MoeSpec moe = model.transformer()->layers[0].moe;
  int64_t sum = 0;
  for (const WeightTensor& tensor : weight_tensors(model)) {
    const bool is_expert = tensor.role == WeightRole::kExpertGate ||
                           tensor.role == WeightRole::kExpertUp ||
                           tensor.role == WeightRole::kExpertDown;
    if (tensor.is_bias) continue;
    if (is_expert) sum += tensor.columns * tensor.rows * moe.n_expert_used;
    const bool is_matrix = kMatrices.contains(tensor.role) || tensor.role == WeightRole::kStateDt;
    if (is_matrix) sum += tensor.elements();
  }
  return sum;
}

TEST(GraphLaws, ProductsCostTwoOperationsForEachElementThatATokenUses) {
  for (const LayerKind& kind : all_kinds()) {
    const ModelSpec model = model_of(kind.layer);
    const Graph graph =
        testing::graph_of(model, {.n_tokens = 3, .n_outputs = 3, .n_cells = 5, .n_source = 4});
    int64_t operations = 0;
    for (const Op& op : graph.ops()) {
      const bool is_recurrence = op.kind == OpKind::kScan || op.kind == OpKind::kDeltaRule;
      if (!is_recurrence && op.kind != OpKind::kFlashAttention) operations += op.operations;
    }
    EXPECT_EQ(operations, 2 * 3 * matrix_elements(model)) << kind.name;
  }
}

TEST(GraphLaws, BothWaysToAttendDoTheSameWork) {
  for (const auto& [name, model] : many_models()) {
    for (const GraphOptions& options : many_options()) {
      GraphOptions other = options;
      other.flash_attention = !options.flash_attention;
      other.swa_full = options.swa_full;
      int64_t difference = 0;
      int64_t per_cell = 0;
      const Graph a = testing::graph_of(model, options);
      const Graph b = testing::graph_of(model, other);
      for (const Op& op : a.ops()) {
        difference += op.operations;
        per_cell += op.operations_per_cell;
      }
      for (const Op& op : b.ops()) {
        difference -= op.operations;
        per_cell -= op.operations_per_cell;
      }
      EXPECT_EQ(difference, 0) << name;
      EXPECT_EQ(per_cell, 0) << name;
    }
  }
}

}  // namespace
}  // namespace tidemark

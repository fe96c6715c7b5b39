#include "planner/capacity/weight_units.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/graph/build_graph.h"
#include "support/sample_models.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using testing::transformer;
using namespace literals;

struct UnitsOfModel {
  std::vector<WeightUnit> units{};
  std::vector<UnitUse> uses{};
};

UnitsOfModel units_of(const ModelSpec& model, const GraphOptions& options) {
  const WeightsInventory weights = weights_inventory(model, DType::kF16);
  const Graph graph = build_graph(model, weights, options);
  UnitsOfModel made{.units = weight_units(weights)};
  made.uses = unit_uses(made.units, graph, schedule_in_program_order(graph));
  return made;
}

std::vector<std::string> shown(const UnitsOfModel& model) {
  std::vector<std::string> lines;
  for (const UnitUse& use : model.uses) {
    lines.push_back(fmt::format("{} [{},{})", model.units.at(use.unit.index()).name,
                                use.steps.lower.value(), use.steps.upper.value()));
  }
  return lines;
}

constexpr GraphOptions kThreeTokens{.n_tokens = 3, .n_outputs = 1, .n_cells = 5};

TEST(UnitUsesTest, TwoLayerTiedModel) {
  EXPECT_THAT(shown(units_of(transformer({.n_layer = 2}), kThreeTokens)),
              ElementsAre("token_embd [0,1)", "blk.0 [1,18)", "blk.1 [18,36)", "output [36,37)",
                          "token_embd [37,38)"));
}

TEST(UnitUsesTest, AnUntiedHeadIsVisitedWithItsNorm) {
  EXPECT_THAT(shown(units_of(transformer({.tied_embeddings = false}), kThreeTokens)),
              ElementsAre("token_embd [0,1)", "blk.0 [1,19)", "output [19,21)"));
}

TEST(UnitUsesTest, OfALayerListEveryLayerIsAUnitByItsOwnName) {
  EXPECT_THAT(shown(units_of(testing::demo_layers(), {})),
              ElementsAre("embedding [0,1)", "layer1 [1,2)", "layer2 [2,3)", "layer3 [3,4)",
                          "layer4 [4,5)", "output [5,6)"));
}

TEST(UnitUsesTest, LayersOfTheSameNameStayApart) {
  ModelSpec model = testing::demo_layers();
  for (PlainLayer& layer : std::get<LayerListSpec>(model.dims).layers) layer.name = "same";
  EXPECT_EQ(units_of(model, {}).units.size(), 6u);
  EXPECT_EQ(units_of(model, {}).uses.size(), 6u);
}

// op0 reads nothing, op1 weight 0, op2 nothing, op3 weight 1: the first visit starts at step 0.
TEST(UnitUsesTest, StepsWithoutWeightsBelongToTheVisitAroundThem) {
  GraphBuilder builder;
  builder.add_op({.name = "op0"});
  builder.add_op({.name = "op1", .weights = {WeightId(0)}});
  builder.add_op({.name = "op2"});
  builder.add_op({.name = "op3", .weights = {WeightId(1)}});
  const Graph graph = std::move(builder).build();
  UnitsOfModel made{.units = {{"a", 1_B, {WeightId(0)}}, {"b", 1_B, {WeightId(1)}}}};
  made.uses = unit_uses(made.units, graph, schedule_in_program_order(graph));
  EXPECT_THAT(shown(made), ElementsAre("a [0,3)", "b [3,4)"));
}

TEST(WeightUnitsTest, SizesOfATinyModelByHand) {
  const UnitsOfModel tied = units_of(transformer({}), kThreeTokens);
  ASSERT_EQ(tied.units.size(), 3u);
  EXPECT_EQ(tied.units[0].bytes, Bytes::of(2 * 10 * 4));
  // q 4x4, k and v 4x2, output 4x4, gate, up and down 4x6, two norms of 4; 2 B each.
  EXPECT_EQ(tied.units[1].bytes, Bytes::of(2 * (16 + 8 + 8 + 16 + 3 * 24 + 2 * 4)));
  EXPECT_EQ(tied.units[1].tensors.size(), 9u);
  EXPECT_EQ(tied.units[2].name, "output");
  EXPECT_EQ(tied.units[2].bytes, 8_B);  // the norm alone
  const UnitsOfModel untied = units_of(transformer({.tied_embeddings = false}), kThreeTokens);
  EXPECT_EQ(untied.units[2].bytes, 88_B);  // and the head
}

TEST(ResidentWeightsTest, TheFoundingExample) {
  const auto [units, uses] = units_of(testing::demo_layers(), {});
  EXPECT_EQ(resident_weight_bytes(StrategyKind::kResident, units, uses, {}), 3400_MB);
  EXPECT_EQ(resident_weight_bytes(StrategyKind::kLayerwise, units, uses, {}), 800_MB);
  EXPECT_EQ(resident_weight_bytes(StrategyKind::kDoubleBuffer, units, uses, {}), 1400_MB);
  EXPECT_EQ(resident_weight_bytes(StrategyKind::kBlockCache, units, uses, 1536_MB), 1536_MB);
  EXPECT_EQ(resident_weight_bytes(StrategyKind::kBlockCache, units, uses, 4000_MB), 3400_MB);
}

std::string names_and_sizes(const std::vector<WeightUnit>& units) {
  std::string text;
  for (const WeightUnit& unit : units) {
    text += fmt::format("{} {} ", unit.name, unit.bytes.count());
  }
  return text;
}

// Six layers of 256 B (SizesOfATinyModelByHand), an embedding of 80, an output of 8.
TEST(ChunkedUnitsTest, SixLayers) {
  const ModelSpec model = transformer({.n_layer = 6});
  const WeightsInventory weights = weights_inventory(model, DType::kF16);
  const std::vector<WeightUnit> units = weight_units(weights);
  EXPECT_EQ(names_and_sizes(chunked_units(units, weights, 2)),
            "token_embd-blk.0 336 blk.1-blk.2 512 blk.3-blk.4 512 blk.5 256 output 8 ");
  EXPECT_EQ(names_and_sizes(chunked_units(units, weights, 1)),
            "token_embd-blk.0 336 blk.1 256 blk.2 256 blk.3 256 blk.4 256 blk.5 256 output 8 ");
  EXPECT_EQ(names_and_sizes(chunked_units(units, weights, 100)),
            "token_embd-blk.0 336 blk.1-blk.5 1280 output 8 ");
}

// In the order of the tensors: norm 8, q 32, k 16, v 16, output 32, norm 8, gate, up, down 48 each,
// 256 B. Half is reached within gate.
TEST(ChunkedUnitsTest, HalvesOfALayer) {
  const ModelSpec model = transformer({.n_layer = 1});
  const WeightsInventory weights = weights_inventory(model, DType::kF16);
  EXPECT_EQ(names_and_sizes(parted_units(weight_units(weights), weights, 2)),
            "token_embd 80 blk.0/1 160 blk.0/2 96 output 8 ");
}

// However many parts: the shift of a norm and the bias of a matrix are where those are.
TEST(ChunkedUnitsTest, ABiasIsNotPartedFromItsMatrix) {
  ModelSpec model = transformer({.n_layer = 2});
  for (LayerSpec& layer : std::get<TransformerSpec>(model.dims).layers) {
    std::get<AttentionSpec>(layer.mixer).bias = {.q = true, .k = true, .v = true, .out = true};
    layer.feed_forward.bias = true;
    layer.norms.before_mixer = layer.norms.before_ffn = NormKind::kScaleAndShift;
  }
  const WeightsInventory weights = weights_inventory(model, DType::kF16);
  size_t most_parts = 0;
  for (int64_t parts = 2; parts <= 40; ++parts) {
    const std::vector<WeightUnit> units = parted_units(weight_units(weights), weights, parts);
    most_parts = std::max(most_parts, units.size());
    for (const WeightUnit& unit : units) {
      EXPECT_FALSE(weights.tensors.at(unit.tensors.front().index()).is_bias) << unit.name;
    }
  }
  EXPECT_EQ(most_parts, 2 + 2 * 9U);  // 9 matrices and norms a layer
}

struct PairCase {
  const char* what = "";
  std::vector<int64_t> visits{};  // unit of each visit; units have 10, 1 and 4 bytes
  int64_t bytes = 0;
};

TEST(ResidentWeightsTest, DoubleBufferPairsNeighbouringVisitsRoundTheEnd) {
  const std::vector<WeightUnit> units = {{"a", 10_B, {}}, {"b", 1_B, {}}, {"c", 4_B, {}}};
  const PairCase cases[] = {
      {"a b c: c + a, from one pass to the next", {0, 1, 2}, 14},
      {"a b c a: c + a; the last a stays for the next pass", {0, 1, 2, 0}, 14},
      {"a b a: a + b; a after a is not read again", {0, 1, 0}, 11},
      {"a alone", {0}, 10},
      {"nothing", {}, 0},
  };
  for (const PairCase& row : cases) {
    std::vector<UnitUse> uses;
    for (int64_t unit : row.visits) uses.push_back({.unit = UnitId(unit)});
    EXPECT_EQ(resident_weight_bytes(StrategyKind::kDoubleBuffer, units, uses, {}),
              Bytes::of(row.bytes))
        << row.what;
  }
}

}  // namespace
}  // namespace tidemark

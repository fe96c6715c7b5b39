#include "sim/device/device_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "planner/graph/build_graph.h"
#include "support/sample_models.h"

namespace tidemark {
namespace {

using literals::operator""_GB;
using literals::operator""_MB;

// 20 GB/s of memory, 2 GB/s of flash with 100 us a request, 10 GOPS.
DeviceSpec phone() {
  return {.memory_bandwidth = BytesPerSecond::of(20'000'000'000),
          .flash_read = BytesPerSecond::of(2'000'000'000),
          .flash_latency = Duration::us(100),
          .compute = OpsPerSecond::of(10'000'000'000)};
}

TEST(DeviceModelTest, ReadByHand) {
  // 600 MB at 2 GB/s: 0.3 s, and one request.
  EXPECT_EQ(read_time(phone(), 600_MB), Duration::ms(300) + Duration::us(100));
  EXPECT_EQ(read_time(phone(), Bytes{}), Duration::us(100));
  EXPECT_EQ(read_time(phone(), Bytes::of(1)),
            Duration::ns(100'001));  // half a nanosecond, rounded up
}

TEST(DeviceModelTest, RooflineByHand) {
  const OpWork waits_for_memory{.operations = 100'000, .weights_read = Bytes::of(400'000)};
  const OpWork waits_for_arithmetic{.operations = 500'000, .weights_read = Bytes::of(400'000)};
  EXPECT_EQ(op_time(phone(), waits_for_memory, 0), Duration::ns(20'000));
  EXPECT_EQ(op_time(phone(), waits_for_arithmetic, 0), Duration::ns(50'000));
}

TEST(DeviceModelTest, AttentionPaysForEachCellAttended) {
  const OpWork attention{.operations_per_cell = 1000, .state_read_per_cell = Bytes::of(4000)};
  // A cell: 100 ns of arithmetic, 200 ns of memory.
  EXPECT_EQ(op_time(phone(), attention, 1), Duration::ns(200));
  EXPECT_EQ(op_time(phone(), attention, 512), Duration::ns(512 * 200));
}

// A window of 100 cells, 8 B a cell: 400 B of the state whatever the context, at 20 B/ns.
TEST(DeviceModelTest, AWindowIsAttendedAndRecurrentStateMovedWhateverTheContext) {
  const OpWork windowed{.state_read_per_cell = Bytes::of(8), .most_cells = 100};
  EXPECT_EQ(op_time(phone(), windowed, 50), Duration::ns(20));
  EXPECT_EQ(op_time(phone(), windowed, 100), Duration::ns(40));
  EXPECT_EQ(op_time(phone(), windowed, 32'768), Duration::ns(40));
  const OpWork recurrent{.state_moved = Bytes::of(400)};
  EXPECT_EQ(op_time(phone(), recurrent, 32'768), Duration::ns(20));
  EXPECT_EQ(with_tokens(recurrent, 1, 512).state_moved, Bytes::of(400));
}

// A row is a token, also where each chosen expert has a row of its own or each head a plane: 16
// tokens, 2 of 4 experts with 6 values each.
TEST(DeviceModelTest, ARowIsATokenInEveryOp) {
  ModelSpec model = testing::transformer({.n_layer = 1, .n_head = 4});
  LayerSpec& layer = std::get<TransformerSpec>(model.dims).layers[0];
  layer.feed_forward = {};
  layer.moe = {.n_expert = 4, .n_expert_used = 2, .n_ff_exp = 6};
  const WeightsInventory weights = weights_inventory(model, DType::kF32);
  const Graph graph = build_graph(
      model, weights, {.n_tokens = 16, .n_outputs = 1, .n_cells = 32, .flash_attention = false});
  for (const Op& op : graph.ops()) {
    if (op.layer < 0) continue;
    const OpSize size = op_work(graph, op).size;
    EXPECT_EQ(size.rows, 16) << op.name;
    if (op.name == "blk.0.expert_gate") {
      EXPECT_EQ(size.row_outputs, 12);          // 2 x 6
      EXPECT_EQ(size.row_work, 2 * 2 * 6 * 4);  // a multiply-add each, of 4 columns
    }
  }
}

class SmallGraph : public ::testing::Test {
 protected:
  // ids (input, 40 B) -> embed -> x (400 B) -> attention with a cache -> y (400 B) -> logits
  // (outside the arena)
  SmallGraph() {
    GraphBuilder builder;
    const TensorId ids = builder.add_sized_tensor("ids", TensorKind::kInput, Bytes::of(40));
    const TensorId x = builder.add_sized_tensor("x", TensorKind::kActivation, Bytes::of(400));
    const TensorId cache = builder.add_sized_tensor("cache", TensorKind::kState, 1_GB);
    const TensorId y = builder.add_sized_tensor("y", TensorKind::kActivation, Bytes::of(400));
    const TensorId logits = builder.add_sized_tensor("logits", TensorKind::kOutput, 1_MB);
    embed_ = builder.add_op({.name = "embed",
                             .kind = OpKind::kEmbed,
                             .inputs = {ids},
                             .outputs = {x},
                             .weights_read = Bytes::of(160)});
    store_ = builder.add_op(
        {.name = "store", .kind = OpKind::kStoreKv, .inputs = {x}, .outputs = {cache}});
    attention_ = builder.add_op({.name = "attention",
                                 .kind = OpKind::kFlashAttention,
                                 .inputs = {x, cache},
                                 .outputs = {y},
                                 .operations_per_cell = 10,
                                 .state_read_per_cell = Bytes::of(8)});
    head_ = builder.add_op({.name = "logits",
                            .kind = OpKind::kMatMul,
                            .inputs = {y},
                            .outputs = {logits},
                            .weights_read = Bytes::of(5000),
                            .operations = 90});
    graph_ = std::move(builder).build();
  }
  Graph graph_{};
  OpId embed_{}, store_{}, attention_{}, head_{};
};

TEST_F(SmallGraph, MovesTensorsOfTheArenaAndNotTheWholeCache) {
  EXPECT_EQ(op_work(graph_, graph_.op(store_)).tensors, Bytes::of(400));
  const OpWork attention = op_work(graph_, graph_.op(attention_));
  EXPECT_EQ(attention.tensors, Bytes::of(800));
  EXPECT_EQ(attention.state_read_per_cell, Bytes::of(8));
  // 800 + 8 x 100 = 1600 B at 20 B/ns.
  EXPECT_EQ(op_time(phone(), graph_, graph_.op(attention_), 100), Duration::ns(100));
}

TEST_F(SmallGraph, AMatrixProductReadsItsWeightsAndDoesNotWriteLogitsToTheArena) {
  const OpWork head = op_work(graph_, graph_.op(head_));
  EXPECT_EQ(head.weights_read, Bytes::of(5000));
  EXPECT_EQ(head.tensors, Bytes::of(400));
  EXPECT_EQ(head.operations, 90);
}

TEST_F(SmallGraph, APartialUbatchScalesWhatGrowsWithTheTokens) {
  // The graph is for 10 tokens; 3 of them are there.
  const OpWork embed = with_tokens(op_work(graph_, graph_.op(embed_)), 3, 10);
  EXPECT_EQ(embed.tensors, Bytes::of(180));  // (40 + 400 + 160 of embedding rows) x 3/10
  EXPECT_EQ(embed.weights_read, Bytes{});
  const OpWork head = with_tokens(op_work(graph_, graph_.op(head_)), 3, 10);
  EXPECT_EQ(head.weights_read, Bytes::of(5000));
  EXPECT_EQ(head.operations, 27);
  const OpWork attention = with_tokens(op_work(graph_, graph_.op(attention_)), 3, 10);
  EXPECT_EQ(attention.operations_per_cell, 3);
  EXPECT_EQ(attention.state_read_per_cell, Bytes::of(8));
}

TEST(DeviceModelTest, MoreWorkNeverTakesLess) {
  EXPECT_TRUE(rc::check("monotone in every part", [] {
    const auto amount = rc::gen::inRange<int64_t>(0, 1'000'000'000);
    const auto work = [&] {
      return OpWork{.operations = *amount,
                    .operations_per_cell = *rc::gen::inRange<int64_t>(0, 1000),
                    .weights_read = Bytes::of(*amount),
                    .tensors = Bytes::of(*amount),
                    .state_read_per_cell = Bytes::of(*rc::gen::inRange<int64_t>(0, 1000))};
    };
    const OpWork less = work();
    const OpWork extra = work();
    const OpWork more{.operations = less.operations + extra.operations,
                      .operations_per_cell = less.operations_per_cell + extra.operations_per_cell,
                      .weights_read = less.weights_read + extra.weights_read,
                      .tensors = less.tensors + extra.tensors,
                      .state_read_per_cell = less.state_read_per_cell + extra.state_read_per_cell};
    const auto cells = *rc::gen::inRange<int64_t>(0, 100'000);
    RC_ASSERT(op_time(phone(), less, cells) <= op_time(phone(), more, cells));
    RC_ASSERT(op_time(phone(), less, cells) <= op_time(phone(), less, cells + 1));
    RC_ASSERT(with_tokens(less, 512, 512).operations == less.operations);
  }));
}

TEST(DeviceModelTest, WorkPastSixtyThreeBitsIsAnOverflowAndNotASmallNumber) {
  const OpWork huge{.operations_per_cell = std::numeric_limits<int64_t>::max()};
  EXPECT_THROW(op_time(phone(), huge, 2), std::overflow_error);
}

}  // namespace
}  // namespace tidemark

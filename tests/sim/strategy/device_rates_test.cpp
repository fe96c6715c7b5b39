// Rates by kind and type, a time of every op, what ops waited for and what a run draws: worked out
// on a decoder of one layer, 32 wide, 2 heads of 16, a feed-forward of 64, a tied head of 100 rows,
// in f16; 1 operation and 10 bytes a nanosecond.
//
//   products of a token: 4 x 32 x 32 + 3 x 32 x 64 = 10,240 weights, 20,480 operations
//   logits of one row:   100 x 32 weights, 6,400 operations
//   attention:           2 x 2 x 2 x 16 = 128 operations a token and cell
#include <gtest/gtest.h>

#include "scenarios.h"
#include "sim/strategy/pass_cost.h"

namespace tidemark {
namespace {

using testing::decoder_scenario;
using testing::layer_scenario;
using testing::plan_of;
using testing::run;

constexpr OpsPerSecond per_ns(int64_t operations) {
  return OpsPerSecond::of(operations * 1'000'000'000);
}

struct OneLayer {
  Scenario scenario = decoder_scenario(1, StrategyKind::kResident);
  MemoryPlan plan = plan_of(scenario);

  OpCost pass(const PhasePlan& phase, int64_t tokens, int64_t cells) const {
    const PassCost cost(scenario.device, phase, tokens, &plan.weights);
    OpCost sum;
    for (size_t use = 0; use < phase.uses.size(); ++use) sum += cost.visit_cost(use, cells);
    return sum;
  }
  OpCost decode(int64_t cells = 1) const { return pass(plan.decode, 1, cells); }
  OpCost prefill(int64_t tokens = 64) const { return pass(plan.prefill, tokens, 64); }
};

// What a row saves of the arithmetic; the products do not wait for memory.
TEST(DeviceRatesTest, AProductOfOneTokenTakesTheRowOfItsWeights) {
  OneLayer model;
  ASSERT_EQ(model.scenario.model.dtype, DType::kF16);
  const Duration before = model.decode().time();
  const auto saved = [&](OpClass op, ValueType type, OpsPerSecond rate) {
    model.scenario.device.compute_rates = {{.op = op, .type = type, .rate = rate}};
    return before - model.decode().time();
  };
  EXPECT_EQ(saved(OpClass::kGemv, ValueType::kF16, per_ns(2)), Duration::ns(26'880 / 2));
  EXPECT_EQ(saved(OpClass::kGemv, ValueType::kInt8, per_ns(2)), Duration{});
  EXPECT_EQ(saved(OpClass::kMatMul, ValueType::kF16, per_ns(2)), Duration{});
}

TEST(DeviceRatesTest, AProductOfSeveralTokensTakesAnother) {
  OneLayer model;
  const Duration full = model.prefill().time();
  const Duration partial = model.prefill(2).time();
  const Duration single = model.prefill(1).time();
  model.scenario.device.compute_rates = {
      {.op = OpClass::kMatMul, .type = ValueType::kF16, .rate = per_ns(4)}};
  EXPECT_EQ(full - model.prefill().time(), Duration::ns(64 * 20'480 * 3 / 4));
  EXPECT_EQ(partial - model.prefill(2).time(), Duration::ns(2 * 20'480 * 3 / 4));
  EXPECT_EQ(single - model.prefill(1).time(), Duration{});
  // Only the last token's logits are wanted: a product of one row.
  model.scenario.device.compute_rates[0].op = OpClass::kGemv;
  EXPECT_EQ(full - model.prefill().time(), Duration::ns(6'400 * 3 / 4));
}

TEST(DeviceRatesTest, AttentionTakesTheRowOfItsCache) {
  OneLayer model;
  const Duration before = model.decode(100).time();
  model.scenario.device.compute_rates = {
      {.op = OpClass::kAttention, .type = ValueType::kF16, .rate = per_ns(2)}};
  EXPECT_EQ(before - model.decode(100).time(), Duration::ns(100 * 128 / 2));
  model.scenario.type_k = DType::kQ8_0;
  model.scenario.type_v = DType::kQ8_0;
  model.plan = plan_of(model.scenario);
  EXPECT_EQ(before.count() - model.decode(100).time().count(), 0);
}

TEST(DeviceRatesTest, EveryOpTakesItsOverhead) {
  OneLayer model;
  const OpCost before = model.decode();
  model.scenario.device.op_overhead = Duration::ns(7);
  const OpCost after = model.decode();
  const int64_t ops = std::ssize(model.plan.decode.schedule.order);
  EXPECT_EQ(after.overhead, Duration::ns(7 * ops));
  EXPECT_EQ(after.time() - before.time(), Duration::ns(7 * ops));
}

// A layer of a list has no type: `compute`, whatever the rows.
TEST(DeviceRatesTest, LayersOfAListKeepTheCommonRate) {
  Scenario scenario = layer_scenario({{.name = "a", .weights = Bytes::of(800), .operations = 500}},
                                     StrategyKind::kResident);
  scenario.device.compute_rates = {
      {.op = OpClass::kOther, .type = ValueType::kF32, .rate = per_ns(100)},
      {.op = OpClass::kMatMul, .type = ValueType::kInt8, .rate = per_ns(100)}};
  EXPECT_EQ(run(scenario).report.stages.compute, Duration::ns(500));
}

// 800 B at 10 B/ns and 500 operations at 1 a ns: arithmetic; 8,000 B: memory.
TEST(DeviceRatesTest, AReportTellsWhatOpsWaitedFor) {
  Scenario scenario = layer_scenario({{.name = "a", .weights = Bytes::of(800), .operations = 500},
                                      {.name = "b", .weights = Bytes::of(8'000)}},
                                     StrategyKind::kLayerwise);
  scenario.device.op_overhead = Duration::ns(3);
  const StageFacts stages = run(scenario).report.stages;
  EXPECT_EQ(stages.arithmetic, Duration::ns(500));
  EXPECT_EQ(stages.memory, Duration::ns(800));
  EXPECT_EQ(stages.overhead, Duration::ns(6));
  EXPECT_EQ(stages.compute, Duration::ns(1'306));
}

TEST(DeviceRatesTest, WhatOpsWaitedForAddsUpToTheirTime) {
  for (const StrategyKind strategy : strategies()) {
    Scenario scenario = decoder_scenario(2, strategy);
    scenario.device.page_size = Bytes::of(4096);
    scenario.device.op_overhead = Duration::ns(11);
    const StageFacts stages = run(scenario).report.stages;
    EXPECT_EQ(stages.arithmetic + stages.memory + stages.overhead, stages.compute)
        << name_of(strategy);
  }
}

// 1 MB read at 1 B/ns, 1 ms; 1.2 MB moved at 10 B/ns, 0.12 ms.
//   memory   1.2 MB x 20 pJ   =  24 uJ      compute  2 W x 0.12 ms    = 240 uJ
//   storage  1.0 MB x 60 pJ   =  60 uJ      idle     0.25 W x 1.12 ms = 280 uJ
TEST(DeviceRatesTest, EnergyOfARunByHand) {
  Scenario scenario =
      layer_scenario({{"a", Bytes::of(1'000'000), Bytes::of(200'000)}}, StrategyKind::kResident);
  EXPECT_FALSE(run(scenario).report.energy);
  scenario.device.energy = DeviceEnergy{.memory_femtojoules = 20'000,
                                        .storage_femtojoules = 60'000,
                                        .computing_milliwatts = 2'000,
                                        .idle_milliwatts = 250};
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.end, Duration::us(1'120));
  ASSERT_TRUE(report.energy);
  EXPECT_EQ(report.energy->compute_microjoules, 240);
  EXPECT_EQ(report.energy->memory_microjoules, 24);
  EXPECT_EQ(report.energy->storage_microjoules, 60);
  EXPECT_EQ(report.energy->idle_microjoules, 280);
  EXPECT_EQ(report.energy->total(), 604);
}

// The same from a page cache: 1 MB at 1.25 B/ns, 0.8 ms, and no energy of storage.
//   compute and memory as above      idle     0.25 W x 0.92 ms = 230 uJ
TEST(DeviceRatesTest, WhatThePageCacheServedIsNotReadFromStorage) {
  Scenario scenario =
      layer_scenario({{"a", Bytes::of(1'000'000), Bytes::of(200'000)}}, StrategyKind::kResident);
  scenario.load.is_cached = true;
  scenario.device.energy = DeviceEnergy{.memory_femtojoules = 20'000,
                                        .storage_femtojoules = 60'000,
                                        .computing_milliwatts = 2'000,
                                        .idle_milliwatts = 250};
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.end, Duration::us(920));
  EXPECT_EQ(report.bytes_read, Bytes::of(1'000'000));
  EXPECT_EQ(report.energy->storage_microjoules, 0);
  EXPECT_EQ(report.energy->total(), 240 + 24 + 230);
}

bool has_note(const Scenario& scenario, const std::string& text) {
  const std::vector<std::string> notes = run(scenario).report.notes;
  return std::ranges::find(notes, text) != notes.end();
}

TEST(DeviceRatesTest, ThreadsBeyondTheCoresAreNoted) {
  Scenario scenario = decoder_scenario(1, StrategyKind::kResident);
  const std::string note =
      "More threads were asked for than there are cores: 8 compute, one on each; more would take "
      "turns.";
  scenario.settings = {{"threads", "8", "flag --threads"}};
  EXPECT_FALSE(has_note(scenario, note));
  scenario.settings = {{"threads", "8", "flag --threads, held to the device's cores"}};
  EXPECT_TRUE(has_note(scenario, note));
}

// A file of 1 MB beside a run of 1 MB of weights and 0.2 MB of activations: 2.2 MB.
TEST(DeviceRatesTest, APageCacheLargerThanMemoryIsNoted) {
  Scenario scenario =
      layer_scenario({{"a", Bytes::of(1'000'000), Bytes::of(200'000)}}, StrategyKind::kResident);
  scenario.load.is_cached = true;
  const std::string note =
      "The page cache is taken to hold the whole weight file, 977 KiB, which does not fit in 2.10 "
      "MiB of memory beside the run's own 1.14 MiB: reads from storage would be slower.";
  scenario.device.ram_total = Bytes::of(2'200'000);
  EXPECT_FALSE(has_note(scenario, note));
  scenario.device.ram_total = Bytes::of(2'199'999);
  EXPECT_TRUE(has_note(scenario, note));
  scenario.load.is_cached = false;
  EXPECT_FALSE(has_note(scenario, note));
}

// Storage of 1 GB/s, or of 3 GB/s at its fastest point.
TEST(DeviceRatesTest, AMappedFileFasterThanItsStorageIsNoted) {
  Scenario scenario = layer_scenario({{"a", Bytes::of(1'000'000), {}}}, StrategyKind::kMmap);
  scenario.device.page_size = Bytes::of(4096);
  scenario.device.mapped_read = BytesPerSecond::of(2'000'000'000);
  const std::string note =
      "The device states that a mapped file comes at 2.00 GB/s (mapped_read), faster than its "
      "storage reads, 1.00 GB/s at most; the run believes it.";
  EXPECT_TRUE(has_note(scenario, note));
  scenario.strategy = StrategyKind::kLayerwise;
  EXPECT_FALSE(has_note(scenario, note)) << "nothing is mapped";
  scenario.strategy = StrategyKind::kMmap;
  scenario.device.storage = {{.order = ReadOrder::kSequential,
                              .request = Bytes::of(1 << 20),
                              .rate = BytesPerSecond::of(3'000'000'000)}};
  EXPECT_FALSE(has_note(scenario, note));
}

TEST(DeviceRatesTest, ReusedMemorySlowerThanFreshIsNoted) {
  Scenario scenario = layer_scenario({{"a", Bytes::of(1'000'000), {}}}, StrategyKind::kLayerwise);
  const std::string note =
      "The device states that memory given back before comes at 2.00 GB/s (reused_memory), slower "
      "than new memory, 7.00 GB/s (fresh_memory); the run believes it.";
  scenario.device.fresh_memory = BytesPerSecond::of(7'000'000'000);
  EXPECT_FALSE(has_note(scenario, note));
  scenario.device.reused_memory = BytesPerSecond::of(7'000'000'000);
  EXPECT_FALSE(has_note(scenario, note));
  scenario.device.reused_memory = BytesPerSecond::of(2'000'000'000);
  EXPECT_TRUE(has_note(scenario, note));
  scenario.device.page_size = Bytes::of(4096);
  scenario.strategy = StrategyKind::kMmap;
  EXPECT_FALSE(has_note(scenario, note)) << "weights are read into no memory of the process";
}

// `calibrate` measures products of int8 weights: of another format they are believed, and noted.
TEST(DeviceRatesTest, ProductsOfAnotherFormatThanWasMeasuredAreNoted) {
  Scenario scenario = decoder_scenario(1, StrategyKind::kResident);
  scenario.device.name = "bench";
  scenario.quant = {.kind = QuantKind::kFormat, .format = DType::kInt4};
  const std::string note =
      "Products take the time that device bench was measured with, of int8 weights (op_rates): "
      "int4 may take longer.";
  EXPECT_FALSE(has_note(scenario, note)) << "nothing was measured";
  scenario.device.op_rates = {{.kind = OpKind::kMatMul, .rate = OpsPerSecond::of(1'000'000'000)}};
  EXPECT_TRUE(has_note(scenario, note));
  scenario.quant.format = DType::kInt8;
  EXPECT_FALSE(has_note(scenario, note));
}

// One token at one cell: 26,880 operations of products in f16 and 128 of attention over a cache in
// f16, a microjoule each.
TEST(DeviceRatesTest, EnergyOfOperationsGoesByType) {
  Scenario scenario = decoder_scenario(1, StrategyKind::kResident);
  scenario.n_ubatch = Tokens(1);
  scenario.prompt = Tokens(1);
  scenario.generate = Tokens(1);
  scenario.device.energy =
      DeviceEnergy{.operations = {{.type = ValueType::kF16, .femtojoules = 1'000'000'000}}};
  EXPECT_EQ(run(scenario).report.energy->compute_microjoules, 26'880 + 128);
  scenario.device.energy->operations[0].type = ValueType::kInt8;
  EXPECT_EQ(run(scenario).report.energy->total(), 0);
}

}  // namespace
}  // namespace tidemark

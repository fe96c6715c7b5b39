// Weights in several files: where the borders lie, and what opening them and reading up to them
// costs.
#include "sim/strategy/weight_files.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "scenarios.h"

namespace tidemark {
namespace {

using literals::operator""_KiB;
using literals::operator""_MiB;
using testing::decoder_scenario;
using testing::layer_scenario;
using testing::plan_of;
using testing::run;

FilePiece piece(size_t file, Bytes begin, Bytes end) { return {file, {begin, end}}; }

TEST(WeightFilesTest, WorkedInTheHeader) {
  WeightsInventory weights;
  for (const Bytes bytes : {3_MiB, 2_MiB, 2_MiB, 1_MiB})
    weights.tensors.push_back({.bytes = bytes});
  const std::vector<WeightUnit> units = {{"a", 5_MiB, {WeightId(0), WeightId(1)}},
                                         {"b", 3_MiB, {WeightId(2), WeightId(3)}}};
  const WeightFiles halves = weight_files(units, weights, {.split_files = 2});
  EXPECT_EQ(halves.sizes, (std::vector<Bytes>{5_MiB, 3_MiB}));
  EXPECT_EQ(halves.pieces, (std::vector<std::vector<FilePiece>>{{piece(0, 0_MiB, 5_MiB)},
                                                                {piece(1, 0_MiB, 3_MiB)}}));
  EXPECT_EQ(halves.units_in_several(), 0);

  const WeightFiles fours = weight_files(units, weights, {.split_size = 4_MiB});
  EXPECT_EQ(fours.sizes, (std::vector<Bytes>{3_MiB, 4_MiB, 1_MiB}));
  EXPECT_EQ(fours.pieces, (std::vector<std::vector<FilePiece>>{
                              {piece(0, 0_MiB, 3_MiB), piece(1, 0_MiB, 2_MiB)},
                              {piece(1, 2_MiB, 4_MiB), piece(2, 0_MiB, 1_MiB)}}));
  EXPECT_EQ(fours.units_in_several(), 2);
  EXPECT_EQ(split_note(fours, Duration::us(100)),
            "The weights lie in 3 files: 300 us to open them, 100 us each; 2 weight units lie in "
            "several and take a request of each.");
  EXPECT_EQ(split_note(halves, Duration::us(100)),
            "The weights lie in 2 files: 200 us to open them, 100 us each; no weight unit lies in "
            "several.");
}

// Layers of 100, 200 and 300 B, 10 ns a request: files of 300 and 300.
TEST(WeightFilesTest, EachFileCostsAnOpenWhenItIsFirstRead) {
  for (const StrategyKind strategy : {StrategyKind::kResident, StrategyKind::kLayerwise}) {
    Scenario scenario = layer_scenario(
        {{"a", Bytes::of(100), {}}, {"b", Bytes::of(200), {}}, {"c", Bytes::of(300), {}}},
        strategy);
    scenario.device.flash_latency = Duration::ns(10);
    scenario.generate = Tokens(2);
    const Duration one = run(scenario).report.end;
    scenario.residency.split_files = 2;
    const SimReport report = run(scenario).report;
    EXPECT_EQ(report.end, one + Duration::ns(2 * 10)) << name_of(strategy);
    ASSERT_FALSE(report.notes.empty());
    EXPECT_TRUE(report.notes.back().starts_with("The weights lie in 2 files: 20 ns"));
  }
}

// Three layers of 1 MiB and a byte, a file each: the last page of every file is read, and the pages
// at the borders are no longer shared.
TEST(WeightFilesTest, EachMappedFileEndsWithAPageOfItsOwn) {
  Scenario scenario = layer_scenario({}, StrategyKind::kMmap);
  for (const char* name : {"a", "b", "c"}) {
    std::get<LayerListSpec>(scenario.model.dims).layers.push_back({name, 1_MiB + Bytes::of(1), {}});
  }
  scenario.device.page_size = 4_KiB;
  scenario.device.flash_latency = Duration::us(10);
  const SimReport one = run(scenario).report;
  scenario.residency.split_files = 3;
  const SimReport three = run(scenario).report;
  EXPECT_EQ(one.bytes_read, 3_MiB + 4_KiB);
  EXPECT_EQ(three.bytes_read, 3_MiB + 3 * 4_KiB);
  EXPECT_EQ(three.peak, 3_MiB + 3 * 4_KiB);
  // Two pages more at 1 B/ns, and three files opened.
  EXPECT_EQ(three.stages.read - one.stages.read, Duration::ns(2 * 4096 + 3 * 10'000));
}

TEST(WeightFilesLaws, PiecesCoverUnitsAndFiles) {
  EXPECT_TRUE(rc::check("in order, without gaps, whole tensors", [] {
    const Scenario scenario = decoder_scenario(*rc::gen::inRange(1, 5), StrategyKind::kResident);
    const MemoryPlan plan = plan_of(scenario);
    ResidencyChoices choices;
    if (*rc::gen::arbitrary<bool>()) {
      choices.split_files = *rc::gen::inRange(1, 12);
    } else {
      choices.split_size = Bytes::of(*rc::gen::inRange(1, 40'000));
    }
    const WeightFiles files = weight_files(plan.units, plan.weights, choices);
    size_t file = 0;
    Bytes at;
    std::vector<Bytes> filled(files.sizes.size());
    for (size_t unit = 0; unit < plan.units.size(); ++unit) {
      Bytes bytes;
      for (const FilePiece& each : files.pieces[unit]) {
        if (each.file != file) {
          RC_ASSERT(each.file == file + 1);
          RC_ASSERT(at == files.sizes[file]);
          file = each.file;
          at = Bytes{};
        }
        RC_ASSERT(each.range.lower == at);
        at = each.range.upper;
        bytes += each.range.upper - each.range.lower;
      }
      RC_ASSERT(bytes == plan.units[unit].bytes);
    }
    RC_ASSERT(at == files.sizes.back());
    if (choices.split_files > 0) {
      RC_ASSERT(static_cast<int64_t>(files.sizes.size()) <= choices.split_files);
    }
    Bytes largest;
    for (const WeightTensor& tensor : plan.weights.tensors)
      largest = std::max(largest, tensor.bytes);
    for (const Bytes size : files.sizes) {
      RC_ASSERT(size > Bytes{});
      if (choices.split_size > Bytes{}) RC_ASSERT(size <= std::max(choices.split_size, largest));
    }
  }));
}

// One latency for each file, and one more for each piece of a unit but its first, at every read.
TEST(WeightFilesLaws, TheTimeIsThatOfTheRequestsMore) {
  EXPECT_TRUE(rc::check("opens and further requests", [] {
    const StrategyKind strategy =
        *rc::gen::element(StrategyKind::kResident, StrategyKind::kLayerwise);
    Scenario scenario = decoder_scenario(*rc::gen::inRange(1, 4), strategy);
    scenario.device.flash_latency = Duration::ns(*rc::gen::inRange(0, 1000));
    const Duration one = run(scenario).report.end;
    scenario.residency.split_files = *rc::gen::inRange(1, 12);
    const MemoryPlan plan = plan_of(scenario);
    const WeightFiles files = weight_files(plan.units, plan.weights, scenario.residency);
    int64_t requests = static_cast<int64_t>(files.sizes.size());
    const auto more = [&](UnitId unit) {
      return static_cast<int64_t>(files.pieces[unit.index()].size()) - 1;
    };
    if (strategy == StrategyKind::kResident) {
      for (size_t i = 0; i < plan.units.size(); ++i) requests += more(UnitId::of(i));
    } else {
      // Two ubatches of the prompt, four further tokens.
      for (const UnitUse& use : plan.prefill.uses) requests += 2 * more(use.unit);
      for (const UnitUse& use : plan.decode.uses) requests += 4 * more(use.unit);
    }
    RC_ASSERT(run(scenario).report.end == one + scenario.device.flash_latency * requests);
  }));
}

}  // namespace
}  // namespace tidemark

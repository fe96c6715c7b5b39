// How far the weights have come, by hand and for every strategy.
#include "sim/strategy/load_progress.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "scenarios.h"
#include "sim/strategy/weight_store.h"

namespace tidemark {
namespace {

using testing::layer_scenario;
using testing::run;

std::string lines(const std::vector<SimEvent>& events) {
  std::string text;
  for (const SimEvent& event : events) {
    if (event.what == "progress") {
      text += fmt::format("{} {}; ", event.time.count(), event.detail);
    }
  }
  return text;
}

TEST(LoadProgressTest, FourUnits) {
  Scenario scenario{.device = testing::round_device()};
  scenario.load.initialise = BytesPerSecond::of(500'000'000);
  const std::vector<WeightUnit> units(4, {"u", Bytes::of(100), {}});
  Simulation simulation;
  MemoryLedger ledger(simulation, {});
  LoadProgress progress(simulation, std::vector<Bytes>(4, Bytes::of(100)), true);
  WeightStore store(simulation, scenario, units, ledger, nullptr);
  store.tell(&progress);
  for (int64_t unit = 0; unit < 4; ++unit) store.read(UnitId(unit), nullptr);
  simulation.run();
  store.read(UnitId(0), nullptr);  // again: nothing new
  simulation.run();
  EXPECT_EQ(lines(progress.take_events()),
            "100 25 % of the weights read; 200 50 % of the weights read; "
            "300 25 % of the weights initialised; 300 75 % of the weights read; "
            "400 all weights read; 500 50 % of the weights initialised; "
            "700 75 % of the weights initialised; 900 all weights initialised; ");
}

// Reads of 100, 200, 300 ns; a sixth and a half are there after the first two.
Scenario three_layers(StrategyKind strategy) {
  Scenario scenario = layer_scenario(
      {{"a", Bytes::of(100), {}}, {"b", Bytes::of(200), {}}, {"c", Bytes::of(300), {}}}, strategy);
  scenario.generate = Tokens(3);
  scenario.device.page_size = Bytes::of(1);
  return scenario;
}

TEST(LoadProgressTest, EverythingBeforeTheFirstPass) {
  EXPECT_EQ(lines(run(three_layers(StrategyKind::kResident)).report.events),
            "300 25 % of the weights; 300 50 % of the weights; 600 75 % of the weights; "
            "600 all weights; 600 first layer; 660 first token; ");
}

// r a 0-100, a -110, r b -310, b -330, r c -630, c -660; the passes after it tell nothing more.
TEST(LoadProgressTest, LayerByLayer) {
  EXPECT_EQ(lines(run(three_layers(StrategyKind::kLayerwise)).report.events),
            "100 first layer; 310 25 % of the weights; 310 50 % of the weights; "
            "630 75 % of the weights; 630 all weights; 660 first token; ");
}

TEST(LoadProgressTest, InstantsOfATraceSayTheSame) {
  const SimResult result = run(three_layers(StrategyKind::kResident), {.trace = true});
  ASSERT_EQ(result.trace.instants.size(), 6U);
  EXPECT_EQ(result.trace.instants[3].name, "progress");
  EXPECT_EQ(result.trace.instants[3].detail, "all weights");
  EXPECT_EQ(result.trace.instants[3].time, Duration::ns(600));
}

// A warm cache: each unit is there when it is touched. 10 ns of compute, then the first half.
TEST(LoadProgressTest, AMappedFileThatIsThere) {
  Scenario scenario = three_layers(StrategyKind::kMmap);
  scenario.load.is_cached = true;
  EXPECT_EQ(lines(run(scenario).report.events),
            "10 25 % of the weights; 10 50 % of the weights; 30 75 % of the weights; "
            "30 all weights; 60 first token; ");
}

TEST(LoadProgressLaws, FourQuartersOnceEachByTheFirstToken) {
  EXPECT_TRUE(rc::check("25, 50, 75, all in order, before the first token", [] {
    Scenario scenario = three_layers(
        *rc::gen::elementOf(std::vector<StrategyKind>(strategies().begin(), strategies().end())));
    for (PlainLayer& layer : std::get<LayerListSpec>(scenario.model.dims).layers) {
      layer.weights = Bytes::of(*rc::gen::inRange(0, 1000));
    }
    std::get<LayerListSpec>(scenario.model.dims).layers.front().weights += Bytes::of(1);
    scenario.cache.capacity = Bytes::of(*rc::gen::inRange(1001, 4000));
    const SimReport report = run(scenario).report;
    std::vector<std::string> told;
    Duration last;
    for (const SimEvent& event : report.events) {
      RC_ASSERT(event.time >= last);
      last = event.time;
      if (event.detail.find("weights") == std::string::npos) continue;
      told.push_back(event.detail);
      RC_ASSERT(event.time <= report.ttft);
    }
    RC_ASSERT(told == (std::vector<std::string>{"25 % of the weights", "50 % of the weights",
                                                "75 % of the weights", "all weights"}));
  }));
}

}  // namespace
}  // namespace tidemark

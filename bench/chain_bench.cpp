// How long the chain takes for one scenario, stage by stage: MiniCPM-2B at int4, 4,096 tokens, on
// the phone.
#include <benchmark/benchmark.h>

#include "planner/capacity/memory_plan.h"
#include "planner/config/settings.h"
#include "sim/strategy/simulate.h"

namespace tidemark {
namespace {

SettingMap settings(const std::string& strategy, const std::string& generate) {
  return {{"model", {.text = "minicpm-2b"}},
          {"quant", {.text = "int4"}},
          {"strategy", {.text = strategy}},
          {"generate", {.text = generate}}};
}

void resolve(benchmark::State& state) {
  const SettingMap map = settings("resident", "32");
  for (auto _ : state) benchmark::DoNotOptimize(resolve_scenario(map));
}
BENCHMARK(resolve)->Unit(benchmark::kMicrosecond);

void plan_whole_chain(benchmark::State& state) {
  const Scenario scenario = resolve_scenario(settings("resident", "32")).value();
  for (auto _ : state) benchmark::DoNotOptimize(plan_scenario(scenario));
}
BENCHMARK(plan_whole_chain)->Unit(benchmark::kMicrosecond);

void simulate_passes(benchmark::State& state, const std::string& strategy) {
  const Scenario scenario =
      resolve_scenario(settings(strategy, std::to_string(state.range(0)))).value();
  const MemoryPlan plan = plan_scenario(scenario).value();
  for (auto _ : state) benchmark::DoNotOptimize(simulate(scenario, plan));
}
BENCHMARK_CAPTURE(simulate_passes, resident, "resident")
    ->Arg(32)
    ->Arg(512)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(simulate_passes, layerwise, "layerwise")
    ->Arg(32)
    ->Arg(512)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(simulate_passes, double_buffer, "double-buffer")
    ->Arg(32)
    ->Arg(512)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(simulate_passes, block_cache, "block-cache")
    ->Arg(32)
    ->Arg(512)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tidemark

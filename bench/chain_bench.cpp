// How long the chain takes for one scenario, stage by stage: MiniCPM-2B at int4, 4,096 tokens, on
// the phone.
#include <benchmark/benchmark.h>

#include "planner/capacity/memory_plan.h"
#include "planner/config/settings.h"
#include "planner/import/hf/hf_config.h"
#include "planner/report/import_report.h"
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

// A sizes-only query: config.json -> parameters, weights as stored, KV cache and state.
void import_config(benchmark::State& state) {
  const std::string text = R"({
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8192,
    "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64,
    "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
    "rms_norm_eps": 1e-05, "rope_theta": 500000.0, "tie_word_embeddings": false,
    "torch_dtype": "bfloat16"})";
  for (auto _ : state) {
    const Result<ImportedModel> imported = parse_hf_config("config.json", text, {});
    benchmark::DoNotOptimize(make_import_report(imported.value()));
  }
}
BENCHMARK(import_config)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tidemark

// A whole simulated run of a model of 32 layers: the time it takes, and the bytes its result holds.
//
//   run_bench [REPETITIONS]
//
// CPU time of one thread: the median of the repetitions, with the least and the most.
#include <fmt/core.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "planner/capacity/memory_plan.h"
#include "planner/config/settings.h"
#include "sim/strategy/simulate.h"
#include "spread.h"

namespace tidemark {
namespace {

template <typename T>
T value_of(Result<T> result) {
  if (result) return std::move(result).value();
  fmt::print(stderr, "{}", to_string(result.diagnostics()));
  std::exit(2);
}

Scenario scenario(const std::string& strategy, const std::string& generate) {
  return value_of(resolve_scenario({{"model", {.text = "llama-2-7b"}},
                                    {"quant", {.text = "int4"}},
                                    {"strategy", {.text = strategy}},
                                    {"generate", {.text = generate}}}));
}

void print_run(int repeat) {
  fmt::print("llama-2-7b (32 layers) int4, 128 + 512 tokens: plan, and simulate, in ms\n\n");
  for (const char* strategy : {"resident", "layerwise", "double-buffer", "block-cache"}) {
    const Scenario run = scenario(strategy, "512");
    std::vector<double> planning;
    std::vector<double> simulating;
    for (int i = 0; i < repeat; ++i) {
      const double start = cpu_seconds();
      const MemoryPlan plan = value_of(plan_scenario(run));
      const double planned = cpu_seconds();
      const SimResult result = value_of(simulate(run, plan));
      simulating.push_back((cpu_seconds() - planned) * 1e3);
      planning.push_back((planned - start) * 1e3);
    }
    const Spread plan = spread_of(planning);
    const Spread simulated = spread_of(simulating);
    fmt::print("{:<16}{:>6.1f} ({:.1f}-{:.1f})  {:>6.1f} ({:.1f}-{:.1f})\n", strategy, plan.median,
               plan.least, plan.most, simulated.median, simulated.least, simulated.most);
  }
  fmt::print("\n");
}

void print_memory() {
  fmt::print("Bytes held by a result of simulate, 32 and 512 tokens\n\n");
  for (const char* strategy : {"resident", "layerwise", "double-buffer", "block-cache"}) {
    fmt::print("{:<16}", strategy);
    for (const char* tokens : {"32", "512"}) {
      const Scenario run = scenario(strategy, tokens);
      const MemoryPlan plan = value_of(plan_scenario(run));
      const int64_t before = bytes_held();
      const SimResult result = value_of(simulate(run, plan));
      fmt::print("  {:>8}", bytes_held() - before);
    }
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  tidemark::print_run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 7);
  tidemark::print_memory();
  return 0;
}

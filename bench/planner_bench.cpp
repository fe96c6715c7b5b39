// Planning time against the number of buffers, planner beside planner in one run, on the instances
// of random_problem.h.
#include <benchmark/benchmark.h>

#include "planner/alloc/planners.h"
#include "planner/alloc/validate.h"
#include "random_problem.h"

namespace tidemark {
namespace {

void place(benchmark::State& state, PlannerKind kind) {
  const Problem problem = random_problem(state.range(0));
  Plan last;
  for (auto _ : state) {
    last = plan(problem, kind);
    benchmark::DoNotOptimize(last);
  }
  state.counters["peak/load"] =
      static_cast<double>(last.peak.count()) / static_cast<double>(last.lower_bound.count());
}
BENCHMARK_CAPTURE(place, no_reuse, PlannerKind::kNoReuse)
    ->RangeMultiplier(10)
    ->Range(10, 10000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(place, first_fit_by_size, PlannerKind::kFirstFitBySize)
    ->RangeMultiplier(10)
    ->Range(10, 10000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(place, best_fit_by_start, PlannerKind::kBestFitByStart)
    ->RangeMultiplier(10)
    ->Range(10, 10000)
    ->Unit(benchmark::kMicrosecond);

// The naive judge, which every plan passes before anyone sees it.
void judge(benchmark::State& state) {
  const Problem problem = random_problem(state.range(0));
  const Plan placed = plan(problem, PlannerKind::kFirstFitBySize);
  for (auto _ : state) benchmark::DoNotOptimize(validate(problem, placed));
}
BENCHMARK(judge)->RangeMultiplier(10)->Range(10, 10000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tidemark

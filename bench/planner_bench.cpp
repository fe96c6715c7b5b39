// Planning time against the number of buffers, planner beside planner in one run. Instances are
// random but seeded: sizes of 1 to 4,096 units, lifetimes of 1 to 64 steps, about 40 buffers live
// at a time.
#include <benchmark/benchmark.h>

#include <random>

#include "planner/alloc/planners.h"
#include "planner/alloc/validate.h"

namespace tidemark {
namespace {

Problem random_problem(int64_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(count));
  Problem problem;
  for (int64_t i = 0; i < count; ++i) {
    const auto start = static_cast<int64_t>(random() % static_cast<uint64_t>(count));
    const auto length = static_cast<int64_t>(1 + random() % 64);
    problem.buffers.push_back({.size = Bytes::of(static_cast<int64_t>(1 + random() % 4096)),
                               .lifetime = {start, start + length}});
  }
  return problem;
}

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

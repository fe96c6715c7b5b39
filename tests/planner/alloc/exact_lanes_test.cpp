// Runs side by side: threads and the order in which they happen to end change nothing.
#include "planner/alloc/exact_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "cut_box.h"
#include "planner/alloc/exact.h"
#include "planner/alloc/validate.h"

namespace tidemark {
namespace {

using exact::Instance;
using exact::Lanes;
using exact::Outcome;
using exact::RunResult;

using Tasks = std::span<const std::function<void()>>;

void on_threads(Tasks tasks) {
  std::vector<std::jthread> threads;
  threads.reserve(tasks.size());
  for (const auto& task : tasks) threads.emplace_back([&task] { task(); });
}

// The last ends first: whatever solves there must not be taken for the winner.
void backward(Tasks tasks) {
  for (size_t i = tasks.size(); i-- > 0;) tasks[i]();
}

std::vector<Executor> executors() { return {{}, on_threads, backward}; }

std::vector<int32_t> largest_part(const Instance& instance) {
  const auto parts = exact::independent_parts(instance);
  return *std::ranges::max_element(parts, {}, [](const auto& part) { return part.size(); });
}

// What can be seen of a batch of runs.
struct Seen {
  std::vector<std::pair<Outcome, int64_t>> results{};
  std::vector<int64_t> offsets{};
  int64_t nodes = 0;
  bool operator==(const Seen&) const = default;
};

// Eight batches of short runs, one after the other: what they saw fail is used again.
std::vector<Seen> batches(const Problem& problem, const Executor& run_all) {
  const Instance instance = exact::make_instance(problem);
  const std::vector<int32_t> part = largest_part(instance);
  const std::function<bool()> stop;
  Lanes lanes(instance, {}, size_t{1} << 20, stop, run_all);
  lanes.set_capacity(peak_load(problem));
  std::vector<Seen> seen;
  for (uint64_t batch = 0; batch < 8; ++batch) {
    std::vector<exact::Run> runs;
    for (uint64_t i = 0; i < exact::kLanes; ++i) {
      runs.push_back({exact::random_order(7, batch * exact::kLanes + i), {.nodes = 320}});
    }
    Seen now;
    for (const RunResult& result : lanes.run(part, runs)) {
      now.results.emplace_back(result.outcome, result.least_left);
    }
    now.nodes = lanes.nodes();
    if (now.results.back().first == Outcome::kSolved) now.offsets = lanes.offsets();
    seen.push_back(std::move(now));
  }
  return seen;
}

TEST(ExactLanesTest, ThreadsChangeNothing) {
  size_t winners_in_the_middle = 0;
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    const Problem problem = cut_box(seed, 160);
    const std::vector<Seen> one_by_one = batches(problem, {});
    for (const Executor& executor : executors()) EXPECT_EQ(batches(problem, executor), one_by_one);
    for (const Seen& seen : one_by_one) {
      const size_t results = seen.results.size();
      if (seen.results.back().first == Outcome::kSolved && 1 < results && results < exact::kLanes) {
        ++winners_in_the_middle;
      }
    }
  }
  // Else there would be nothing to get wrong.
  EXPECT_GE(winners_in_the_middle, 5U);
}

// With these rules alone the search is poor enough to go through all of its rounds.
exact::Rules few_rules() { return {.release_bound = false, .blocked_bound = false}; }

// Deciding and minimising, as a caller sees them.
TEST(ExactLanesTest, ThreadsChangeNoPlan) {
  const Problem problem = cut_box(2, 100);
  const Plan start = plan(problem, PlannerKind::kNoReuse);
  std::vector<Plan> decided;
  std::vector<Plan> minimised;
  for (const Executor& executor : executors()) {
    ExactOptions options{.node_limit = 30'000, .run_all = executor, .rules = few_rules()};
    decided.push_back(decide(problem, Bytes::of(64), options));
    options.node_limit = 120'000;
    minimised.push_back(minimise(problem, start, options));
    EXPECT_TRUE(validate(problem, minimised.back()).empty());
  }
  for (const auto& plans : {decided, minimised}) {
    for (const Plan& made : plans) {
      EXPECT_LE(made.nodes, 120'000);
      EXPECT_EQ(made.offsets, plans.front().offsets);
      EXPECT_EQ(made.nodes, plans.front().nodes);
      EXPECT_EQ(made.status, plans.front().status);
      EXPECT_EQ(made.lower_bound, plans.front().lower_bound);
    }
  }
}

// decide() makes its first, cheap rounds without the executor, and later ones with it.
TEST(ExactLanesTest, OnlyLaterRoundsUseTheExecutor) {
  int batches = 0;
  const auto counting = [&](Tasks tasks) {
    EXPECT_EQ(tasks.size(), exact::kLanes);
    ++batches;
    backward(tasks);
  };
  EXPECT_EQ(decide(five_buffers(), Bytes::of(12), {.run_all = counting}).peak.count(), 12);
  EXPECT_EQ(batches, 0);
  decide(cut_box(2, 100), Bytes::of(64),
         {.node_limit = 30'000, .run_all = counting, .rules = few_rules()});
  EXPECT_GT(batches, 0);
  batches = 0;
  minimise(cut_box(2, 100), plan(cut_box(2, 100), PlannerKind::kNoReuse),
           {.node_limit = 120'000, .run_all = counting, .rules = few_rules()});
  EXPECT_GT(batches, 0);
}

}  // namespace
}  // namespace tidemark

// The exact search against two oracles that share nothing with it (oracles.h): every placement
// painted on a grid, and a SAT solver.
#include "oracles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "hard_problems.h"
#include "planner/alloc/exact.h"
#include "planner/alloc/validate.h"
#include "problems.h"

namespace tidemark {
namespace {

// What a random problem may hold besides sizes and lifetimes.
struct Spice {
  bool alignments = false;
  bool gaps = false;
  bool fixed = false;
};

class RandomProblems {
 public:
  explicit RandomProblems(uint32_t seed) : random_(seed) {}

  int64_t below(int64_t limit) { return static_cast<int64_t>(random_()) % limit; }

  Problem next(int64_t buffers, int64_t instants, Spice spice) {
    Problem problem;
    for (int64_t i = 0; i < buffers; ++i) {
      const int64_t lower = below(instants);
      const int64_t upper = lower + 1 + below(std::min<int64_t>(5, instants - lower));
      Buffer made = buffer("", lower, upper, below(20) == 0 ? 0 : 1 + below(7));
      if (spice.alignments) made.alignment = Alignment::of(int64_t{1} << below(4));
      if (spice.gaps && below(2) == 0) {
        const int64_t gap = lower + below(3);
        made.gaps.push_back({gap, gap + below(3)});
      }
      if (spice.fixed && below(3) == 0) {
        made.offset = align_up(Bytes::of(below(8)), made.alignment);
      }
      problem.buffers.push_back(made);
    }
    return problem;
  }

  // Seven buffers that hardly fit, with one size or life changed.
  Problem nearly_seven() {
    Problem problem = seven_buffers().problem;
    Buffer& changed = problem.buffers[static_cast<size_t>(below(7))];
    if (below(2) == 0) {
      changed.size = Bytes::of(1 + below(3));
    } else {
      changed.lifetime.upper = changed.lifetime.lower + 1 + below(5);
    }
    return problem;
  }

  // Without a free byte at any instant, as long as the buffers last: plans that meet the load are
  // rare or there are none.
  Problem full(int64_t buffers, int64_t instants, int64_t load) {
    Problem problem;
    std::vector<int64_t> left(static_cast<size_t>(instants), load);
    for (int64_t t = 0; t < instants && std::ssize(problem.buffers) < buffers;) {
      const int64_t room = left[static_cast<size_t>(t)];
      if (room == 0) {
        ++t;
        continue;
      }
      const int64_t upper = std::min(instants, t + 1 + below(5));
      const int64_t size = 1 + below(std::min<int64_t>(3, room));
      problem.buffers.push_back(buffer("", t, upper, size));
      for (int64_t at = t; at < upper; ++at) left[static_cast<size_t>(at)] -= size;
    }
    return problem;
  }

 private:
  std::mt19937 random_;
};

// What was asked, so that a test can say that neither answer was rare.
struct Tally {
  int fits = 0;
  int below_load = 0;  // infeasible, as the load alone shows
  int above_load = 0;  // infeasible although the load is no higher
  int impossible = 0;  // no capacity would do
};

// decide() at `capacity` must say what `optimum` implies.
void expect_answer(const Problem& problem, std::optional<int64_t> optimum, int64_t capacity,
                   Tally& tally) {
  const Plan made = decide(problem, Bytes::of(capacity));
  if (optimum && *optimum <= capacity) {
    ASSERT_FALSE(made.offsets.empty()) << name_of(made.status) << " at " << capacity;
    ASSERT_TRUE(validate(problem, made).empty());
    ASSERT_LE(made.peak.count(), capacity);
    ++tally.fits;
    return;
  }
  ASSERT_EQ(made.status, PlanStatus::kInfeasible) << "at " << capacity;
  ASSERT_TRUE(made.offsets.empty());
  if (!optimum) {
    ++tally.impossible;
  } else {
    ++(capacity < load_instant_by_instant(problem) ? tally.below_load : tally.above_load);
  }
}

void expect_answers(const Problem& problem, std::optional<int64_t> optimum, RandomProblems& random,
                    Tally& tally) {
  const int64_t load = load_instant_by_instant(problem);
  const int64_t highest = optimum.value_or(load + 8);
  if (highest == 0) return;  // nothing is ever live
  const int64_t between = load + random.below(highest - load + 1);
  for (const int64_t capacity : {load - 1, load, between, highest - 1, highest, highest + 3}) {
    expect_answer(problem, optimum, capacity, tally);
    if (testing::Test::HasFatalFailure()) return;
  }
}

testing::AssertionResult is_optimal(const Problem& problem, int64_t optimum) {
  const Plan made = minimise(problem, plan(problem, PlannerKind::kNoReuse));
  if (!validate(problem, made).empty()) return testing::AssertionFailure() << "not valid";
  if (made.status == PlanStatus::kProvedOptimal && made.peak.count() == optimum) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << name_of(made.status) << " at " << made.peak.count();
}

// Is `optimum` the lowest capacity to which the solver says yes?
bool is_optimal_by_sat(const Problem& problem, int64_t optimum) {
  return fits_by_sat(problem, optimum) && !fits_by_sat(problem, optimum - 1);
}

struct SpiceCase {
  const char* name = "";
  Spice spice{};
  int least_above_load = 0;  // answers "no" although the load fits
};

class PaintingTest : public testing::TestWithParam<SpiceCase> {};

TEST_P(PaintingTest, DecideAndMinimiseAgreeOn2500Problems) {
  RandomProblems random(5);
  Tally tally;
  for (int i = 0; i < 2500; ++i) {
    // Seven buffers have 5,040 orders: mostly fewer.
    const int64_t buffers = i % 10 == 0 ? 7 : 2 + random.below(5);
    const Problem problem = i % 25 == 0
                                ? random.nearly_seven()
                                : random.next(buffers, 6 + random.below(4), GetParam().spice);
    const std::optional<int64_t> optimum = optimum_by_painting(problem);
    expect_answers(problem, optimum, random, tally);
    if (HasFatalFailure()) FAIL() << "problem " << i;
    if (optimum) {
      ASSERT_TRUE(is_optimal(problem, *optimum)) << "problem " << i;
    }
  }
  EXPECT_GT(tally.fits, 2500);
  EXPECT_GT(tally.below_load, 1500);
  EXPECT_GE(tally.above_load, GetParam().least_above_load);
  EXPECT_EQ(tally.impossible > 500, GetParam().spice.fixed);
}

INSTANTIATE_TEST_SUITE_P(All, PaintingTest,
                         testing::Values(SpiceCase{"Plain", {}, 50},
                                         SpiceCase{"Aligned", {.alignments = true}, 1000},
                                         SpiceCase{"Gapped", {.gaps = true}, 100},
                                         SpiceCase{"Everything", {true, true, true}, 1000}),
                         [](const auto& row) { return row.param.name; });

class HardProblemTest : public testing::TestWithParam<HardProblem> {};

// Proofs by hand stand beside the first four; the rest is left to the oracles.
TEST_P(HardProblemTest, IsSolvedAboveItsLoadWithProof) {
  const auto& [name, problem, load, optimum] = GetParam();
  EXPECT_EQ(load_instant_by_instant(problem), load);
  EXPECT_EQ(decide(problem, Bytes::of(optimum - 1)).status, PlanStatus::kInfeasible);
  EXPECT_TRUE(is_optimal(problem, optimum));
  if (problem.buffers.size() <= 7) {
    EXPECT_EQ(optimum_by_painting(problem), optimum);
  }
  if (has_sat_solver()) {
    EXPECT_TRUE(is_optimal_by_sat(problem, optimum));
  } else {
    GTEST_SKIP() << "minisat is not installed: not asked";
  }
}

INSTANTIATE_TEST_SUITE_P(All, HardProblemTest, testing::ValuesIn(hard_problems()),
                         [](const auto& row) { return row.param.name; });

TEST(SevenBuffersTest, NoneCanBeLeftOut) {
  const Problem seven = seven_buffers().problem;
  for (size_t i = 0; i < seven.buffers.size(); ++i) {
    Problem six = seven;
    six.buffers.erase(six.buffers.begin() + static_cast<int64_t>(i));
    EXPECT_EQ(optimum_by_painting(six), 4) << seven.buffers[i].name;
  }
}

class SatTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_sat_solver()) GTEST_SKIP() << "minisat is not installed";
  }
};

TEST_F(SatTest, MinimiseAgreesOnProblemsOf8To14Buffers) {
  RandomProblems random(6);
  int above_load = 0;
  int impossible = 0;
  for (int i = 0; i < 300; ++i) {
    const int64_t buffers = 8 + random.below(7);
    const Problem problem = i % 2 == 0 ? random.full(buffers, 9, 6 + random.below(3))
                                       : random.next(buffers, 10, {true, i % 4 == 1, i % 8 == 1});
    const Plan made = minimise(problem, plan(problem, PlannerKind::kNoReuse));
    if (made.offsets.empty()) {
      ++impossible;
      EXPECT_FALSE(fits_by_sat(problem, kAddresses)) << "problem " << i;
      continue;
    }
    ASSERT_EQ(made.status, PlanStatus::kProvedOptimal) << "problem " << i;
    ASSERT_TRUE(is_optimal_by_sat(problem, made.peak.count())) << "problem " << i;
    if (made.peak.count() > load_instant_by_instant(problem)) ++above_load;
  }
  EXPECT_GT(above_load, 60);
  EXPECT_GT(impossible, 10);
}

}  // namespace
}  // namespace tidemark

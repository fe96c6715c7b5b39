// The exact planner against exhaustive placement, its rules one by one, and cases worked by hand.
#include "planner/alloc/exact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "planner/alloc/conflict.h"
#include "planner/alloc/csv.h"
#include "planner/alloc/validate.h"
#include "planner/base/files.h"
#include "problems.h"

namespace tidemark {
namespace {

using exact::Rules;
using testing::ElementsAre;

struct RuleCase {
  std::string name{};
  bool Rules::*rule = nullptr;
  bool saves_on_crowds = true;  // dominance and spans save only in proofs
};

std::vector<RuleCase> all_rules() {
  return {{"ReleaseBound", &Rules::release_bound},
          {"BlockedBound", &Rules::blocked_bound},
          {"Dominance", &Rules::dominance, false},
          {"SameShape", &Rules::same_shape},
          {"SameSpan", &Rules::same_span, false},
          {"Decompose", &Rules::decompose},
          {"Rerank", &Rules::rerank},
          {"FailedStates", &Rules::failed_states}};
}

// Up to `largest` buffers at few instants, so that they crowd; sometimes aligned.
Problem crowded(std::mt19937& random, size_t largest) {
  Problem problem;
  const size_t count = 1 + random() % largest;
  const bool aligned = random() % 4 == 0;
  for (size_t i = 0; i < count; ++i) {
    const auto lower = static_cast<int64_t>(random() % 6);
    const auto length = static_cast<int64_t>(1 + random() % 4);
    const auto size = static_cast<int64_t>(1 + random() % 7);
    const int64_t alignment = aligned ? int64_t{1} << random() % 3 : 1;
    problem.buffers.push_back(buffer("", lower, lower + length, size, alignment));
  }
  return problem;
}

// decide() at the optimum and just below it must say yes and no.
void expect_exact(const Problem& problem, int64_t optimum, const ExactOptions& options) {
  const Plan fits = decide(problem, Bytes::of(optimum), options);
  ASSERT_FALSE(fits.offsets.empty()) << name_of(fits.status);
  EXPECT_TRUE(validate(problem, fits).empty());
  EXPECT_LE(fits.peak.count(), optimum);
  EXPECT_EQ(decide(problem, Bytes::of(optimum - 1), options).status, PlanStatus::kInfeasible);
}

TEST(ExactTest, FiveBuffers) {
  EXPECT_EQ(decide(five_buffers(), Bytes::of(12)).status, PlanStatus::kProvedOptimal);
  EXPECT_EQ(decide(five_buffers(), Bytes::of(13)).status, PlanStatus::kProvedOptimal);
  EXPECT_EQ(decide(five_buffers(), Bytes::of(11)).status, PlanStatus::kInfeasible);
}

TEST(ExactTest, AgreesWithTryingEverything) {
  std::mt19937 random(1);
  int above_load = 0;
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = crowded(random, i % 200 == 0 ? 7 : 5);
    const int64_t optimum = optimal_peak(problem);
    above_load += optimum > naive_peak_load(problem) ? 1 : 0;
    expect_exact(problem, optimum, {});
    if (HasFatalFailure()) return;
  }
  // Enough cases in which the bound alone decides nothing.
  EXPECT_GT(above_load, 300);
}

TEST(ExactTest, EveryCombinationOfRulesGivesTheSameAnswer) {
  std::mt19937 random(2);
  const std::vector<RuleCase> rules = all_rules();
  for (int i = 0; i < 60; ++i) {
    const Problem problem = crowded(random, 6);
    const int64_t optimum = optimal_peak(problem);
    for (unsigned bits = 0; bits < 1U << rules.size(); ++bits) {
      ExactOptions options;
      for (size_t k = 0; k < rules.size(); ++k) options.rules.*rules[k].rule = (bits >> k & 1) != 0;
      expect_exact(problem, optimum, options);
      if (HasFatalFailure()) return;
    }
  }
}

// Crowds of sixty, with twins in shape and span, each searched at its load for at most 2,000 nodes:
// what a rule saves is counted low.
int64_t nodes_on_crowds(const Rules& rules) {
  std::mt19937 random(4);
  int64_t nodes = 0;
  for (int crowd = 0; crowd < 40; ++crowd) {
    Problem problem;
    for (int i = 0; i < 60; ++i) {
      const auto lower = static_cast<int64_t>(random() % 24);
      const auto length = static_cast<int64_t>(1 + random() % 9);
      const auto size = static_cast<int64_t>(3 + random() % 12);
      problem.buffers.push_back(buffer("", lower, lower + length, size));
      if (random() % 4 == 0) problem.buffers.push_back(problem.buffers.back());
    }
    nodes += decide(problem, peak_load(problem), {.node_limit = 2000, .rules = rules}).nodes;
  }
  return nodes;
}

class RuleTest : public testing::TestWithParam<RuleCase> {};

TEST_P(RuleTest, SavesNodes) {
  Rules without;
  without.*GetParam().rule = false;
  const int64_t with_all = nodes_on_crowds({});
  const int64_t without_it = nodes_on_crowds(without);
  EXPECT_LT(with_all, without_it);
  RecordProperty("nodes_with", std::to_string(with_all));
  RecordProperty("nodes_without", std::to_string(without_it));
}

std::vector<RuleCase> saving_rules() {
  std::vector<RuleCase> rules = all_rules();
  std::erase_if(rules, [](const RuleCase& rule) { return !rule.saves_on_crowds; });
  return rules;
}

INSTANTIATE_TEST_SUITE_P(All, RuleTest, testing::ValuesIn(saving_rules()),
                         [](const auto& row) { return row.param.name; });

// Eleven buffers of few lifetimes, three of them at multiples of 8, just below their optimum where
// that is above the load: all must be tried, and no plan is found early by luck.
int64_t nodes_of_proofs(const Rules& rules) {
  std::mt19937 random(5);
  const auto any = [&](int64_t lengths, int64_t alignment) {
    const auto lower = static_cast<int64_t>(random() % 3);
    const int64_t length = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(lengths));
    return buffer("", lower, lower + length, static_cast<int64_t>(1 + random() % 7), alignment);
  };
  int64_t nodes = 0;
  for (int proofs = 0; proofs < 30;) {
    Problem problem;
    for (int i = 0; i < 8; ++i) problem.buffers.push_back(any(2, 1));
    for (int i = 0; i < 3; ++i) problem.buffers.push_back(any(3, 8));
    const Plan best = minimise(problem, plan(problem, PlannerKind::kFirstFitBySize));
    if (best.peak == peak_load(problem)) continue;
    ++proofs;
    const Plan below =
        decide(problem, best.peak - Bytes::of(1), {.node_limit = 5000, .rules = rules});
    EXPECT_TRUE(below.offsets.empty());
    nodes += below.nodes;
  }
  return nodes;
}

class ProofRuleTest : public testing::TestWithParam<RuleCase> {};

TEST_P(ProofRuleTest, SavesNodes) {
  Rules without;
  without.*GetParam().rule = false;
  EXPECT_LT(nodes_of_proofs({}), nodes_of_proofs(without));
}

// Ranking a part anew brings a plan sooner, but no proof.
std::vector<RuleCase> rules_for_proofs() {
  std::vector<RuleCase> rules = all_rules();
  std::erase_if(rules, [](const RuleCase& rule) { return rule.rule == &Rules::rerank; });
  return rules;
}

INSTANTIATE_TEST_SUITE_P(All, ProofRuleTest, testing::ValuesIn(rules_for_proofs()),
                         [](const auto& row) { return row.param.name; });

TEST(ExactTest, MinimiseEndsAtTheOptimumWithProof) {
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    const Problem problem = crowded(random, 6);
    const Plan made = minimise(problem, plan(problem, PlannerKind::kNoReuse));
    EXPECT_EQ(made.status, PlanStatus::kProvedOptimal);
    EXPECT_EQ(made.peak.count(), optimal_peak(problem));
    EXPECT_TRUE(validate(problem, made).empty());
  }
}

// Two of 4 at multiples of 8: the second begins at 8.
TEST(ExactTest, TheBoundCountsPadding) {
  const Problem problem{{buffer("a", 0, 2, 4, 8), buffer("b", 0, 2, 4, 8)}};
  EXPECT_EQ(decide(problem, Bytes::of(12)).status, PlanStatus::kProvedOptimal);
  EXPECT_EQ(decide(problem, Bytes::of(11), {.node_limit = 0}).status, PlanStatus::kInfeasible);
}

TEST(ExactTest, AStoppedSearchIsNoProof) {
  const Problem problem{{buffer("a", 0, 2, 3), buffer("b", 1, 3, 2), buffer("c", 0, 1, 2)}};
  EXPECT_EQ(decide(problem, Bytes::of(5), {.node_limit = 0}).status, PlanStatus::kLimitReached);
}

// a is away at [2,4): b, of 6, lives there and at a's own place. Load 6.
TEST(ExactTest, ABufferMayStandInTheGapOfAnother) {
  Problem problem{{buffer("a", 0, 6, 5), buffer("b", 2, 4, 6)}};
  EXPECT_EQ(decide(problem, Bytes::of(6)).status, PlanStatus::kInfeasible);
  problem.buffers[0].gaps = {{2, 4}};
  const Plan made = decide(problem, Bytes::of(6));
  EXPECT_THAT(counts(made.offsets), ElementsAre(0, 0));
  EXPECT_TRUE(validate(problem, made).empty());
}

// c is fixed at 4; a and b, of 4 and 3, fit below and above it: 4 + 2 + 3 = 9, not 8.
TEST(ExactTest, FixedOffsetsAreKept) {
  Problem problem{{buffer("a", 0, 4, 4), buffer("b", 0, 4, 3), buffer("c", 1, 3, 2)}};
  problem.buffers[2].offset = Bytes::of(4);
  const Plan made = decide(problem, Bytes::of(9));
  EXPECT_EQ(made.offsets.at(2).count(), 4);
  EXPECT_TRUE(validate(problem, made).empty());
  problem.buffers[2].offset = Bytes::of(3);
  // Below c there is room for b; a goes above: 5 + 4 = 9. At 8 there is none.
  EXPECT_FALSE(decide(problem, Bytes::of(9)).offsets.empty());
  EXPECT_EQ(decide(problem, Bytes::of(8)).status, PlanStatus::kInfeasible);
}

TEST(ConflictTest, TwoOfFour) {
  const Problem problem{
      {buffer("a", 0, 2, 6), buffer("b", 0, 2, 5), buffer("c", 1, 3, 1), buffer("d", 2, 4, 9)}};
  const Infeasibility why = why_infeasible(problem, Bytes::of(10));
  EXPECT_TRUE(why.proved && why.irreducible);
  EXPECT_THAT(why.buffers, ElementsAre(BufferId(0), BufferId(1)));
  EXPECT_TRUE(why_infeasible(problem, Bytes::of(12)).buffers.empty());
}

// At multiples of 8, a under b ends at 11: the two of them are too much for 10 already, though 6
// and 3 are not; c only brings the sum over 10.
TEST(ConflictTest, PaddingLeavesOneOut) {
  const Problem problem{{buffer("a", 0, 2, 6, 8), buffer("b", 0, 2, 3, 8), buffer("c", 0, 2, 2)}};
  const Infeasibility why = why_infeasible(problem, Bytes::of(10));
  EXPECT_TRUE(why.proved && why.irreducible);
  EXPECT_THAT(why.buffers, ElementsAre(BufferId(0), BufferId(1)));
}

Result<CsvProblem> challenging(const std::string& name) {
  const char* folder = std::getenv("TIDEMARK_TEST_DATA");
  if (folder == nullptr) return one_error("TIDEMARK_TEST_DATA", "not set");
  const auto path =
      std::filesystem::path(folder) / "minimalloc/challenging" / (name + ".1048576.csv");
  const Result<std::string> text = read_file(path, Bytes::of(1 << 20));
  if (!text) return text.diagnostics();
  return read_csv(*text, path.string());
}

class ChallengingTest : public testing::TestWithParam<std::string> {};

TEST_P(ChallengingTest, IsSolvedAtItsCapacityAlsoReflectedAndScaled) {
  const Result<CsvProblem> read = challenging(GetParam());
  if (!read) GTEST_SKIP() << to_string(read.diagnostics());
  Problem reflected = read->problem;
  for (Buffer& b : reflected.buffers) {
    b.lifetime = {-b.lifetime.upper, -b.lifetime.lower};
    b.size = b.size * 3;
  }
  const ExactOptions options{.node_limit = 200'000};
  for (const auto& [problem, capacity] :
       {std::pair(read->problem, 1048576), {reflected, 3145728}}) {
    const Plan made = decide(problem, Bytes::of(capacity), options);
    ASSERT_FALSE(made.offsets.empty()) << name_of(made.status);
    EXPECT_TRUE(validate(problem, made).empty());
    EXPECT_LE(made.peak.count(), capacity);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ChallengingTest,
                         testing::Values("A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace tidemark

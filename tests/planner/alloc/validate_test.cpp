// The judge, one broken rule at a time. Every case starts from the same sound plan:
//
//      10    +-----+
//            |  c  |       a [0,4) 4 at 0   b [4,9) 6 at 0   c [2,6) 2, alignment 4, at 8
//       8    +-----+       a and b may share addresses: they share no instant.
//       6      +-------+
//       4 +----+   b   |
//         | a  |       |
//       0 +----+-------+
//         0  2 4   6   9
#include "planner/alloc/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "problems.h"

namespace tidemark {
namespace {

Problem three_buffers() {
  return {{buffer("a", 0, 4, 4), buffer("b", 4, 9, 6), buffer("c", 2, 6, 2, 4)}};
}

Plan sound_plan() {
  return {.offsets = bytes({0, 0, 8}), .peak = Bytes::of(10), .lower_bound = Bytes::of(8)};
}

// As sound_plan, with c elsewhere.
Plan with_c_at(int64_t offset, int64_t peak) {
  Plan plan = sound_plan();
  plan.offsets[2] = Bytes::of(offset);
  plan.peak = Bytes::of(peak);
  return plan;
}

std::vector<Rule> broken_rules(const Problem& problem, const Plan& plan) {
  std::vector<Rule> rules;
  for (const Violation& violation : validate(problem, plan)) rules.push_back(violation.rule);
  return rules;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ValidateTest, ASoundPlanBreaksNoRule) {
  EXPECT_THAT(broken_rules(three_buffers(), sound_plan()), IsEmpty());
  EXPECT_THAT(broken_rules(Problem{}, Plan{}), IsEmpty());
}

TEST(ValidateTest, TooFewOffsets) {
  Plan plan = sound_plan();
  plan.offsets.pop_back();
  const auto violations = validate(three_buffers(), plan);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].rule, Rule::kOffsetCount);
  EXPECT_EQ(violations[0].message, "2 offsets for 3 buffers");
}

TEST(ValidateTest, TooManyOffsets) {
  Plan plan = sound_plan();
  plan.offsets.push_back(Bytes{});
  EXPECT_THAT(broken_rules(three_buffers(), plan), ElementsAre(Rule::kOffsetCount));
}

TEST(ValidateTest, NegativeOffset) {
  // b at -1 is clear of c, and the highest end is still that of c.
  Plan plan = sound_plan();
  plan.offsets[1] = Bytes::of(-1);
  const auto violations = validate(three_buffers(), plan);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].rule, Rule::kNegativeOffset);
  EXPECT_EQ(violations[0].first, BufferId(1));
  EXPECT_EQ(violations[0].message, "buffer 1 'b' is at -1");
}

TEST(ValidateTest, OffsetOffItsAlignment) {
  const auto violations = validate(three_buffers(), with_c_at(10, 12));
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].rule, Rule::kAlignment);
  EXPECT_EQ(violations[0].first, BufferId(2));
  EXPECT_EQ(violations[0].message, "buffer 2 'c' is at 10, no multiple of 4");
}

TEST(ValidateTest, OverlapOfTwoBuffersLiveAtOnce) {
  // c at 4 stands on a, but in b.
  Plan plan = with_c_at(4, 6);
  plan.lower_bound = Bytes::of(6);
  const auto violations = validate(three_buffers(), plan);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].rule, Rule::kOverlap);
  EXPECT_EQ(violations[0].first, BufferId(1));
  EXPECT_EQ(violations[0].second, BufferId(2));
  EXPECT_EQ(violations[0].message,
            "buffer 1 'b' and buffer 2 'c' share addresses [4, 6) at instants [4, 6)");
}

TEST(ValidateTest, EveryOverlappingPairIsNamed) {
  // c at 0 lies in a, while both are live in [2,4), and in b.
  Plan plan = with_c_at(0, 6);
  plan.lower_bound = Bytes{};
  const auto violations = validate(three_buffers(), plan);
  ASSERT_EQ(violations.size(), 2U);
  EXPECT_EQ(violations[0].message,
            "buffer 0 'a' and buffer 2 'c' share addresses [0, 2) at instants [2, 4)");
  EXPECT_EQ(violations[1].first, BufferId(1));
}

TEST(ValidateTest, PeakMustBeExactlyTheHighestEnd) {
  const auto below = validate(three_buffers(), with_c_at(8, 9));
  ASSERT_EQ(below.size(), 1U);
  EXPECT_EQ(below[0].rule, Rule::kPeak);
  EXPECT_EQ(below[0].message, "peak 9, highest end 10");
  EXPECT_THAT(broken_rules(three_buffers(), with_c_at(8, 11)), ElementsAre(Rule::kPeak));
}

TEST(ValidateTest, BoundMustNotExceedThePeak) {
  Plan plan = sound_plan();
  plan.lower_bound = Bytes::of(10);
  EXPECT_THAT(broken_rules(three_buffers(), plan), IsEmpty());
  plan.lower_bound = Bytes::of(11);
  const auto violations = validate(three_buffers(), plan);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].rule, Rule::kBound);
  EXPECT_EQ(violations[0].message, "lower bound 11 above peak 10");
}

struct TouchCase {
  std::string name{};
  Buffer first{};
  Buffer second{};
  int64_t second_offset = 0;
  bool overlaps = false;
};

class ValidateTouchTest : public testing::TestWithParam<TouchCase> {};

// first stands at 10.
TEST_P(ValidateTouchTest, OnlyASharedByteAtASharedInstantIsAnOverlap) {
  const TouchCase& row = GetParam();
  const Problem problem{{row.first, row.second}};
  Plan plan{.offsets = bytes({10, row.second_offset})};
  for (size_t i = 0; i < 2; ++i) {
    if (!is_ever_live(problem.buffers[i])) continue;
    plan.peak = std::max(plan.peak, plan.offsets[i] + problem.buffers[i].size);
  }
  const std::vector<Rule> expected(row.overlaps ? 1 : 0, Rule::kOverlap);
  EXPECT_EQ(broken_rules(problem, plan), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, ValidateTouchTest,
    testing::Values(
        TouchCase{"SameAddressesSameInstants", buffer("", 0, 4, 4), buffer("", 0, 4, 4), 10, true},
        TouchCase{"Above", buffer("", 0, 4, 4), buffer("", 0, 4, 4), 14, false},
        TouchCase{"LastByteShared", buffer("", 0, 4, 4), buffer("", 0, 4, 4), 13, true},
        TouchCase{"Below", buffer("", 0, 4, 4), buffer("", 0, 4, 4), 6, false},
        TouchCase{"FirstByteShared", buffer("", 0, 4, 4), buffer("", 0, 4, 4), 7, true},
        TouchCase{"Before", buffer("", 4, 8, 4), buffer("", 0, 4, 4), 10, false},
        TouchCase{"FirstInstantShared", buffer("", 4, 8, 4), buffer("", 0, 5, 4), 10, true},
        TouchCase{"After", buffer("", 0, 4, 4), buffer("", 4, 8, 4), 10, false},
        TouchCase{"LastInstantShared", buffer("", 0, 4, 4), buffer("", 3, 8, 4), 10, true},
        TouchCase{"Within", buffer("", 0, 9, 9), buffer("", 4, 5, 1), 14, true},
        TouchCase{"Around", buffer("", 4, 5, 1), buffer("", 0, 9, 9), 6, true},
        TouchCase{"EmptyLifetimeWithin", buffer("", 0, 9, 9), buffer("", 4, 4, 4), 12, false},
        TouchCase{"NoSizeWithin", buffer("", 0, 9, 9), buffer("", 4, 5, 0), 12, false}),
    [](const auto& row) { return row.param.name; });

TEST(ValidateTest, NeverLiveBuffersRaiseNoPeak) {
  const Problem problem{
      {buffer("a", 0, 4, 4), buffer("empty", 2, 2, 50), buffer("nothing", 0, 4, 0)}};
  const Plan plan{.offsets = bytes({0, 0, 70}), .peak = Bytes::of(4)};
  EXPECT_THAT(broken_rules(problem, plan), IsEmpty());
}

TEST(ValidateTest, EndsBeyond63BitsAreJudgedWithoutOverflow) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const Problem problem{{buffer("a", 0, 4, 4), buffer("b", 0, 4, kLargest)}};
  const Plan plan{.offsets = bytes({kLargest - 2, kLargest - 1}), .peak = Bytes::of(kLargest)};
  EXPECT_THAT(broken_rules(problem, plan), ElementsAre(Rule::kOverlap));

  const Plan lowest{.offsets = bytes({std::numeric_limits<int64_t>::min(), 0}),
                    .peak = Bytes::of(kLargest)};
  EXPECT_THAT(broken_rules(problem, lowest), ElementsAre(Rule::kNegativeOffset));
}

TEST(ValidateTest, AnEndOfExactly63BitsIsNotCutOff) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const Problem problem{{buffer("a", 0, 4, 5)}};
  EXPECT_THAT(
      broken_rules(problem, {.offsets = bytes({kLargest - 6}), .peak = Bytes::of(kLargest - 1)}),
      IsEmpty());
  EXPECT_THAT(
      broken_rules(problem, {.offsets = bytes({kLargest - 5}), .peak = Bytes::of(kLargest)}),
      IsEmpty());
}

TEST(ValidateTest, TheListOfViolationsIsBounded) {
  // 20 buffers at one place: 190 pairs.
  Problem problem;
  for (int i = 0; i < 20; ++i) problem.buffers.push_back(buffer("", 0, 1, 1));
  const Plan plan{.offsets = std::vector<Bytes>(20), .peak = Bytes::of(1)};
  EXPECT_EQ(validate(problem, plan).size(), kMaxViolations);
}

// Three buffers live at once, A 6, B 4, C 3, in a pool of 10. A planner elsewhere put C inside B,
// and no judge looked.
TEST(ValidateRegressionTest, ABufferPlacedInsideAnotherIsSeen) {
  const Problem problem{{buffer("A", 0, 2, 6), buffer("B", 0, 2, 4), buffer("C", 0, 2, 3)}};
  const Plan plan{.offsets = bytes({0, 6, 6}), .peak = Bytes::of(10)};
  const auto violations = validate(problem, plan);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].rule, Rule::kOverlap);
  EXPECT_EQ(violations[0].first, BufferId(1));
  EXPECT_EQ(violations[0].second, BufferId(2));
}

}  // namespace
}  // namespace tidemark

// The judge on groups, partial gaps, pools and pairs, one broken rule at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Rule> broken(const Problem& problem, const Plan& plan) {
  std::vector<Rule> rules;
  for (const Violation& violation : validate(problem, plan)) rules.push_back(violation.rule);
  return rules;
}

// out at 0, in1 at 0, in2 at 4, as their group says; early in what the group leaves free.
Problem joined() {
  Problem problem = inputs_in_an_output();
  problem.buffers.push_back(buffer("early", 0, 1, 4));
  return problem;
}

Plan joined_plan(std::initializer_list<int64_t> offsets, int64_t peak) {
  return {.offsets = bytes(offsets), .peak = Bytes::of(peak)};
}

TEST(ValidateFeatures, MembersOfAGroupMayShare) {
  EXPECT_THAT(broken(joined(), joined_plan({0, 0, 4, 4}, 8)), IsEmpty());
}

TEST(ValidateFeatures, MembersKeepTheirDistance) {
  const auto violations = validate(joined(), joined_plan({0, 0, 8, 4}, 12));
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].rule, Rule::kGroup);
  EXPECT_EQ(violations[0].message, "buffer 2 'in2' does not stand 4 above buffer 0 'out'");
}

// early lives at 0, as in1 does: at 0 it is in its way, at 4 it is not.
TEST(ValidateFeatures, OthersMayNotShareWithAMember) {
  EXPECT_THAT(broken(joined(), joined_plan({0, 0, 4, 0}, 8)), ElementsAre(Rule::kOverlap));
  EXPECT_THAT(broken(joined(), joined_plan({0, 0, 4, 1}, 8)), ElementsAre(Rule::kOverlap));
}

// a [0,9) 8, of which [2,4) keeps [0,4): b fits at 4 while that lasts, no instant longer, no byte
// lower.
TEST(ValidateFeatures, APartialGapFreesWhatItDoesNotKeep) {
  const auto with = [](int64_t lower, int64_t upper, int64_t offset) {
    const Problem problem{
        {with_partial_gap(buffer("a", 0, 9, 8), 2, 4, 0, 4), buffer("b", lower, upper, 4)}};
    return broken(problem, {.offsets = bytes({0, offset}), .peak = Bytes::of(8)});
  };
  EXPECT_THAT(with(2, 4, 4), IsEmpty());
  EXPECT_THAT(with(2, 4, 3), ElementsAre(Rule::kOverlap));
  EXPECT_THAT(with(1, 4, 4), ElementsAre(Rule::kOverlap));
  EXPECT_THAT(with(2, 5, 4), ElementsAre(Rule::kOverlap));
}

// Two partial gaps at once keep what both keep.
TEST(ValidateFeatures, PartialGapsAtOnceKeepWhatBothKeep) {
  const Buffer a = with_partial_gap(with_partial_gap(buffer("a", 0, 9, 8), 2, 6, 0, 4), 4, 9, 2, 8);
  const auto with = [&](int64_t lower, int64_t upper, int64_t offset, int64_t size) {
    const Problem problem{{a, buffer("b", lower, upper, size)}};
    return broken(problem, {.offsets = bytes({0, offset}), .peak = Bytes::of(8)});
  };
  EXPECT_THAT(with(4, 6, 0, 2), IsEmpty());  // [2,4) is kept on [4,6)
  EXPECT_THAT(with(4, 6, 4, 4), IsEmpty());
  EXPECT_THAT(with(4, 6, 3, 1), ElementsAre(Rule::kOverlap));
  EXPECT_THAT(with(2, 6, 0, 2), ElementsAre(Rule::kOverlap));
  EXPECT_THAT(with(4, 7, 4, 4), ElementsAre(Rule::kOverlap));
}

Problem two_pools() {
  return {.buffers = {buffer("a", 0, 4, 4), buffer("b", 0, 4, 6)},
          .pools = {{.name = "sram", .capacity = Bytes::of(8)}, {.name = "dram"}}};
}

Plan pooled(std::initializer_list<int64_t> offsets, std::vector<PoolId> pools, int64_t sram,
            int64_t dram) {
  return {.offsets = bytes(offsets),
          .peak = Bytes::of(sram + dram),
          .pool_of = std::move(pools),
          .pools = {{.peak = Bytes::of(sram)}, {.peak = Bytes::of(dram)}}};
}

const PoolId kSram{0};
const PoolId kDram{1};

TEST(ValidateFeatures, AddressesOfDifferentPoolsAreDifferent) {
  EXPECT_THAT(broken(two_pools(), pooled({0, 0}, {kSram, kDram}, 4, 6)), IsEmpty());
  EXPECT_THAT(broken(two_pools(), pooled({0, 0}, {kDram, kDram}, 0, 6)),
              ElementsAre(Rule::kOverlap));
}

TEST(ValidateFeatures, NothingEndsAboveItsPool) {
  const auto violations = validate(two_pools(), pooled({0, 4}, {kSram, kSram}, 10, 0));
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].rule, Rule::kCapacity);
  EXPECT_EQ(violations[0].message, "buffer 1 'b' ends at 10, above pool 'sram' of 8");
}

TEST(ValidateFeatures, PinsAndExclusionsHold) {
  Problem problem = two_pools();
  problem.buffers[0].pool = kDram;
  EXPECT_THAT(broken(problem, pooled({0, 0}, {kSram, kDram}, 4, 6)), ElementsAre(Rule::kPool));
  problem = two_pools();
  problem.buffers[1].not_in = {kDram};
  EXPECT_THAT(broken(problem, pooled({0, 0}, {kSram, kDram}, 4, 6)), ElementsAre(Rule::kPool));
}

TEST(ValidateFeatures, EveryBufferIsInAPool) {
  EXPECT_THAT(broken(two_pools(), pooled({0, 0}, {kSram}, 4, 6)), ElementsAre(Rule::kPool));
  EXPECT_THAT(broken(two_pools(), pooled({0, 0}, {kSram, PoolId(2)}, 4, 6)),
              ElementsAre(Rule::kPool));
  EXPECT_THAT(broken(two_pools(), {.offsets = bytes({0, 4}), .peak = Bytes::of(10)}),
              ElementsAre(Rule::kPool));
}

TEST(ValidateFeatures, EachPoolHasItsOwnPeakAndBound) {
  EXPECT_THAT(broken(two_pools(), pooled({0, 0}, {kSram, kDram}, 5, 5)),
              ElementsAre(Rule::kPeak, Rule::kPeak));
  Plan plan = pooled({0, 0}, {kSram, kDram}, 4, 6);
  plan.pools[1].lower_bound = Bytes::of(7);
  EXPECT_THAT(broken(two_pools(), plan), ElementsAre(Rule::kBound));
}

TEST(ValidateFeatures, AGroupStandsInOnePool) {
  Problem problem = two_pools();
  problem.groups = {{.name = "g"}};
  problem.buffers[0] = member(problem.buffers[0], 0, 0);
  problem.buffers[1] = member(problem.buffers[1], 0, 0);
  EXPECT_THAT(broken(problem, pooled({0, 0}, {kSram, kDram}, 4, 6)), ElementsAre(Rule::kGroup));
}

// Banks of 4: [0,3) and [3,6) share the first, [0,3) and [4,7) none.
TEST(ValidateFeatures, WhatIsKeptApartSharesNoBank) {
  Problem problem{.buffers = {buffer("a", 0, 2, 3), buffer("b", 5, 9, 3)},
                  .apart = {{BufferId(0), BufferId(1)}},
                  .bank = Alignment::of(4)};
  EXPECT_THAT(broken(problem, {.offsets = bytes({0, 4}), .peak = Bytes::of(7)}), IsEmpty());
  const auto violations = validate(problem, {.offsets = bytes({0, 3}), .peak = Bytes::of(6)});
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].rule, Rule::kApart);
  EXPECT_EQ(violations[0].message,
            "buffer 0 'a' and buffer 1 'b' share banks [0, 1) of 4, to be kept apart");
  problem.bank = {};
  EXPECT_THAT(broken(problem, {.offsets = bytes({0, 3}), .peak = Bytes::of(6)}), IsEmpty());
  EXPECT_THAT(broken(problem, {.offsets = bytes({0, 2}), .peak = Bytes::of(5)}),
              ElementsAre(Rule::kApart));
}

}  // namespace
}  // namespace tidemark

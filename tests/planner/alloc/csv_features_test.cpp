// The columns of groups, pools, pairs and costs, partial gaps, and what is wrong with them.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "features.h"
#include "planner/alloc/csv.h"

namespace tidemark {
namespace {

const std::vector<Pool> kPools{
    {.name = "sram", .capacity = Bytes::of(100)}, {.name = "dram"}, {.name = "flash"}};

std::string errors(std::string_view text) {
  const Result<CsvProblem> read = read_csv(text, "x.csv", kPools);
  return read ? "none" : to_string(read.diagnostics());
}

// The table of csv.h.
constexpr std::string_view kColumns =
    "id,lower,upper,size,group,group_offset,pool,not_in,apart,cost\n"
    "w0,0,9,64,,,sram,,w1,\n"
    "w1,0,9,64,,,,dram flash,,500\n"
    "out,3,9,8,joined,0,,,,\n"
    "in2,1,4,4,joined,4,,,,\n";

TEST(CsvTest, ColumnsOfThisTool) {
  const auto read = read_csv(kColumns, "x.csv", kPools);
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  const std::vector<Buffer>& buffers = read->problem.buffers;
  EXPECT_EQ(buffers[0].pool, PoolId(0));
  EXPECT_EQ(buffers[1].not_in, (std::vector<PoolId>{PoolId(1), PoolId(2)}));
  EXPECT_EQ(buffers[1].cost, 500);
  EXPECT_EQ(buffers[0].cost, std::nullopt);
  EXPECT_EQ(buffers[2].group, GroupId(0));
  EXPECT_EQ(buffers[3].group_offset.count(), 4);
  EXPECT_EQ(read->problem.groups.at(0).name, "joined");
  EXPECT_EQ(read->problem.apart, (std::vector<ApartPair>{{BufferId(0), BufferId(1)}}));
  EXPECT_TRUE(faults_of(read->problem).empty());
}

// [3,6) with the bytes [0,2) in use, and [6,7) with none.
TEST(CsvTest, PartialGapsAreRead) {
  const auto read = read_csv("id,lower,upper,size,gaps\na,0,9,4,3-6@0:2 6-7\n", "x.csv");
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  const PartialGap gap{{3, 6}, {Bytes{}, Bytes::of(2)}};
  EXPECT_EQ(read->problem.buffers[0].partial_gaps, (std::vector<PartialGap>{gap}));
  EXPECT_EQ(read->problem.buffers[0].gaps, (std::vector<Interval<int64_t>>{{6, 7}}));
  EXPECT_EQ(write_csv(read->problem, nullptr, true),
            "id,start,end,size,gaps\na,0,8,4,6-6 3-5@0:2\n");
}

TEST(CsvTest, AByteOrderMarkIsPassedOver) {
  EXPECT_EQ(errors("\xEF\xBB\xBFid,lower,upper,size\na,0,9,4\n"), "none");
  EXPECT_EQ(errors("\xFF\xFEi"), "error: x.csv: is UTF-16\n  hint: save it as UTF-8\n");
}

TEST(CsvTest, TextThatIsNotUtf8HasItsPlaceNamed) {
  EXPECT_EQ(errors("id,lower,upper,size\nb\xFC"
                   "ffer,0,9,4\n"),
            "x.csv:2:2: error: not UTF-8 from here on\n  hint: save it as UTF-8\n");
  EXPECT_EQ(errors("id,lower,upper,size\nb\xC3\xBC"
                   "ffer,0,9,4\n"),
            "none");
}

struct WrongCase {
  std::string name{};
  std::string cells{};  // of size, gaps, group, group_offset, pool, not_in, apart, cost
  std::string expected{};
};

class CsvWrongTest : public testing::TestWithParam<WrongCase> {};

TEST_P(CsvWrongTest, IsAnErrorWithItsPlace) {
  const std::string header = "id,lower,upper,size,gaps,group,group_offset,pool,not_in,apart,cost\n";
  const std::string found = errors(header + "z,0,9,4,,g,0,,,,\na,0,9," + GetParam().cells + "\n");
  EXPECT_EQ(found.substr(0, found.find('\n')), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Cells, CsvWrongTest,
    testing::Values(
        WrongCase{"Backward", "4,7-3,,,,,,", "x.csv:3:9: error: gaps: \"7-3\" covers no instant"},
        WrongCase{"Empty", "4,3-3,,,,,,", "x.csv:3:9: error: gaps: \"3-3\" covers no instant"},
        WrongCase{"AfterTheEnd", "4,3-10,,,,,,",
                  "x.csv:3:9: error: gaps: \"3-10\" reaches outside the lifetime, 0 to 9"},
        WrongCase{"BeforeTheStart", "4,1-2 -1-2,,,,,,",
                  "x.csv:3:13: error: gaps: \"-1-2\" reaches outside the lifetime, 0 to 9"},
        WrongCase{"NoPart", "4,3-4@2:2,,,,,,",
                  "x.csv:3:9: error: gaps: \"3-4@2:2\" keeps no part of 4 bytes"},
        WrongCase{"TooLargeAPart", "4,3-4@2:5,,,,,,",
                  "x.csv:3:9: error: gaps: \"3-4@2:5\" keeps no part of 4 bytes"},
        WrongCase{"NoGap", "4,3-4@2,,,,,,", "x.csv:3:9: error: gaps: \"3-4@2\" is no gap"},
        WrongCase{"OffsetWithoutAGroup", "4,,,8,,,,",
                  "x.csv:3:1: error: group_offset: stands without a group"},
        WrongCase{"NegativeOffset", "4,,g,-8,,,,",
                  "x.csv:3:12: error: group_offset: \"-8\" is no integer from 0 to "
                  "9007199254740992"},
        WrongCase{"UnknownPool", "4,,,,rom,,,", "x.csv:3:12: error: pool: \"rom\" is no pool"},
        WrongCase{"UnknownPoolInAList", "4,,,,,sram rom,,",
                  "x.csv:3:18: error: not_in: \"rom\" is no pool"},
        WrongCase{"PinnedToAnExcludedPool", "4,,,,sram,sram,,",
                  "x.csv:3:1: error: not_in: \"a\" may stand in no pool"},
        WrongCase{"Nowhere", "4,,,,,sram dram flash,,",
                  "x.csv:3:1: error: not_in: \"a\" may stand in no pool"},
        WrongCase{"UnknownBuffer", "4,,,,,,y,", "x.csv:3:14: error: apart: \"y\" is no buffer"},
        WrongCase{"ApartFromItself", "4,,,,,,a,",
                  "x.csv:3:14: error: apart: \"a\" and \"a\" stand in one group, whose distances "
                  "are given"},
        WrongCase{"ApartInAGroup", "4,,g,,,,z,",
                  "x.csv:3:15: error: apart: \"a\" and \"z\" stand in one group, whose distances "
                  "are given"},
        WrongCase{"NegativeCost", "4,,,,,,,-1",
                  "x.csv:3:15: error: cost: \"-1\" is no integer from 0 to 9007199254740992"}),
    [](const auto& row) { return row.param.name; });

bool same_buffer(const Buffer& a, const Buffer& b) {
  return a.name == b.name && a.size == b.size && a.lifetime == b.lifetime &&
         a.alignment == b.alignment && a.gaps == b.gaps && a.offset == b.offset &&
         a.hint == b.hint && a.partial_gaps == b.partial_gaps && a.group == b.group &&
         a.group_offset == b.group_offset && a.pool == b.pool && a.not_in == b.not_in &&
         a.cost == b.cost;
}

// Groups are numbered as they come: the random ones are renumbered so first.
Problem as_read(Problem problem) {
  std::vector<Group> groups;
  std::vector<std::optional<GroupId>> ids(problem.groups.size());
  for (Buffer& b : problem.buffers) {
    std::erase_if(b.gaps, [&](const auto& gap) {
      return gap.empty() || gap.lower < b.lifetime.lower || b.lifetime.upper < gap.upper;
    });
    std::erase_if(b.partial_gaps, [&](const auto& gap) {
      return gap.when.lower < b.lifetime.lower || b.lifetime.upper < gap.when.upper;
    });
    if (!b.group) continue;
    std::optional<GroupId>& id = ids[b.group->index()];
    if (!id) {
      id = GroupId::of(groups.size());
      groups.push_back(problem.groups[b.group->index()]);
    }
    b.group = id;
  }
  problem.groups = std::move(groups);
  std::vector<ApartPair> pairs;
  for (const ApartPair& pair : problem.apart) {
    const auto same = [&](const ApartPair& p) {
      return p == pair || p == ApartPair{pair.second, pair.first};
    };
    if (std::ranges::none_of(pairs, same)) pairs.push_back(pair);
  }
  std::ranges::stable_sort(pairs, {}, &ApartPair::first);
  problem.apart = std::move(pairs);
  return problem;
}

RC_GTEST_PROP(CsvLaws, WhatIsWrittenReadsBackAsTheSameProblem, (bool closed)) {
  Problem problem = random_bodies(*rc::gen::inRange<size_t>(0, 9), 6);
  add_pairs(problem, 4);
  for (Buffer& b : problem.buffers) {
    if (*rc::gen::inRange(0, 3) == 0) b.pool = PoolId(*rc::gen::inRange<int64_t>(0, 2));
    if (*rc::gen::inRange(0, 3) == 0) b.not_in = {PoolId(2)};
    if (*rc::gen::inRange(0, 3) == 0) b.cost = *rc::gen::inRange<int64_t>(0, 9);
  }
  problem = as_read(std::move(problem));
  problem.pools = kPools;
  const std::string text = write_csv(problem, nullptr, closed);
  const auto read = read_csv(text, "x.csv", kPools);
  if (!read) RC_FAIL(to_string(read.diagnostics()));
  RC_ASSERT(read->closed_ends == closed);
  RC_ASSERT(read->problem.buffers.size() == problem.buffers.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    RC_ASSERT(same_buffer(read->problem.buffers[i], problem.buffers[i]));
  }
  RC_ASSERT(read->problem.apart == problem.apart);
  RC_ASSERT(read->problem.groups.size() == problem.groups.size());
  RC_ASSERT(write_csv(read->problem, nullptr, closed) == text);
}

// A plan that is written has every buffer fixed, in its pool: planned again it is the same plan.
RC_GTEST_PROP(CsvLaws, AWrittenPlanIsPlannedAsItself, ()) {
  Problem problem = as_read(random_bodies(*rc::gen::inRange<size_t>(1, 7), 6));
  problem.pools = kPools;
  const Plan made = plan(problem, PlannerKind::kFirstFitBySize);
  RC_PRE(!made.offsets.empty());
  const auto read = read_csv(write_csv(problem, &made), "x.csv", kPools);
  if (!read) RC_FAIL(to_string(read.diagnostics()));
  const Plan again = plan(read->problem, PlannerKind::kFirstFitBySize);
  RC_ASSERT(again.peak == made.peak);
  RC_ASSERT(again.pool_of == made.pool_of);
}

}  // namespace
}  // namespace tidemark

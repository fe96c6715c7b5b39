#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>

#include "planner/report/layout.h"
#include "planner/report/writers.h"
#include "sample.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ArenaRow row(std::string name, int64_t offset, int64_t size, int64_t lower, int64_t upper) {
  return {
      std::move(name), Bytes::of(offset), Bytes::of(size), {StepIndex(lower), StepIndex(upper)}};
}

// The five buffers of planner/alloc/problem.h, sizes in bytes.
ArenaFacts five_buffers() {
  return {.phase = "prefill",
          .peak = Bytes::of(12),
          .lower_bound = Bytes::of(12),
          .buffers = 5,
          .steps = 21,
          .peak_step = 3,
          .peak_op = "op",
          .rows = {row("b1", 8, 4, 0, 3), row("b2", 8, 4, 3, 9), row("b3", 4, 4, 0, 9),
                   row("b4", 4, 4, 9, 21), row("b5", 0, 4, 0, 21)}};
}

// What stands right of the offsets, top line first.
std::vector<std::string> cells_of(const std::string& map) {
  std::vector<std::string> cells;
  std::istringstream stream(map);
  for (std::string line; std::getline(stream, line);) {
    if (line.size() > 11 && line[10] == '|') cells.push_back(line.substr(11));
  }
  return cells;
}

TEST(ArenaMapTest, FiveBuffers) {
  // 42 columns leave 31: one a step. Three rows of 4 B would be too few; four is the least, so rows
  // of 3 B.
  const std::vector<std::string> rows = cells_of(arena_map(five_buffers(), 42, 12));
  ASSERT_EQ(rows.size(), 12U);
  EXPECT_EQ(rows[0], "aaabbbbbb............");
  EXPECT_EQ(rows[3], "aaabbbbbb............");
  EXPECT_EQ(rows[4], "cccccccccdddddddddddd");
  EXPECT_EQ(rows[7], "cccccccccdddddddddddd");
  EXPECT_EQ(rows[8], "eeeeeeeeeeeeeeeeeeeee");
  EXPECT_EQ(rows[11], "eeeeeeeeeeeeeeeeeeeee");
}

TEST(ArenaMapTest, MarksTheFullestStepBelowItsColumn) {
  EXPECT_THAT(arena_map(five_buffers(), 42, 12),
              HasSubstr("\n" + std::string(11 + 3, ' ') + "^ fullest at step 3 (op)\n"));
}

TEST(ArenaMapTest, AnOverlapIsMarkedWhereItIsAndOnlyThere) {
  ArenaFacts arena = five_buffers();
  EXPECT_THAT(cells_of(arena_map(arena, 42, 12)), ::testing::Each(Not(HasSubstr("!"))));
  arena.rows[1].offset = Bytes::of(7);  // b2 now reaches one byte into b3, in steps 3 to 8
  const std::vector<std::string> rows = cells_of(arena_map(arena, 42, 12));
  EXPECT_EQ(rows[4], "ccc!!!!!!dddddddddddd");
  EXPECT_EQ(rows[5], "cccccccccdddddddddddd");
  EXPECT_EQ(rows[3], "aaabbbbbb............");
}

TEST(ArenaMapTest, ABufferSmallerThanACellIsNotAnOverlap) {
  ArenaFacts arena{.peak = Bytes::of(1000), .buffers = 2, .steps = 1000};
  arena.rows = {row("low", 0, 500, 0, 1000), row("high", 500, 500, 0, 999)};
  const std::string map = arena_map(arena, 60, 7);  // the border at 500 runs through a row
  EXPECT_THAT(cells_of(map), ::testing::Each(Not(HasSubstr("!"))));
}

TEST(ArenaMapTest, LettersStartAgainAfterSixtyTwo) {
  ArenaFacts arena{.peak = Bytes::of(63), .buffers = 63, .steps = 1};
  for (int i = 0; i < 63; ++i) arena.rows.push_back(row("b", i, 1, 0, 1));
  const std::vector<std::string> rows = cells_of(arena_map(arena, 60, 63));
  ASSERT_EQ(rows.size(), 63U);
  EXPECT_EQ(rows[62].front(), 'a');
  EXPECT_EQ(rows[1].front(), '9');
  EXPECT_EQ(rows[0].front(), 'a');
}

TEST(ArenaMapTest, AnEmptyArenaSaysSo) { EXPECT_EQ(arena_map({}), "The arena is empty.\n"); }

TEST(ArenaMapTest, AnyArenaIsDrawnWithinTheAskedSizeAndTwiceTheSame) {
  EXPECT_TRUE(rc::check([] {
    ArenaFacts arena{.peak = Bytes::of(*rc::gen::inRange<int64_t>(0, int64_t{1} << 50)),
                     .steps = *rc::gen::inRange<int64_t>(0, 100000),
                     .peak_step = *rc::gen::inRange<int64_t>(-1, 100000),
                     .peak_op = testing::hostile_name()};
    for (int i = *rc::gen::inRange(1, 30); i > 0; --i) {
      const auto lower = *rc::gen::inRange<int64_t>(0, 100000);
      arena.rows.push_back(row(testing::hostile_name(),
                               *rc::gen::inRange<int64_t>(0, int64_t{1} << 50),
                               *rc::gen::inRange<int64_t>(0, int64_t{1} << 50), lower,
                               lower + *rc::gen::inRange<int64_t>(0, 1000)));
    }
    const int columns = *rc::gen::inRange(-10, 300);
    const int rows = *rc::gen::inRange(-10, 300);
    const std::string map = arena_map(arena, columns, rows);
    RC_ASSERT(map == arena_map(arena, columns, rows));
    RC_ASSERT(map.find('\x1b') == std::string::npos);
    const std::vector<std::string> cells = cells_of(map);
    RC_ASSERT(cells.size() <= static_cast<size_t>(std::max(rows, 4)));
    for (const std::string& line : cells)
      RC_ASSERT(line.size() + 11 <= static_cast<size_t>(std::max(columns, 40)));
  }));
}

}  // namespace
}  // namespace tidemark

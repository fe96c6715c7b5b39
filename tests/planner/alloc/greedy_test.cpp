// Placements worked by hand. Offsets stand in order of the buffers; what each buffer meets is told
// in the comment beside it.
#include "planner/alloc/greedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problems.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

//      26 +--------+
//         | second |      lead [0,3) 8   first [1,9) 7   mid [1,3) 6   second [2,9) 5
//      21 +-----+--+      At 3 lead and mid are gone: [0,8) and [15,21) are free below second.
//         | mid |  |
//      15 +-----+--+
//         | first  |
//       8 +------+-+
//         | lead | |
//       0 +------+-+
TEST(GreedyTest, LowestAndSmallestGap) {
  const Problem problem{{buffer("lead", 0, 3, 8), buffer("first", 1, 9, 7), buffer("mid", 1, 3, 6),
                         buffer("second", 2, 9, 5), buffer("new", 3, 9, 2)}};
  EXPECT_THAT(counts(place_first_fit_by_size(problem)), ElementsAre(0, 8, 15, 21, 0));
  EXPECT_THAT(counts(place_best_fit_by_start(problem)), ElementsAre(0, 8, 15, 21, 15));
}

TEST(GreedyTest, FiveBuffers) {
  // All of one size, so both orders are by start, then id: b1 0, b3 4, b5 8; then b2 finds b3 and
  // b5, and [0,4) free below; b4 finds only b5.
  EXPECT_THAT(counts(place_first_fit_by_size(five_buffers())), ElementsAre(0, 0, 4, 0, 8));
  EXPECT_THAT(counts(place_best_fit_by_start(five_buffers())), ElementsAre(0, 0, 4, 0, 8));
}

TEST(FirstFitBySize, PlacesLargestFirstThenEarliestThenLowestId) {
  const Problem problem{{
      buffer("small", 0, 9, 2),       // last: 14
      buffer("large", 0, 9, 6),       // first: 0
      buffer("late", 5, 9, 4),        // third, beside the earlier one of its size: 10
      buffer("early", 0, 9, 4),       // second: 6
      buffer("small twin", 0, 9, 2),  // after the lower id: 16
  }};
  EXPECT_THAT(counts(place_first_fit_by_size(problem)), ElementsAre(14, 0, 10, 6, 16));
}

TEST(BestFitByStart, PlacesEarliestFirstThenLargestThenLowestId) {
  const Problem problem{{
      buffer("late and large", 1, 9, 8),  // last: 8
      buffer("small", 0, 9, 2),           // second: 4
      buffer("large", 0, 9, 4),           // first: 0
      buffer("small twin", 0, 9, 2),      // third: 6
  }};
  EXPECT_THAT(counts(place_best_fit_by_start(problem)), ElementsAre(8, 4, 0, 6));
}

// Free for "new": [0,3) and [5,8), equally small. Of equal gaps the lowest.
TEST(BestFitByStart, TakesTheLowestOfEquallySmallGaps) {
  const Problem problem{{buffer("a", 0, 3, 3), buffer("b", 1, 9, 2), buffer("c", 2, 3, 3),
                         buffer("d", 2, 9, 1), buffer("new", 3, 9, 2)}};
  EXPECT_THAT(counts(place_best_fit_by_start(problem)), ElementsAre(0, 3, 5, 8, 0));
}

// Free for "new", of size 4 and alignment 4: [0,5) and [7,12), five bytes each. From its aligned
// start the first has room for 5, the second, from 8, for exactly 4.
TEST(BestFitByStart, CountsTheRoomOfAGapFromTheAlignedStart) {
  const Problem problem{{buffer("a", 0, 5, 5), buffer("b", 1, 9, 2), buffer("c", 2, 5, 5),
                         buffer("d", 3, 9, 1), buffer("new", 5, 9, 4, 4)}};
  EXPECT_THAT(counts(place_best_fit_by_start(problem)), ElementsAre(0, 5, 7, 12, 8));
}

TEST(GreedyTest, AGapOfExactlyTheSizeIsUsed) {
  const Problem problem{{buffer("a", 0, 2, 6), buffer("b", 1, 9, 5), buffer("c", 2, 9, 6)}};
  // By size a and c take [0,6), b stands above both. By start b stands on a; c fits below it.
  EXPECT_THAT(counts(place_first_fit_by_size(problem)), ElementsAre(0, 6, 0));
  EXPECT_THAT(counts(place_best_fit_by_start(problem)), ElementsAre(0, 6, 0));
}

TEST(GreedyTest, AGapOneByteTooSmallIsNotUsed) {
  const Problem problem{{buffer("a", 0, 2, 5), buffer("b", 1, 9, 5), buffer("c", 2, 9, 6)}};
  EXPECT_THAT(counts(place_best_fit_by_start(problem)), ElementsAre(0, 5, 10));
}

//       8 +--------+
//         |  wide  |  +------+   wide [0,4) 8   near [6,9) 3   over [3,7) 2
//       3 |        |  | near |   By size wide and near both stand at 0. over meets both and goes
//       0 +--------+--+------+   above wide, at 8, not above near, the last passed, at 3.
TEST(GreedyTest, AGapBeginsAtTheHighestEndPassed) {
  const Problem problem{
      {buffer("wide", 0, 4, 8), buffer("near", 6, 9, 3), buffer("over", 3, 7, 2)}};
  EXPECT_THAT(counts(place_first_fit_by_size(problem)), ElementsAre(0, 0, 8));
}

TEST(GreedyTest, OffsetsAreAlignedInEveryGap) {
  // a 0..3; b wants a multiple of 8: 8..10. c fits between them at a multiple of 4: 4..8.
  // d, of odd size, takes the byte left at 3.
  const Problem problem{{buffer("a", 0, 9, 3), buffer("b", 1, 9, 2, 8), buffer("c", 2, 9, 4, 4),
                         buffer("d", 3, 9, 1)}};
  EXPECT_THAT(counts(place_best_fit_by_start(problem)), ElementsAre(0, 8, 4, 3));
}

TEST(GreedyTest, NeverLiveBuffersStandAtZeroAndBlockNobody) {
  const Problem problem{{buffer("a", 0, 9, 3), buffer("empty", 4, 4, 100), buffer("b", 0, 9, 2),
                         buffer("nothing", 0, 9, 0, 8)}};
  EXPECT_THAT(counts(place_first_fit_by_size(problem)), ElementsAre(0, 0, 3, 0));
  EXPECT_THAT(counts(place_best_fit_by_start(problem)), ElementsAre(0, 0, 3, 0));
  EXPECT_THAT(counts(place_apart(problem)), ElementsAre(0, 0, 3, 0));
}

TEST(PlaceApart, StacksByWidestAlignmentAndLosesOnlyThePaddingOfEachSize) {
  // By alignment 4, 2, 1: b 0..8, c 8..10, then a, d in order of id, although no two are ever live
  // together.
  const Problem problem{{buffer("a", 0, 1, 1), buffer("b", 1, 2, 5, 4), buffer("c", 2, 3, 2, 2),
                         buffer("d", 3, 4, 7)}};
  EXPECT_THAT(counts(place_apart(problem)), ElementsAre(10, 0, 8, 11));
  EXPECT_EQ(no_reuse_bytes(problem).count(), 18);
}

// Named after faults that were found in planners elsewhere.

// A planner that looks for gaps only between neighbours never uses the space below the first one:
//
//      14 +-----+
//         |  b  |      a [0,2) 8   b [1,4) 6   c [2,4) 5
//       8 +---+-+      c fits where a was, below b: peak 14. Above b it would be 19.
//         | a |c
//       0 +---+--
TEST(GreedyRegressionTest, TheGapBelowTheFirstLiveNeighbourIsUsed) {
  const Problem problem{{buffer("a", 0, 2, 8), buffer("b", 1, 4, 6), buffer("c", 2, 4, 5)}};
  EXPECT_THAT(counts(place_first_fit_by_size(problem)), ElementsAre(0, 8, 0));
  EXPECT_THAT(counts(place_best_fit_by_start(problem)), ElementsAre(0, 8, 0));
}

// A pool of 10, A 6, B 4, C 3, all live at once: A and B fill the pool and C stands above it.
// Having passed B, a planner must not fall back to the end of the lower A, which lies inside B.
TEST(GreedyRegressionTest, WhatDoesNotFitBesideItsNeighboursStandsAboveAllOfThem) {
  const Problem problem{{buffer("A", 0, 2, 6), buffer("B", 0, 2, 4), buffer("C", 0, 2, 3)}};
  EXPECT_THAT(counts(place_first_fit_by_size(problem)), ElementsAre(0, 6, 10));
  EXPECT_THAT(counts(place_best_fit_by_start(problem)), ElementsAre(0, 6, 10));
}

// The same sizes. An offset is rounded up to the alignment of the buffer being placed, whatever
// that of the one below it.
TEST(GreedyRegressionTest, AnOffsetIsRoundedToTheBuffersOwnAlignment) {
  const Problem wide_below{
      {buffer("A", 0, 2, 6, 8), buffer("B", 0, 2, 4, 1), buffer("C", 0, 2, 3, 1)}};
  EXPECT_THAT(counts(place_first_fit_by_size(wide_below)), ElementsAre(0, 6, 10));
  // B skips to 8; C, at 2, fits no more between A and B and needs a multiple of 2 above 12.
  const Problem wide_above{
      {buffer("A", 0, 2, 6, 1), buffer("B", 0, 2, 4, 8), buffer("C", 0, 2, 3, 2)}};
  EXPECT_THAT(counts(place_first_fit_by_size(wide_above)), ElementsAre(0, 8, 12));
}

}  // namespace
}  // namespace tidemark

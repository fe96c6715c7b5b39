#include "sim/memory/page_cache.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "planner/base/check.h"

namespace tidemark {
namespace {

using namespace literals;

Interval<Bytes> whole(Bytes size) { return {Bytes{}, size}; }

std::vector<std::pair<int64_t, int64_t>> pages_and_counts(const PageAccess& access) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (const PageReads& reads : access.reads) all.emplace_back(reads.bytes / 4_KiB, reads.count);
  return all;
}

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

// Minor faults, normal: windows [0,4), [4,12), [12,28), then 24 of 32 pages from 28, last
// [796,820). Blocks of 16 they meet: 1, 1, 2, 3 each (28 = 12 mod 16), 3; less one a read: 0 + 0 +
// 1 + 24 x 2 + 2 = 51.
TEST(PageCacheTest, WorkedInTheHeader) {
  const Bytes size = 3358720_B;
  for (const PageAdvice advice : {PageAdvice::kNormal, PageAdvice::kRandom}) {
    PageCache cache({});
    const FileId file = cache.add_file(size);
    const ViewId view = cache.open(file, advice);
    const PageAccess cold = cache.touch(view, whole(size));
    EXPECT_EQ(cold.bytes_read, size);
    if (advice == PageAdvice::kNormal) {
      EXPECT_EQ(pages_and_counts(cold), (Pairs{{4, 1}, {8, 1}, {16, 1}, {32, 24}, {24, 1}}));
      EXPECT_EQ(cold.major_faults, 28);
      EXPECT_EQ(cold.minor_faults, 51);
    } else {
      EXPECT_EQ(pages_and_counts(cold), (Pairs{{1, 820}}));
      EXPECT_EQ(cold.major_faults, 820);
      EXPECT_EQ(cold.minor_faults, 0);
    }
    const PageAccess again = cache.touch(view, whole(size));
    EXPECT_TRUE(again.reads.empty());
    EXPECT_EQ(again.major_faults + again.minor_faults, 0);

    const ViewId other = cache.open(file);
    const PageAccess shared = cache.touch(other, whole(size));
    EXPECT_TRUE(shared.reads.empty());
    EXPECT_EQ(shared.minor_faults, 52);
    EXPECT_EQ(cache.rss(view), size);
    EXPECT_EQ(cache.rss(other), size);
    EXPECT_EQ(cache.pss(view), 1679360_B);
    EXPECT_EQ(cache.resident(), size);
  }
}

TEST(PageCacheTest, SequentialAdviceDoublesTheLargestWindow) {
  PageCache cache({});
  const ViewId view = cache.open(cache.add_file(1_MiB), PageAdvice::kSequential);
  // 4 + 8 + 16 + 32 + 64 + 64 + 64 = 252 of 256 pages; the file ends the last one.
  EXPECT_EQ(pages_and_counts(cache.touch(view, whole(1_MiB))),
            (Pairs{{4, 1}, {8, 1}, {16, 1}, {32, 1}, {64, 3}, {4, 1}}));
}

TEST(PageCacheTest, AJumpStartsWithTheSmallestWindowAgain) {
  PageCache cache({});
  const ViewId view = cache.open(cache.add_file(1_MiB));
  EXPECT_EQ(pages_and_counts(cache.read(view, {0_KiB, 64_KiB})), (Pairs{{4, 1}, {8, 1}, {16, 1}}));
  // Pages 16 to 27 are there already; the next miss goes on from page 28 with 32.
  EXPECT_EQ(pages_and_counts(cache.read(view, {64_KiB, 116_KiB})), (Pairs{{32, 1}}));
  EXPECT_EQ(pages_and_counts(cache.read(view, {512_KiB, 516_KiB})), (Pairs{{4, 1}}));
}

TEST(PageCacheTest, WhatIsPopulatedOrAskedForTakesNoMajorFault) {
  PageCache cache({});
  const FileId file = cache.add_file(4_MiB);
  const ViewId populated = cache.open(file);
  const PageAccess first = cache.populate(populated, whole(4_MiB));
  EXPECT_EQ(pages_and_counts(first), (Pairs{{512, 2}}));
  const PageAccess touched = cache.touch(populated, whole(4_MiB));
  EXPECT_EQ(touched.major_faults + touched.minor_faults, 0);
  // Asked for is not mapped: a minor fault for each 64 KiB.
  PageCache other({});
  const ViewId asked = other.open(other.add_file(4_MiB));
  EXPECT_EQ(other.will_need(asked, whole(4_MiB)).bytes_read, 4_MiB);
  const PageAccess then = other.touch(asked, whole(4_MiB));
  EXPECT_EQ(then.major_faults, 0);
  EXPECT_EQ(then.minor_faults, 64);
}

TEST(PageCacheTest, AWarmStartReadsNothing) {
  PageCache cache({});
  const FileId file = cache.add_file(1_MiB);
  cache.warm(file, whole(1_MiB));
  const PageAccess access = cache.touch(cache.open(file), whole(1_MiB));
  EXPECT_EQ(access.bytes_read, 0_B);
  EXPECT_EQ(access.minor_faults, 16);
  EXPECT_EQ(cache.totals().dropped, 0_B);
}

// 16 KiB pages: the smallest window is one of them, the largest 8, a block 4. 1 MiB = 64 pages.
TEST(PageCacheTest, LargePagesTakeFewerFaults) {
  PageCache cache({.page = 16_KiB});
  const ViewId view = cache.open(cache.add_file(1_MiB), PageAdvice::kRandom);
  EXPECT_EQ(cache.touch(view, whole(1_MiB)).major_faults, 64);
}

// A file of 32 MiB, read in layers of 1 MiB, token after token. Room for all of it: read once. A
// page too little, and every token reads all of it again: 20 GB on a machine that holds 16.
TEST(PageCacheTest, TheCliffOfACircle) {
  for (const Bytes limit : {32_MiB, 32_MiB - 4_KiB, 24_MiB, 16_MiB}) {
    PageCache cache({.limit = limit});
    const ViewId view = cache.open(cache.add_file(32_MiB));
    for (int token = 0; token < 5; ++token) {
      Bytes read;
      for (int64_t layer = 0; layer < 32; ++layer) {
        read += cache.touch(view, {layer * 1_MiB, (layer + 1) * 1_MiB}).bytes_read;
      }
      EXPECT_EQ(read, token == 0 || limit < 32_MiB ? 32_MiB : 0_B) << limit.count();
    }
  }
}

TEST(PageCacheTest, MemoryGoesWithRunsNotPages) {
  PageCache cache({.limit = 3_GiB});
  const ViewId view = cache.open(cache.add_file(4_GiB));
  for (int64_t token = 0; token < 3; ++token) {
    for (int64_t layer = 0; layer < 32; ++layer) {
      const Bytes begin = layer * 128_MiB;
      cache.touch(view, {begin, begin + 128_MiB});
    }
  }
  EXPECT_LE(cache.runs(), 32 * 4);  // of 1,048,576 pages
}

// A's eight pages, used twice, are active. The limit of 12 leaves B four; for its fifth, two of A
// move over behind them, so that six are active and six not. B's 14 pages drop 8 + 14 - 12 = 10:
// four of B, the two of A, four of B. These two come back five and six drops after they went, and
// six pages are active: they join them.
TEST(PageCacheTest, WhatIsUsedAgainOutlivesWhatIsUsedOnce) {
  PageCache cache({.limit = 12 * 4_KiB});
  const FileId a = cache.add_file(8 * 4_KiB);
  const FileId b = cache.add_file(32 * 4_KiB);
  const ViewId used = cache.open(a, PageAdvice::kRandom);
  const ViewId once = cache.open(b, PageAdvice::kRandom);
  cache.read(used, whole(8 * 4_KiB));
  cache.read(used, whole(8 * 4_KiB));
  for (int64_t page = 0; page < 14; ++page) cache.read(once, {page * 4_KiB, (page + 1) * 4_KiB});
  EXPECT_EQ(cache.resident(a), 6 * 4_KiB);
  EXPECT_EQ(cache.resident(b), 6 * 4_KiB);
  EXPECT_EQ(cache.read(used, {0_KiB, 8_KiB}).refaulted_pages, 2);
  // For them two more of B went. Its last four are the oldest that are inactive, then come those of
  // A that move over: the two that have been active longest.
  EXPECT_EQ(cache.reclaim(6 * 4_KiB), 6 * 4_KiB);
  EXPECT_EQ(cache.resident(a), 6 * 4_KiB);
  EXPECT_EQ(cache.resident(b), 0_B);
}

TEST(PageCacheTest, AShrinkingLimitDropsCleanPages) {
  PageCache cache({});
  const ViewId view = cache.open(cache.add_file(1_MiB));
  cache.touch(view, whole(1_MiB));
  EXPECT_EQ(cache.set_limit(768_KiB), 256_KiB);
  EXPECT_EQ(cache.resident(), 768_KiB);
  EXPECT_EQ(cache.rss(view), 768_KiB);
  EXPECT_EQ(cache.reclaim(5000_B), 8_KiB);
  EXPECT_EQ(cache.reclaim(1_GiB), 760_KiB);
  EXPECT_EQ(cache.set_limit(0_B), 0_B);
  EXPECT_EQ(cache.limit(), 4_KiB);
  EXPECT_EQ(cache.totals().dropped, 1_MiB);
}

TEST(PageCacheTest, ARangeBeyondTheFileIsABug) {
  PageCache cache({});
  const ViewId view = cache.open(cache.add_file(5000_B));
  EXPECT_EQ(cache.touch(view, {4095_B, 4097_B}).bytes_read, 8_KiB);  // the pages, not the bytes
  EXPECT_THROW(cache.touch(view, {0_B, 8193_B}), InternalError);
  EXPECT_EQ(cache.touch(view, {100_B, 100_B}).bytes_read, 0_B);
}

}  // namespace
}  // namespace tidemark

#include "sim/memory/page_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>
#include <set>
#include <vector>

#include "naive_page_cache.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

using namespace literals;
using Way = NaivePageCache::Way;

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
TEST(PageCacheTest, WhatIsUsedTwiceOutlivesWhatIsUsedOnce) {
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

struct Twins {
  static constexpr int64_t kPage = 16;
  PageCache cache;
  NaivePageCache judge;
  std::vector<int64_t> lengths{};
  std::vector<int64_t> files_of_views{};
};

int64_t number(int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); }
PageAdvice any_advice() {
  return *rc::gen::element(PageAdvice::kNormal, PageAdvice::kSequential, PageAdvice::kRandom);
}

Twins any_twins() {
  const NaivePageCache::Options pages{.limit = number(1, 50),
                                      .first_window = number(1, 3),
                                      .largest_window = number(3, 8),
                                      .around = number(1, 5),
                                      .largest_request = number(1, 6)};
  const auto bytes = [](int64_t count) { return Bytes::of(count * Twins::kPage); };
  Twins twins{.cache = PageCache({.page = bytes(1),
                                  .limit = bytes(pages.limit),
                                  .first_window = bytes(pages.first_window),
                                  .largest_window = bytes(pages.largest_window),
                                  .fault_around = bytes(pages.around),
                                  .largest_request = bytes(pages.largest_request)}),
              .judge = NaivePageCache(pages)};
  for (int file = 0; file < 2; ++file) {
    twins.lengths.push_back(number(1, 40));
    twins.cache.add_file(bytes(twins.lengths.back()));
    twins.judge.add_file(twins.lengths.back());
  }
  for (const int64_t file : {0, 0, 1}) {
    const PageAdvice advice = any_advice();
    twins.files_of_views.push_back(file);
    twins.cache.open(FileId(file), advice);
    twins.judge.open(file, advice);
  }
  return twins;
}

PageAccess access(PageCache& cache, ViewId view, Interval<Bytes> range, Way way) {
  if (way == Way::kTouch) return cache.touch(view, range);
  if (way == Way::kRead) return cache.read(view, range);
  if (way == Way::kWillNeed) return cache.will_need(view, range);
  return cache.populate(view, range);
}

void one_access(Twins& twins) {
  const auto view = static_cast<size_t>(number(0, 2));
  const int64_t length = twins.lengths[static_cast<size_t>(twins.files_of_views[view])];
  const int64_t first = number(0, length - 1);
  const PageRange range{first, number(first + 1, length)};
  const Interval<Bytes> bytes{Bytes::of(range.lower * Twins::kPage + number(0, Twins::kPage - 1)),
                              Bytes::of(range.upper * Twins::kPage)};
  const Way way = *rc::gen::element(Way::kTouch, Way::kTouch, Way::kTouch, Way::kRead,
                                    Way::kWillNeed, Way::kPopulate);
  const PageAccess got = access(twins.cache, ViewId::of(view), bytes, way);
  const NaivePageCache::Counts want = twins.judge.access(view, range, way);
  std::vector<PageRange> reads;
  for (const PageReads& run : got.reads) {
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t from = (run.offset + i * run.bytes) / Bytes::of(Twins::kPage);
      reads.push_back({from, from + run.bytes / Bytes::of(Twins::kPage)});
    }
  }
  RC_ASSERT(reads == want.reads);
  RC_ASSERT(got.major_faults == want.major);
  RC_ASSERT(got.minor_faults == want.minor);
  RC_ASSERT(got.refaulted_pages == want.refaulted);
  RC_ASSERT(got.dropped == Bytes::of(want.dropped * Twins::kPage));
}

void one_other_thing(Twins& twins) {
  const auto bytes = [](int64_t pages) { return Bytes::of(pages * Twins::kPage); };
  const int64_t pages = number(1, 50);
  switch (number(0, 3)) {
    case 0:
      RC_ASSERT(twins.cache.set_limit(bytes(pages)) == bytes(twins.judge.set_limit(pages)));
      break;
    case 1:
      RC_ASSERT(twins.cache.reclaim(bytes(pages / 8)) == bytes(twins.judge.reclaim(pages / 8)));
      break;
    case 2: {
      const PageRange range{0, std::min(pages, twins.lengths[1])};
      twins.cache.warm(FileId(1), {Bytes{}, bytes(range.upper)});
      twins.judge.warm(1, range);
      break;
    }
    default:
      const PageAdvice advice = any_advice();
      twins.cache.advise(ViewId(0), advice);
      twins.judge.advise(0, advice);
  }
}

void compare(const Twins& twins) {
  const auto bytes = [](int64_t pages) { return Bytes::of(pages * Twins::kPage); };
  RC_ASSERT(twins.cache.resident() <= twins.cache.limit());
  for (const int64_t file : {0, 1})
    RC_ASSERT(twins.cache.resident(FileId(file)) == bytes(twins.judge.resident(file)));
  for (size_t view = 0; view < 3; ++view) {
    RC_ASSERT(twins.cache.rss(ViewId::of(view)) == bytes(twins.judge.rss(view)));
    Bytes share;
    const std::vector<int64_t> by_sharers = twins.judge.by_sharers(view);
    for (size_t n = 1; n < by_sharers.size(); ++n)
      share += bytes(by_sharers[n]) / static_cast<int64_t>(n);
    RC_ASSERT(twins.cache.pss(ViewId::of(view)) == share);
  }
}

TEST(PageCacheJudgeTest, DoesAsItsNaiveJudgeDoes) {
  EXPECT_TRUE(rc::check("page by page", [] {
    Twins twins = any_twins();
    const int64_t length = number(0, 60);
    for (int64_t i = 0; i < length; ++i) {
      if (number(0, 5) == 0) {
        one_other_thing(twins);
      } else {
        one_access(twins);
      }
      compare(twins);
    }
  }));
}

TEST(PageCacheLawsTest, ReadsAtLeastTheWorkingSetAndNothingOnceAllFits) {
  EXPECT_TRUE(rc::check("cold start", [] {
    const int64_t length = number(1, 60);
    const int64_t limit = number(1, 80);
    PageCache cache({.page = Bytes::of(16),
                     .limit = Bytes::of(16 * limit),
                     .first_window = Bytes::of(32),
                     .largest_window = Bytes::of(128)});
    const ViewId view = cache.open(cache.add_file(Bytes::of(16 * length)), any_advice());
    std::set<int64_t> working_set;
    const auto go_through = [&](uint64_t seed) {
      for (int64_t i = 0; i < 20; ++i) {
        const auto first = static_cast<int64_t>(seed % static_cast<uint64_t>(length));
        const int64_t end = std::min(length, first + 1 + i % 5);
        for (int64_t page = first; page < end; ++page) working_set.insert(page);
        cache.touch(view, {Bytes::of(16 * first), Bytes::of(16 * end)});
        seed = seed / 3 + 977 * static_cast<uint64_t>(i);
      }
    };
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    go_through(seed);
    const auto size = static_cast<int64_t>(working_set.size());
    RC_ASSERT(cache.totals().bytes_read >= Bytes::of(16 * size));
    const PageAccess before = cache.totals();
    go_through(seed);
    if (limit >= length) {
      RC_ASSERT(cache.totals().major_faults == before.major_faults);
      RC_ASSERT(cache.totals().minor_faults == before.minor_faults);
      RC_ASSERT(cache.totals().dropped == Bytes{});
    }
  }));
}

TEST(PageSetTest, WorkedInTheHeader) {
  PageSet set;
  set.add({0, 4});
  set.add({8, 10});
  set.add({4, 5});
  EXPECT_EQ(set.runs(), (std::vector<PageRange>{{0, 5}, {8, 10}}));
  EXPECT_EQ(set.count(), 7);
  EXPECT_EQ(set.first_gap({3, 9}), (PageRange{5, 8}));
  EXPECT_TRUE(set.first_gap({8, 10}).empty());
  set.remove({2, 9});
  EXPECT_EQ(set.runs(), (std::vector<PageRange>{{0, 2}, {9, 10}}));
}

TEST(PageSetTest, IsTheSetOfItsPages) {
  EXPECT_TRUE(rc::check("against std::set", [] {
    PageSet set;
    std::set<int64_t> judge;
    for (int64_t i = number(0, 40); i > 0; --i) {
      const int64_t first = number(0, 30);
      const int64_t end = number(first, 32);
      const bool adds = *rc::gen::arbitrary<bool>();
      adds ? set.add({first, end}) : set.remove({first, end});
      for (int64_t page = first; page < end; ++page)
        adds ? void(judge.insert(page)) : void(judge.erase(page));
      std::set<int64_t> pages;
      for (const PageRange& run : set.runs()) {
        for (int64_t page = run.lower; page < run.upper; ++page) pages.insert(page);
      }
      RC_ASSERT(pages == judge);
      RC_ASSERT(set.count() == static_cast<int64_t>(judge.size()));
      const auto starts = std::count_if(judge.begin(), judge.end(),
                                        [&](int64_t page) { return !judge.contains(page - 1); });
      RC_ASSERT(static_cast<int64_t>(set.runs().size()) == starts);
    }
  }));
}

TEST(PageRunsTest, WorkedInTheHeader) {
  PageRuns runs;
  runs.add_file(8);
  runs.put(0, {0, 4}, PageState::kFresh);
  runs.put(0, {4, 8}, PageState::kFresh);
  EXPECT_EQ(runs.runs(), 1);
  runs.touch(0, {2, 6});
  EXPECT_EQ(runs.runs(), 3);
  EXPECT_EQ(runs.from(0, 1).pages, (PageRange{1, 2}));
  EXPECT_EQ(runs.from(0, 3).state, PageState::kTouched);
  EXPECT_EQ(runs.from(0, 3).arrival, 3);
  runs.put(0, {2, 3}, PageState::kActive);
  EXPECT_EQ(runs.from(0, 3).pages, (PageRange{3, 6}));
  EXPECT_EQ(runs.count(PageList::kInactive), 7);
  EXPECT_EQ(runs.count(PageList::kActive), 1);
  EXPECT_EQ(runs.oldest(PageList::kActive).pages, (PageRange{2, 3}));
}

}  // namespace
}  // namespace tidemark

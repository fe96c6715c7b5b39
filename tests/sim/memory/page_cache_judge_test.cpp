// The page cache beside its naive judge, and its laws.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <vector>

#include "naive_page_cache.h"

namespace tidemark {
namespace {

using Way = NaivePageCache::Way;

int64_t number(int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); }

struct Twins {
  static constexpr int64_t kPage = 16;
  PageCache cache;
  NaivePageCache judge;
  std::vector<int64_t> lengths{};
  std::vector<int64_t> files_of_views{};
};

PageAdvice any_advice() {
  return *rc::gen::element(PageAdvice::kNormal, PageAdvice::kSequential, PageAdvice::kRandom);
}

Twins any_twins() {
  const NaivePageCache::Options pages{.limit = number(1, 50),
                                      .first_window = number(1, 3),
                                      .largest_window = number(3, 8),
                                      .around = number(1, 5),
                                      .largest_request = number(1, 6),
                                      .reclaim_per_myriad = number(0, 3000)};
  const auto bytes = [](int64_t count) { return Bytes::of(count * Twins::kPage); };
  Twins twins{.cache = PageCache({.page = bytes(1),
                                  .limit = bytes(pages.limit),
                                  .first_window = bytes(pages.first_window),
                                  .largest_window = bytes(pages.largest_window),
                                  .fault_around = bytes(pages.around),
                                  .largest_request = bytes(pages.largest_request),
                                  .reclaim_per_myriad = pages.reclaim_per_myriad}),
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

}  // namespace
}  // namespace tidemark

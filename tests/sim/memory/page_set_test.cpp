// What the page cache is made of: sets of pages, runs on lists, windows of readahead.
#include "sim/memory/page_set.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <vector>

#include "sim/memory/page_runs.h"
#include "sim/memory/readahead.h"

namespace tidemark {
namespace {

int64_t number(int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); }

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

std::vector<int64_t> sizes(const ReadWindows& windows) {
  std::vector<int64_t> all;
  for (const ReadWindows::Equal& equal : windows.equal)
    all.insert(all.end(), static_cast<size_t>(equal.count), equal.pages);
  return all;
}

TEST(ReadaheadTest, WorkedInTheHeader) {
  GrowingWindow window{.first = 4, .largest = 32};
  EXPECT_EQ(sizes(grow_windows({0, 100}, 50, window)), (std::vector<int64_t>{4, 8, 16, 32}));
  EXPECT_EQ(window.last, 32);
  EXPECT_EQ(sizes(grow_windows({60, 100}, 100, window)), (std::vector<int64_t>{32, 8}));
  EXPECT_EQ(sizes(equal_windows({0, 100}, 50, 20)), (std::vector<int64_t>{20, 20, 10}));
}

TEST(PageSetTest, CountsWhoSharesAPage) {
  PageSet a;
  PageSet b;
  a.add({0, 10});
  b.add({4, 6});
  b.add({20, 30});
  EXPECT_EQ(pages_by_sharers(a, {&a, &b}), (std::map<int64_t, int64_t>{{1, 8}, {2, 2}}));
}

}  // namespace
}  // namespace tidemark

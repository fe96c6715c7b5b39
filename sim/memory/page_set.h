// A set of page numbers as runs: memory goes with the runs, not with the pages.
//
//   add [0,4), add [8,10), add [4,5)   ->  [0,5) [8,10): 7 pages in 2 runs
//   Checked by PageSetTest.WorkedInTheHeader.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "planner/base/interval.h"

namespace tidemark {

using PageRange = Interval<int64_t>;

class PageSet {
 public:
  void add(PageRange pages);
  void remove(PageRange pages);

  int64_t count() const { return count_; }
  // The first run within `pages` that is not in the set; empty if there is none.
  PageRange first_gap(PageRange pages) const;
  std::vector<PageRange> runs() const;  // ascending, not touching each other

 private:
  std::map<int64_t, int64_t> runs_{};  // first page -> one past the last
  int64_t count_ = 0;
};

// The pages of `own` by how many of `all`, among which it is, have them.
std::map<int64_t, int64_t> pages_by_sharers(const PageSet& own,
                                            const std::vector<const PageSet*>& all);

}  // namespace tidemark

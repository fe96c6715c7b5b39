#include "sim/memory/page_set.h"

#include <algorithm>
#include <iterator>

namespace tidemark {

void PageSet::add(PageRange pages) {
  if (pages.empty()) return;
  auto run = runs_.upper_bound(pages.lower);
  if (run != runs_.begin() && std::prev(run)->second >= pages.lower) --run;
  while (run != runs_.end() && run->first <= pages.upper) {
    pages = hull(pages, {run->first, run->second});
    count_ -= run->second - run->first;
    run = runs_.erase(run);
  }
  runs_.emplace(pages.lower, pages.upper);
  count_ += pages.upper - pages.lower;
}

void PageSet::remove(PageRange pages) {
  if (pages.empty()) return;
  auto run = runs_.upper_bound(pages.lower);
  if (run != runs_.begin() && std::prev(run)->second > pages.lower) --run;
  while (run != runs_.end() && run->first < pages.upper) {
    const PageRange old{run->first, run->second};
    run = runs_.erase(run);
    if (old.lower < pages.lower) runs_.emplace(old.lower, pages.lower);
    if (old.upper > pages.upper) runs_.emplace(pages.upper, old.upper);
    count_ -= std::min(old.upper, pages.upper) - std::max(old.lower, pages.lower);
  }
}

PageRange PageSet::first_gap(PageRange pages) const {
  auto run = runs_.upper_bound(pages.lower);
  if (run != runs_.begin()) pages.lower = std::max(pages.lower, std::prev(run)->second);
  if (run != runs_.end()) pages.upper = std::min(pages.upper, run->first);
  return pages.empty() ? PageRange{pages.upper, pages.upper} : pages;
}

std::vector<PageRange> PageSet::runs() const {
  std::vector<PageRange> all;
  all.reserve(runs_.size());
  for (const auto& [first, end] : runs_) all.push_back({first, end});
  return all;
}

std::map<int64_t, int64_t> pages_by_sharers(const PageSet& own,
                                            const std::vector<const PageSet*>& all) {
  std::map<int64_t, int64_t> steps;  // page -> change of the number of sharers from there on
  for (const PageSet* set : all) {
    for (const PageRange& run : set->runs()) {
      ++steps[run.lower];
      --steps[run.upper];
    }
  }
  std::map<int64_t, int64_t> pages;
  int64_t sharers = 0;
  for (auto step = steps.begin(); step != steps.end(); ++step) {
    sharers += step->second;
    const auto next = std::next(step);
    if (next == steps.end()) break;
    const PageRange part{step->first, next->first};
    if (own.first_gap(part).empty()) pages[sharers] += part.upper - part.lower;
  }
  return pages;
}

}  // namespace tidemark

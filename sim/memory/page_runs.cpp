#include "sim/memory/page_runs.h"

#include <algorithm>
#include <iterator>

#include "planner/base/check.h"

namespace tidemark {

PageList PageRuns::list_of(PageState state) {
  if (state == PageState::kActive) return PageList::kActive;
  return state == PageState::kGone ? PageList::kGone : PageList::kInactive;
}

int64_t PageRuns::add_file(int64_t pages) {
  check(pages >= 0, "a file's length is not negative");
  files_.emplace_back();
  lengths_.push_back(pages);
  return static_cast<int64_t>(files_.size()) - 1;
}

PageRuns::Run PageRuns::from(int64_t file, int64_t page) const {
  check(page >= 0 && page < pages_of(file), "a page of the file");
  const File& runs = files_[static_cast<size_t>(file)];
  const auto next = runs.upper_bound(page);
  if (next != runs.begin()) {
    const auto& [first, node] = *std::prev(next);
    if (page < node.end) {
      return {.file = file,
              .pages = {page, node.end},
              .state = node.state,
              .arrival = node.arrival + page - first};
    }
  }
  const int64_t end = next == runs.end() ? pages_of(file) : next->first;
  return {.file = file, .pages = {page, end}};
}

void PageRuns::put(int64_t file, PageRange pages, PageState state) {
  if (pages.empty()) return;
  erase(file, pages);
  List& to = list(state);
  insert(file, pages, to.arrivals, state);
  to.arrivals += pages.upper - pages.lower;
}

void PageRuns::erase(int64_t file, PageRange pages) {
  split(file, pages.lower);
  split(file, pages.upper);
  File& runs = files_.at(static_cast<size_t>(file));
  auto run = runs.lower_bound(pages.lower);
  while (run != runs.end() && run->first < pages.upper) {
    List& of = list(run->second.state);
    of.runs.erase(run->second.arrival);
    of.pages -= run->second.end - run->first;
    run = runs.erase(run);
  }
}

void PageRuns::touch(int64_t file, PageRange pages) {
  while (!pages.empty()) {
    const Run run = from(file, pages.lower);
    const PageRange part{pages.lower, std::min(pages.upper, run.pages.upper)};
    if (run.state == PageState::kFresh) {
      erase(file, part);
      insert(file, part, run.arrival, PageState::kTouched);
    }
    pages.lower = part.upper;
  }
}

PageRuns::Run PageRuns::oldest(PageList list) const {
  const List& of = lists_[index(list)];
  check(!of.runs.empty(), "the list has pages");
  const auto& [file, first] = of.runs.begin()->second;
  return from(file, first);
}

int64_t PageRuns::runs() const {
  size_t sum = 0;
  for (const List& of : lists_) sum += of.runs.size();
  return static_cast<int64_t>(sum);
}

// Makes `page` the first of its run, if it is in one.
void PageRuns::split(int64_t file, int64_t page) {
  File& runs = files_.at(static_cast<size_t>(file));
  const auto next = runs.lower_bound(page);
  if (next == runs.begin()) return;
  const int64_t first = std::prev(next)->first;
  Node& node = std::prev(next)->second;
  if (node.end <= page) return;
  Node rest = node;
  rest.arrival += page - first;
  node.end = page;
  runs.emplace_hint(next, page, rest);
  list(rest.state).runs.emplace(rest.arrival, std::pair{file, page});
}

void PageRuns::insert(int64_t file, PageRange pages, int64_t arrival, PageState state) {
  File& runs = files_[static_cast<size_t>(file)];
  List& to = list(state);
  to.runs.emplace(arrival, std::pair{file, pages.lower});
  to.pages += pages.upper - pages.lower;
  const auto run = runs.emplace(pages.lower, Node{pages.upper, arrival, state}).first;
  join_with_next(file, run);
  if (run != runs.begin()) join_with_next(file, std::prev(run));
}

void PageRuns::join_with_next(int64_t file, File::iterator run) {
  File& runs = files_[static_cast<size_t>(file)];
  const auto next = std::next(run);
  if (next == runs.end() || next->first != run->second.end) return;
  const Node& after = next->second;
  const int64_t follows = run->second.arrival + run->second.end - run->first;
  if (after.state != run->second.state || after.arrival != follows) return;
  list(after.state).runs.erase(after.arrival);
  run->second.end = after.end;
  runs.erase(next);
}

}  // namespace tidemark

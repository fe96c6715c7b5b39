// The pages of files on three lists, each in order of arrival: inactive, active, and those dropped
// lately. Neighbours that arrived together are one run, so memory goes with the runs.
//
//   file of 8 pages, put [0,4) fresh, put [4,8) fresh      inactive: [0,8) fresh
//   touch [2,6)          inactive: [0,2) fresh  [2,6) touched  [6,8) fresh
//   put [2,3) active     inactive: [0,2) fresh  [3,6) touched  [6,8) fresh    active: [2,3)
//   Checked by PageRunsTest.WorkedInTheHeader.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/memory/page_set.h"

namespace tidemark {

enum class PageState {
  kFresh,    // inactive, not touched since it came to that list
  kTouched,  // inactive, touched once
  kActive,
  kGone,  // was dropped
};
enum class PageList { kInactive, kActive, kGone };

constexpr bool is_resident(std::optional<PageState> state) {
  return state.has_value() && *state != PageState::kGone;
}

class PageRuns {
 public:
  struct Run {
    int64_t file = 0;
    PageRange pages{};
    std::optional<PageState> state{};  // nothing: on no list
    int64_t arrival = 0;               // of its first page on its list, counted in pages
  };

  int64_t add_file(int64_t pages);  // its number
  int64_t pages_of(int64_t file) const { return lengths_.at(static_cast<size_t>(file)); }

  // The rest, from `page` on, of the run or gap that `page` lies in.
  Run from(int64_t file, int64_t page) const;
  // Takes the pages from wherever they are to the young end of that state's list.
  void put(int64_t file, PageRange pages, PageState state);
  void erase(int64_t file, PageRange pages);
  // Fresh pages among these become touched and keep their place.
  void touch(int64_t file, PageRange pages);

  Run oldest(PageList list) const;  // there must be one
  int64_t count(PageList list) const { return lists_[index(list)].pages; }
  int64_t arrivals(PageList list) const { return lists_[index(list)].arrivals; }
  int64_t runs() const;

 private:
  struct Node {
    int64_t end = 0;
    int64_t arrival = 0;
    PageState state = PageState::kFresh;
  };
  using File = std::map<int64_t, Node>;  // by first page
  struct List {
    std::map<int64_t, std::pair<int64_t, int64_t>> runs{};  // arrival -> file, first page
    int64_t pages = 0;
    int64_t arrivals = 0;
  };

  static size_t index(PageList list) { return static_cast<size_t>(list); }
  static PageList list_of(PageState state);
  List& list(PageState state) { return lists_[index(list_of(state))]; }
  void split(int64_t file, int64_t page);
  void insert(int64_t file, PageRange pages, int64_t arrival, PageState state);
  void join_with_next(int64_t file, File::iterator run);

  std::vector<File> files_{};
  std::vector<int64_t> lengths_{};
  std::array<List, 3> lists_{};
};

}  // namespace tidemark

// The page cache from the definition, page by page: the judge of sim/memory/page_cache.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sim/memory/page_cache.h"
#include "sim/memory/page_runs.h"

namespace tidemark {

class NaivePageCache {
 public:
  using Page = std::pair<int64_t, int64_t>;  // file, number
  enum class Way { kTouch, kRead, kWillNeed, kPopulate, kWarm };

  struct Options {  // all in pages
    int64_t limit = 1;
    int64_t first_window = 1;
    int64_t largest_window = 1;
    int64_t around = 1;
    int64_t largest_request = 1;
    int64_t reclaim_per_myriad = 0;
  };
  struct Counts {
    std::vector<PageRange> reads{};
    int64_t major = 0;
    int64_t minor = 0;
    int64_t refaulted = 0;
    int64_t dropped = 0;
  };

  explicit NaivePageCache(Options options) : options_(options) {}

  void add_file(int64_t pages) { files_.emplace_back(static_cast<size_t>(pages)); }
  void open(int64_t file, PageAdvice advice) {
    const auto pages = files_[static_cast<size_t>(file)].size();
    views_.push_back({file, advice, 0, 0, std::vector<bool>(pages, false)});
  }
  void advise(size_t view, PageAdvice advice) { views_[view].advice = advice; }

  Counts access(size_t view, PageRange range, Way way) { return walk(views_[view], range, way); }
  void warm(int64_t file, PageRange range) {
    View nobody{file, PageAdvice::kNormal, 0, 0, {}};
    nobody.mapped.resize(files_[static_cast<size_t>(file)].size());
    walk(nobody, range, Way::kWarm);
  }

  int64_t reclaim(int64_t pages) {
    int64_t dropped = 0;
    for (; pages > 0 && resident() > 0; --pages, ++dropped) drop_one();
    return dropped;
  }
  int64_t set_limit(int64_t limit) {
    options_.limit = limit;
    return reclaim(resident() - limit);
  }

  int64_t resident() const { return static_cast<int64_t>(inactive_.size() + active_.size()); }
  int64_t resident(int64_t file) const {
    const auto& pages = files_[static_cast<size_t>(file)];
    return std::count_if(pages.begin(), pages.end(), there);
  }
  int64_t rss(size_t view) const {
    return std::count(views_[view].mapped.begin(), views_[view].mapped.end(), true);
  }
  // Pages of the view by how many views map them: [n].
  std::vector<int64_t> by_sharers(size_t view) const {
    std::vector<int64_t> counts(views_.size() + 1, 0);
    for (size_t page = 0; page < views_[view].mapped.size(); ++page) {
      if (!views_[view].mapped[page]) continue;
      const auto sharers = std::count_if(views_.begin(), views_.end(), [&](const View& other) {
        return other.file == views_[view].file && other.mapped[page];
      });
      ++counts[static_cast<size_t>(sharers)];
    }
    return counts;
  }

 private:
  struct Status {
    bool known = false;  // resident, or dropped lately
    PageState state = PageState::kFresh;
    int64_t gone_at = 0;
  };
  struct View {
    int64_t file = 0;
    PageAdvice advice{};
    int64_t next = 0;
    int64_t window = 0;
    std::vector<bool> mapped{};
  };

  static bool there(const Status& page) { return page.known && page.state != PageState::kGone; }
  Status& at(int64_t file, int64_t page) {
    return files_[static_cast<size_t>(file)][static_cast<size_t>(page)];
  }
  int64_t length(const View& view) const {
    return static_cast<int64_t>(files_[static_cast<size_t>(view.file)].size());
  }
  static bool uses(Way way) { return way == Way::kTouch || way == Way::kRead; }

  Counts walk(View& view, PageRange range, Way way) {
    Counts counts;
    for (int64_t page = range.lower; page < range.upper;) {
      if (there(at(view.file, page))) {
        use(view, page, way, counts);
        ++page;
      } else {
        page = fill(view, page, range.upper, way, counts);
      }
      if (uses(way)) view.next = page;
    }
    return counts;
  }

  void map_block(View& view, int64_t page) {
    const int64_t first = page / options_.around * options_.around;
    for (int64_t i = first; i < std::min(first + options_.around, length(view)); ++i) {
      if (there(at(view.file, i))) view.mapped[static_cast<size_t>(i)] = true;
    }
  }

  void use(View& view, int64_t page, Way way, Counts& counts) {
    if (way == Way::kTouch && !view.mapped[static_cast<size_t>(page)]) {
      ++counts.minor;
      map_block(view, page);
    }
    if (way == Way::kPopulate) view.mapped[static_cast<size_t>(page)] = true;
    if (!uses(way)) return;
    Status& status = at(view.file, page);
    if (status.state == PageState::kFresh) {
      status.state = PageState::kTouched;
    } else if (status.state == PageState::kTouched) {
      inactive_.erase(std::find(inactive_.begin(), inactive_.end(), Page{view.file, page}));
      active_.emplace_back(view.file, page);
      status.state = PageState::kActive;
    }
  }

  std::vector<PageRange> windows(View& view, int64_t page, int64_t last, Way way) {
    std::vector<PageRange> all;
    const bool grows = uses(way) && view.advice != PageAdvice::kRandom;
    const int64_t largest =
        options_.largest_window * (view.advice == PageAdvice::kSequential ? 2 : 1);
    if (grows && view.next != page) view.window = 0;
    const int64_t most = page + options_.limit;
    while (page < last && page < most && !there(at(view.file, page))) {
      int64_t window = way == Way::kTouch ? 1 : options_.largest_request;
      int64_t end = std::min(last, most);
      if (grows) {
        view.window = view.window == 0 ? options_.first_window : 2 * view.window;
        window = view.window = std::min(view.window, largest);
        end = std::min(length(view), most);
      }
      PageRange read{page, page};
      while (read.upper < end && read.upper - page < window && !there(at(view.file, read.upper)))
        ++read.upper;
      all.push_back(read);
      page = read.upper;
    }
    return all;
  }

  int64_t fill(View& view, int64_t page, int64_t last, Way way, Counts& counts) {
    const std::vector<PageRange> reads = windows(view, page, last, way);
    const int64_t end = reads.back().upper;
    std::vector<PageState> states;
    for (int64_t i = page; i < end; ++i) {
      const Status& status = at(view.file, i);
      PageState state = uses(way) && i < last ? PageState::kTouched : PageState::kFresh;
      if (status.known) {
        ++counts.refaulted;
        if (drops_ - status.gone_at <= static_cast<int64_t>(active_.size()))
          state = PageState::kActive;
      }
      states.push_back(way == Way::kWarm ? PageState::kTouched : state);
    }
    const int64_t excess = resident() + end - page - options_.limit;
    const int64_t least = options_.limit * options_.reclaim_per_myriad / 10000;
    if (excess > 0) counts.dropped += reclaim(std::max(excess, least));
    for (int64_t i = page; i < end; ++i) {
      const PageState state = states[static_cast<size_t>(i - page)];
      std::erase(gone_, Page{view.file, i});
      at(view.file, i) = {.known = true, .state = state};
      (state == PageState::kActive ? active_ : inactive_).emplace_back(view.file, i);
    }
    if (way == Way::kTouch) fault(view, reads, last, counts);
    if (way == Way::kPopulate) {
      for (int64_t i = page; i < end; ++i) view.mapped[static_cast<size_t>(i)] = true;
    }
    counts.reads.insert(counts.reads.end(), reads.begin(), reads.end());
    return std::min(end, last);
  }

  void fault(View& view, const std::vector<PageRange>& reads, int64_t last, Counts& counts) {
    for (const PageRange& read : reads) {
      ++counts.major;
      std::set<int64_t> blocks;
      for (int64_t i = read.lower; i < std::min(read.upper, last); ++i) {
        blocks.insert(i / options_.around);
        map_block(view, i);
      }
      counts.minor += static_cast<int64_t>(blocks.size()) - 1;
    }
  }

  void drop_one() {
    while (active_.size() > inactive_.size()) {
      inactive_.push_back(active_.front());
      at(active_.front().first, active_.front().second).state = PageState::kFresh;
      active_.erase(active_.begin());
    }
    const Page page = inactive_.front();
    inactive_.erase(inactive_.begin());
    at(page.first, page.second) = {.known = true, .state = PageState::kGone, .gone_at = drops_++};
    gone_.push_back(page);
    for (View& view : views_) {
      if (view.file == page.first) view.mapped[static_cast<size_t>(page.second)] = false;
    }
    forget();
  }

  void forget() {
    while (static_cast<int64_t>(gone_.size()) > options_.limit) {
      at(gone_.front().first, gone_.front().second).known = false;
      gone_.erase(gone_.begin());
    }
  }

  Options options_;
  std::vector<std::vector<Status>> files_{};
  std::vector<View> views_{};
  std::vector<Page> inactive_{};  // oldest first
  std::vector<Page> active_{};
  std::vector<Page> gone_{};
  int64_t drops_ = 0;
};

}  // namespace tidemark

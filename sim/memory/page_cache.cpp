#include "sim/memory/page_cache.h"

#include <algorithm>
#include <utility>

#include "planner/base/check.h"
#include "sim/memory/page_runs.h"
#include "sim/memory/page_set.h"
#include "sim/memory/readahead.h"

namespace tidemark {
namespace {

enum class Way { kTouch, kRead, kWillNeed, kPopulate, kWarm };

bool uses_pages(Way way) { return way == Way::kTouch || way == Way::kRead; }

struct View {
  FileId file{};
  PageAdvice advice = PageAdvice::kNormal;
  int64_t next = 0;    // one past the last page used
  int64_t window = 0;  // of the last read
  PageSet mapped{};
};

}  // namespace

struct PageCache::Impl {
  PageCacheOptions options{};
  int64_t limit = 0;  // in pages
  int64_t first_window = 0;
  int64_t largest_window = 0;
  int64_t around = 0;
  int64_t largest_request = 0;
  PageRuns pages{};
  std::vector<View> views{};
  PageAccess totals{};

  explicit Impl(PageCacheOptions given) : options(given) {
    check(options.page > Bytes{}, "a page has a size");
    check(options.reclaim_per_myriad >= 0 && options.reclaim_per_myriad <= 10000, "a share");
    const auto in_pages = [&](Bytes size) { return std::max<int64_t>(size / options.page, 1); };
    limit = in_pages(options.limit);
    first_window = in_pages(options.first_window);
    largest_window = std::max(in_pages(options.largest_window), first_window);
    around = in_pages(options.fault_around);
    largest_request = in_pages(options.largest_request);
  }

  int64_t resident() const {
    return pages.count(PageList::kInactive) + pages.count(PageList::kActive);
  }

  PageRange pages_in(FileId file, Interval<Bytes> range) const {
    check(range.lower >= Bytes{} && range.lower <= range.upper, "a range of bytes");
    const int64_t upper = (range.upper + (options.page - Bytes::of(1))) / options.page;
    check(upper <= pages.pages_of(file.value()), "a range ends within its file");
    return {range.lower / options.page, range.lower == range.upper ? 0 : upper};
  }

  PageAccess access(ViewId id, Interval<Bytes> range, Way way) {
    View& view = views.at(id.index());
    PageAccess access = walk(view, pages_in(view.file, range), way);
    totals.major_faults += access.major_faults;
    totals.minor_faults += access.minor_faults;
    totals.refaulted_pages += access.refaulted_pages;
    totals.bytes_read += access.bytes_read;
    totals.dropped += access.dropped;
    return access;
  }

  PageAccess walk(View& view, PageRange range, Way way) {
    PageAccess access;
    if (range.empty()) return access;
    for (int64_t page = range.lower; page < range.upper;) {
      const PageRuns::Run run = pages.from(view.file.value(), page);
      if (is_resident(run.state)) {
        const PageRange there{page, std::min(run.pages.upper, range.upper)};
        use(view, there, *run.state, way, access);
        page = there.upper;
      } else {
        page = std::min(fill_gap(view, {page, range.upper}, way, access), range.upper);
      }
      if (uses_pages(way)) view.next = page;
    }
    return access;
  }

  // Pages of one run that are there.
  void use(View& view, PageRange there, PageState state, Way way, PageAccess& access) {
    const int64_t file = view.file.value();
    if (way == Way::kTouch) access.minor_faults += map_by_faults(view, there);
    if (way == Way::kPopulate) view.mapped.add(there);
    if (!uses_pages(way)) return;
    if (state == PageState::kFresh) pages.touch(file, there);
    if (state == PageState::kTouched) pages.put(file, there, PageState::kActive);
  }

  int64_t block_of(int64_t page) const { return page / around; }
  int64_t blocks_in(PageRange range) const {
    return range.empty() ? 0 : block_of(range.upper - 1) - block_of(range.lower) + 1;
  }

  int64_t map_by_faults(View& view, PageRange there) {
    int64_t faults = 0;
    while (!there.empty()) {
      const PageRange gap = view.mapped.first_gap(there);
      faults += blocks_in(gap);
      map_blocks(view, gap);
      there.lower = gap.upper;
    }
    return faults;
  }

  // Maps what is there of the aligned blocks that `range` touches.
  void map_blocks(View& view, PageRange range) {
    if (range.empty()) return;
    const int64_t file = view.file.value();
    const int64_t end = std::min((block_of(range.upper - 1) + 1) * around, pages.pages_of(file));
    for (int64_t page = block_of(range.lower) * around; page < end;) {
      const PageRuns::Run run = pages.from(file, page);
      const PageRange part{page, std::min(run.pages.upper, end)};
      if (is_resident(run.state)) view.mapped.add(part);
      page = part.upper;
    }
  }

  // Reads what is missing from wanted.lower on; returns where that ends.
  int64_t fill_gap(View& view, PageRange wanted, Way way, PageAccess& access) {
    const ReadWindows windows = plan_reads(view, wanted, way);
    const PageRange brought{wanted.lower, windows.end};
    const PageRange used{wanted.lower,
                         uses_pages(way) ? std::min(windows.end, wanted.upper) : wanted.lower};
    const std::vector<PageRuns::Run> parts = arrivals(view.file.value(), brought, used, access);
    const int64_t excess = resident() + (brought.upper - brought.lower) - limit;
    if (excess > 0) {
      const int64_t least = limit / 10000 * options.reclaim_per_myriad +
                            limit % 10000 * options.reclaim_per_myriad / 10000;
      access.dropped += drop(std::max(excess, least)) * options.page;
    }
    for (const PageRuns::Run& part : parts) {
      pages.put(part.file, part.pages, way == Way::kWarm ? PageState::kTouched : *part.state);
    }
    note_reads(view, windows, access);
    if (way == Way::kTouch) {
      count_faults(windows, used, access);
      map_blocks(view, used);
    }
    if (way == Way::kPopulate) view.mapped.add(brought);
    return windows.end;
  }

  ReadWindows plan_reads(View& view, PageRange wanted, Way way) const {
    const bool grows = uses_pages(way) && view.advice != PageAdvice::kRandom;
    const int64_t largest = largest_window * (view.advice == PageAdvice::kSequential ? 2 : 1);
    const int64_t reach = grows ? wanted.upper + largest : wanted.upper;
    PageRange gap{wanted.lower, end_of_gap(view.file.value(), wanted.lower, reach)};
    gap.upper = std::min(gap.upper, gap.lower + limit);
    if (!grows) return equal_windows(gap, wanted.upper, way == Way::kTouch ? 1 : largest_request);
    const bool goes_on = view.next == gap.lower;
    GrowingWindow window{
        .first = first_window, .largest = largest, .last = goes_on ? view.window : 0};
    ReadWindows windows = grow_windows(gap, wanted.upper, window);
    view.window = window.last;
    return windows;
  }

  int64_t end_of_gap(int64_t file, int64_t page, int64_t reach) const {
    const int64_t end = std::min(reach, pages.pages_of(file));
    while (page < end) {
      const PageRuns::Run run = pages.from(file, page);
      if (is_resident(run.state)) break;
      page = run.pages.upper;
    }
    return std::min(page, end);
  }

  // On which list each part of what is brought in will stand.
  std::vector<PageRuns::Run> arrivals(int64_t file, PageRange brought, PageRange used,
                                      PageAccess& access) const {
    std::vector<PageRuns::Run> parts;
    const auto add = [&](PageRange part, PageState state) {
      if (!part.empty()) parts.push_back({.file = file, .pages = part, .state = state});
    };
    while (!brought.empty()) {
      PageRuns::Run run = pages.from(file, brought.lower);
      run.pages.upper = std::min(run.pages.upper, brought.upper);
      if (run.pages.lower < used.upper) run.pages.upper = std::min(run.pages.upper, used.upper);
      const PageState plain =
          run.pages.lower < used.upper ? PageState::kTouched : PageState::kFresh;
      int64_t plain_end = run.pages.upper;
      if (run.state == PageState::kGone) {
        access.refaulted_pages += run.pages.upper - run.pages.lower;
        // Pages dropped since page p was: dropped - arrival(p), p itself included.
        const int64_t ago = pages.arrivals(PageList::kGone) - run.arrival;
        plain_end = run.pages.lower + ago - pages.count(PageList::kActive);
        plain_end = std::clamp(plain_end, run.pages.lower, run.pages.upper);
      }
      add({run.pages.lower, plain_end}, plain);
      add({plain_end, run.pages.upper}, PageState::kActive);
      brought.lower = run.pages.upper;
    }
    return parts;
  }

  void note_reads(const View& view, const ReadWindows& windows, PageAccess& access) const {
    for (const ReadWindows::Equal& equal : windows.equal) {
      access.reads.push_back({.file = view.file,
                              .offset = equal.first * options.page,
                              .bytes = equal.pages * options.page,
                              .count = equal.count});
      access.bytes_read += equal.pages * equal.count * options.page;
    }
  }

  void count_faults(const ReadWindows& windows, PageRange used, PageAccess& access) const {
    for (const ReadWindows::Equal& equal : windows.equal) {
      access.major_faults += equal.count;
      if (equal.pages == 1) continue;
      for (int64_t i = 0; i < equal.count; ++i) {
        const int64_t first = equal.first + i * equal.pages;
        access.minor_faults += blocks_in({first, std::min(first + equal.pages, used.upper)}) - 1;
      }
    }
  }

  // Pages dropped: `count` of those there are.
  int64_t drop(int64_t count) {
    count = std::min(count, resident());
    if (count <= 0) return 0;
    const int64_t keep_active = (resident() - count + 1) / 2;
    move_oldest(PageList::kActive, pages.count(PageList::kActive) - keep_active, PageState::kFresh);
    move_oldest(PageList::kInactive, count, PageState::kGone);
    while (pages.count(PageList::kGone) > limit) {
      const PageRuns::Run run = pages.oldest(PageList::kGone);
      const int64_t excess = pages.count(PageList::kGone) - limit;
      const int64_t end = std::min(run.pages.upper, run.pages.lower + excess);
      pages.erase(run.file, {run.pages.lower, end});
    }
    return count;
  }

  void move_oldest(PageList from, int64_t count, PageState state) {
    while (count > 0) {
      const PageRuns::Run run = pages.oldest(from);
      const PageRange part{run.pages.lower, std::min(run.pages.upper, run.pages.lower + count)};
      pages.put(run.file, part, state);
      count -= part.upper - part.lower;
      if (state != PageState::kGone) continue;
      for (View& view : views) {
        if (view.file.value() == run.file) view.mapped.remove(part);
      }
    }
  }
};

PageCache::PageCache(PageCacheOptions options) : impl_(std::make_unique<Impl>(options)) {}
PageCache::~PageCache() = default;
PageCache::PageCache(PageCache&& other) noexcept = default;
PageCache& PageCache::operator=(PageCache&& other) noexcept = default;

FileId PageCache::add_file(Bytes size) {
  const Bytes page = impl_->options.page;
  return FileId(impl_->pages.add_file((size + (page - Bytes::of(1))) / page));
}

ViewId PageCache::open(FileId file, PageAdvice advice) {
  check(impl_->pages.pages_of(file.value()) >= 0, "the file exists");
  impl_->views.push_back({.file = file, .advice = advice});
  return ViewId::of(impl_->views.size() - 1);
}

void PageCache::advise(ViewId view, PageAdvice advice) {
  impl_->views.at(view.index()).advice = advice;
}

PageAccess PageCache::touch(ViewId view, Interval<Bytes> range) {
  return impl_->access(view, range, Way::kTouch);
}
PageAccess PageCache::read(ViewId view, Interval<Bytes> range) {
  return impl_->access(view, range, Way::kRead);
}
PageAccess PageCache::will_need(ViewId view, Interval<Bytes> range) {
  return impl_->access(view, range, Way::kWillNeed);
}
PageAccess PageCache::populate(ViewId view, Interval<Bytes> range) {
  return impl_->access(view, range, Way::kPopulate);
}

void PageCache::warm(FileId file, Interval<Bytes> range) {
  View nobody{.file = file};
  impl_->walk(nobody, impl_->pages_in(file, range), Way::kWarm);
}

Bytes PageCache::set_limit(Bytes limit) {
  impl_->limit = std::max<int64_t>(limit / impl_->options.page, 1);
  const int64_t excess = impl_->resident() - impl_->limit;
  return excess > 0 ? reclaim(excess * impl_->options.page) : Bytes{};
}

Bytes PageCache::limit() const { return impl_->limit * impl_->options.page; }

Bytes PageCache::reclaim(Bytes bytes) {
  const Bytes page = impl_->options.page;
  const Bytes dropped = impl_->drop((bytes + (page - Bytes::of(1))) / page) * page;
  impl_->totals.dropped += dropped;
  return dropped;
}

Bytes PageCache::resident() const { return impl_->resident() * impl_->options.page; }

Bytes PageCache::resident(FileId file) const {
  Bytes sum;
  for (const Interval<Bytes>& range : resident_ranges(file)) sum += range.upper - range.lower;
  return sum;
}

std::vector<Interval<Bytes>> PageCache::resident_ranges(FileId file) const {
  const Bytes page = impl_->options.page;
  const int64_t end = impl_->pages.pages_of(file.value());
  std::vector<Interval<Bytes>> ranges;
  for (int64_t at = 0; at < end;) {
    const PageRuns::Run run = impl_->pages.from(file.value(), at);
    const int64_t upper = std::min(run.pages.upper, end);
    if (is_resident(run.state)) {
      const bool goes_on = !ranges.empty() && ranges.back().upper == page * at;
      if (!goes_on) ranges.push_back({page * at, page * at});
      ranges.back().upper = page * upper;
    }
    at = upper;
  }
  return ranges;
}

Bytes PageCache::rss(ViewId view) const {
  return impl_->views.at(view.index()).mapped.count() * impl_->options.page;
}

Bytes PageCache::pss(ViewId view) const {
  const View& own = impl_->views.at(view.index());
  std::vector<const PageSet*> sharers;
  for (const View& other : impl_->views) {
    if (other.file == own.file) sharers.push_back(&other.mapped);
  }
  Bytes sum;
  for (const auto& [n, pages] : pages_by_sharers(own.mapped, sharers))
    sum += pages * impl_->options.page / n;
  return sum;
}

const PageAccess& PageCache::totals() const { return impl_->totals; }
int64_t PageCache::runs() const { return impl_->pages.runs(); }

}  // namespace tidemark

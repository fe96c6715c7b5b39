// The kernel's cache of file pages: what is read, which faults a process takes, what is dropped.
// No clock: each access says how many reads of what size it needs, and a loader charges for them.
//
//   A weight file of 3,358,720 B = 820 pages of 4 KiB, cold, touched through a mapping:
//
//   advice   reads (pages)                       major   minor
//   normal   4, 8, 16, 24 x 32, 24                  28      51
//   random   820 x 1                               820       0
//   touched again                                    0       0
//   touched by a second process                      0      52   = 820 / 16 rounded up
//   Both then have an Rss of 3,358,720 and a Pss of 1,679,360 B; resident is 3,358,720 B, once.
//   Checked by PageCacheTest.WorkedInTheHeader. (A phone took 3.55 ms and 110 ms for the two.)
//
// Readahead. A page that is missing is read with its followers. The window is the smallest at
// first, doubles with each read that goes on where the access before ended, up to the largest, and
// ends before a page that is there or at the file's end. Advice: sequential doubles the largest,
// random reads what is asked for: a page a fault, or a read() as it is. Unlike Linux, there is no
// reading around a random fault, and the next window is asked for when it is needed, not before.
//
// Faults. The first page of each read takes a major fault. A minor one maps the aligned block of
// pages about it that are there (fault-around); so each further block of a read takes one.
//
// Reclaim. Pages come to the inactive list; a second touch makes them active. To drop n pages, the
// oldest active ones move over until no more are active than inactive, then the oldest inactive go.
// A page that comes back is a refault; if not more pages were dropped since it was than are active,
// it belongs to the working set and is active at once. Room for all that is missing side by side
// is made at once, and, as the kernel's own reclaim goes on to its watermark, a thousandth of the
// limit at the least. Left out: second chances by page-table bits, dirty pages, anonymous memory
// (the limit is what the rest of the system leaves).
//
// A circle of pages larger than the limit thus never hits: the lists are queues. Memory goes with
// runs of pages that came together. An access costs O(log runs) for each run it meets.
//
// Sources: Linux mm/readahead.c, mm/filemap.c, mm/vmscan.c, mm/workingset.c (defaults: 128 KiB
// largest window, 64 KiB fault-around, vm.watermark_scale_factor 10); madvise(2), posix_fadvise(2),
// proc(5) for Pss.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"
#include "planner/base/interval.h"

namespace tidemark {

using FileId = Id<struct FileTag>;
using ViewId = Id<struct ViewTag>;  // one process's mapping, or open file, of one file

enum class PageAdvice { kNormal, kSequential, kRandom };

struct PageCacheOptions {
  Bytes page = Bytes::of(4096);              // 4 or 16 KiB; the other sizes are whole pages of it,
  Bytes limit = Bytes::of(1) * (1LL << 40);  // rounded down, one page at least
  Bytes first_window = Bytes::of(16 * 1024);
  Bytes largest_window = Bytes::of(128 * 1024);
  Bytes fault_around = Bytes::of(64 * 1024);
  Bytes largest_request = Bytes::of(2 * 1024 * 1024);  // of will_need, populate, a random read()
  int64_t reclaim_per_myriad = 10;  // of the limit: what is dropped at least, when room is made
};

// `count` reads of `bytes` each, one after the other in the file.
struct PageReads {
  FileId file{};
  Bytes offset{};
  Bytes bytes{};
  int64_t count = 0;
  bool operator==(const PageReads&) const = default;
};

struct PageAccess {
  std::vector<PageReads> reads{};
  int64_t major_faults = 0;
  int64_t minor_faults = 0;
  int64_t refaulted_pages = 0;
  Bytes bytes_read{};  // whole pages
  Bytes dropped{};     // to make room
};

class PageCache {
 public:
  explicit PageCache(PageCacheOptions options);
  ~PageCache();
  PageCache(PageCache&& other) noexcept;
  PageCache& operator=(PageCache&& other) noexcept;

  FileId add_file(Bytes size);
  ViewId open(FileId file, PageAdvice advice = PageAdvice::kNormal);
  void advise(ViewId view, PageAdvice advice);

  // Ranges are of bytes of the file and end within it.
  PageAccess touch(ViewId view, Interval<Bytes> range);      // through the mapping
  PageAccess read(ViewId view, Interval<Bytes> range);       // read() into memory of its own
  PageAccess will_need(ViewId view, Interval<Bytes> range);  // MADV_WILLNEED: nobody waits
  PageAccess populate(ViewId view, Interval<Bytes> range);   // MAP_POPULATE: read and mapped
  // As an earlier run has left it, read front to back: nothing is counted.
  void warm(FileId file, Interval<Bytes> range);

  // What the rest of the system leaves; a lower one drops pages. Returns how much.
  Bytes set_limit(Bytes limit);
  Bytes limit() const;
  // Drops `bytes`, rounded up to pages, or all there is. Returns how much.
  Bytes reclaim(Bytes bytes);

  Bytes resident() const;
  Bytes resident(FileId file) const;
  std::vector<Interval<Bytes>> resident_ranges(
      FileId file) const;  // whole pages, from front to back
  Bytes rss(ViewId view) const;
  // Each page shared out among those that map it; rounded down for each number of them.
  Bytes pss(ViewId view) const;
  const PageAccess& totals() const;  // of all accesses; its list of reads stays empty
  int64_t runs() const;              // what memory goes with

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark

// The weight file is mapped: pages come on demand, with readahead, and go when the page cache is
// full. A visit touches its unit from front to back, then computes.
//
// Readahead runs ahead of the touch, so reads that follow one another in the file take the time of
// one. With random advice each page is a read of its own.
//
// Prefetch asks for the units of the next visits once the unit at hand is there, and does not wait.
// Storage answers in the order of the requests, and a visit waits for the pages of its own unit
// only. Four layers, 10 us a read and 1 us a compute, two asked for ahead:
//
//   storage   r0 [0,10)  r1 [10,20)   r2 [20,30)   r3 [30,40)
//   compute       c0 [10,11)   c1 [20,21)   c2 [30,31)   c3 [40,41)
//   r3 is asked for when l1 is there, at 20. Checked by MmapTest.AVisitWaitsForItsOwnPagesOnly.
//
// The pages take part in reclaim like any others: ask for more than the cache holds and those that
// were fetched first are dropped before they are used, and read twice. How much is counted. What is
// read twice waits for all that was asked for before it.
#include <utility>
#include <vector>

#include "planner/base/check.h"
#include "sim/memory/page_set.h"
#include "sim/strategy/weight_loader.h"

namespace tidemark {
namespace {

class MmapLoader : public WeightLoader {
 public:
  MmapLoader(WeightStore& store, const Itinerary& itinerary, MappedFile& file, MemoryLedger& ledger)
      : store_(store), itinerary_(itinerary), file_(file), ledger_(ledger) {
    ledger_.set_mapped_weights(file_.cache.resident());
  }

  void need(int64_t visit, Action on_resident) override {
    const UnitId unit = itinerary_.unit_at(visit);
    Action ready = [this, visit, unit, on_resident = std::move(on_resident)] {
      store_.note_ready(unit);
      prefetch_after(visit);
      on_resident();
    };
    if (is_on_device(unit)) return copy_to_device(unit, std::move(ready));
    const PageAccess access = each_piece(unit, false);
    ledger_.set_mapped_weights(file_.cache.resident());
    const Duration opening = std::exchange(opening_, Duration{});
    if (access.bytes_read > Bytes{} || opening > Duration{}) {
      store_.read_bytes(name(unit), access.bytes_read, opening + time_of(access), std::move(ready));
      return;
    }
    Action map = [this, unit, faults = time_of(access), ready = std::move(ready)]() mutable {
      store_.map_pages(name(unit), faults, std::move(ready));
    };
    if (coming(unit) == 0) return map();
    waits_for_ = unit;
    on_come_ = std::move(map);
  }

  std::string drop_prefetch() override {
    return std::exchange(file_.prefetch, 0) > 0 ? "nothing is asked for ahead" : "";
  }

 private:
  Interval<Bytes> extent(UnitId unit) const { return file_.extents.at(unit.index()); }

  // Touches, or asks for, what every file has of the unit.
  PageAccess each_piece(UnitId unit, bool is_ahead) {
    PageAccess all;
    const std::vector<FilePiece>& pieces = file_.pieces.at(unit.index());
    for (const FilePiece& piece : pieces) {
      const ViewId view = file_.views.at(piece.file);
      PageAccess one = is_ahead ? file_.cache.will_need(view, piece.range)
                                : file_.cache.touch(view, piece.range);
      follow_ahead(piece, one, is_ahead);
      opening_ += store_.open_file(piece.file);
      if (pieces.size() == 1) return one;
      all.reads.insert(all.reads.end(), one.reads.begin(), one.reads.end());
      all.major_faults += one.major_faults;
      all.minor_faults += one.minor_faults;
      all.bytes_read += one.bytes_read;
    }
    return all;
  }

  // A page that was asked for ahead, not touched since, and is read once more was dropped unused.
  void follow_ahead(const FilePiece& piece, const PageAccess& access, bool is_ahead) {
    if (piece.range.empty() || (ahead_.empty() && !is_ahead)) return;
    if (ahead_.empty()) ahead_.resize(file_.files.size());
    PageSet& ahead = ahead_.at(piece.file);
    const auto pages = [this](Interval<Bytes> range) {
      return PageRange{range.lower / file_.page, ceil_div(range.upper.count(), file_.page.count())};
    };
    for (const PageReads& reads : access.reads) {
      const PageRange read = pages({reads.offset, reads.offset + reads.bytes * reads.count});
      const int64_t before = ahead.count();
      ahead.remove(read);
      file_.dropped_unused += file_.page * (before - ahead.count());
      if (is_ahead) ahead.add(read);
    }
    if (!is_ahead) ahead.remove(pages(piece.range));
  }

  bool is_on_device(UnitId unit) const {
    return !file_.on_device.empty() && file_.on_device.at(unit.index());
  }

  // Its pages are given back once they are copied.
  void copy_to_device(UnitId unit, Action on_resident) {
    if (copied_.empty()) copied_.resize(file_.names.size());
    if (copied_.at(unit.index())) return on_resident();
    copied_.at(unit.index()) = true;
    const Bytes bytes = extent(unit).upper - extent(unit).lower;
    store_.read_bytes(name(unit), bytes, store_.read_time(bytes), std::move(on_resident),
                      store_.file_source());
  }

  const std::string& name(UnitId unit) const { return file_.names.at(unit.index()); }

  // Requests for its pages that storage has not answered.
  int64_t& coming(UnitId unit) {
    if (coming_.empty()) coming_.resize(file_.names.size());
    return coming_.at(unit.index());
  }

  void ask_for(UnitId unit, const PageAccess& access) {
    ++coming(unit);
    const Duration service = time_of(access) + std::exchange(opening_, Duration{});
    store_.read_bytes(name(unit), access.bytes_read, service, [this, unit] {
      const bool is_last = --coming(unit) == 0;
      if (is_last && on_come_ && unit == waits_for_) std::exchange(on_come_, nullptr)();
    });
  }

  // What the page cache lacks comes from storage, also when the file began in it.
  Duration time_of(const PageAccess& access) const {
    Duration time = file_.page_fault * (access.minor_faults + access.major_faults);
    if (file_.is_random) {
      for (const PageReads& reads : access.reads) {
        time += store_.storage().service(reads.bytes, ReadOrder::kRandom, 1) * reads.count;
      }
      return time;
    }
    if (file_.rate) {
      return file_.page_fault * access.minor_faults + transfer_time(access.bytes_read, *file_.rate);
    }
    Interval<Bytes> run;  // of a file, read without a gap
    FileId file;
    for (const PageReads& reads : access.reads) {
      const Bytes end = reads.offset + reads.bytes * reads.count;
      if (reads.offset != run.upper || reads.file != file) {
        if (!run.empty()) time += store_.storage_time(run.upper - run.lower);
        run.lower = reads.offset;
        file = reads.file;
      }
      run.upper = end;
    }
    return run.empty() ? time : time + store_.storage_time(run.upper - run.lower);
  }

  void prefetch_after(int64_t visit) {
    for (int64_t ahead = visit + 1; ahead <= visit + file_.prefetch && ahead < itinerary_.visits();
         ++ahead) {
      const UnitId unit = itinerary_.unit_at(ahead);
      if (is_on_device(unit)) continue;
      const PageAccess access = each_piece(unit, true);
      if (access.bytes_read == Bytes{}) continue;
      ledger_.set_mapped_weights(file_.cache.resident());
      ask_for(unit, access);
    }
  }

  WeightStore& store_;
  const Itinerary& itinerary_;
  MappedFile& file_;
  MemoryLedger& ledger_;
  std::vector<bool> copied_{};     // by unit
  std::vector<PageSet> ahead_{};   // by file: asked for ahead and not touched; empty = never
  std::vector<int64_t> coming_{};  // by unit
  UnitId waits_for_{};
  Action on_come_{};    // of its pages; empty = nobody waits
  Duration opening_{};  // of files touched since the last request
};

}  // namespace

MappedFile::MappedFile(const Scenario& scenario, const std::vector<WeightUnit>& units, Bytes limit,
                       const WeightFiles* split)
    : cache({.page = scenario.device.page_size, .limit = limit}),
      page(scenario.device.page_size),
      page_fault(scenario.device.page_fault),
      rate(scenario.device.mapped_read),
      is_random(scenario.load.read_order == ReadOrder::kRandom),
      prefetch(scenario.load.prefetch) {
  Bytes end;
  for (const WeightUnit& unit : units) {
    extents.push_back({end, end + unit.bytes});
    pieces.push_back({{.file = 0, .range = extents.back()}});
    names.push_back(unit.name);
    end += unit.bytes;
  }
  if (split != nullptr) pieces = split->pieces;
  const std::vector<Bytes> sizes = split != nullptr ? split->sizes : std::vector<Bytes>{end};
  // Room for all of it is room for its last pages, too.
  Bytes whole_pages;
  for (const Bytes size : sizes) whole_pages += page * ceil_div(size.count(), page.count());
  if (limit >= end) cache.set_limit(whole_pages);
  for (const Bytes size : sizes) files.push_back(cache.add_file(size));
  open_again();
  file = files.front();
  view = views.front();
  if (!scenario.load.is_cached) return;
  for (size_t i = 0; i < files.size(); ++i) cache.warm(files[i], {Bytes{}, sizes[i]});
}

void MappedFile::open_again() {
  views.clear();
  for (const FileId each : files) {
    views.push_back(cache.open(each, is_random ? PageAdvice::kRandom : PageAdvice::kNormal));
  }
}

std::unique_ptr<WeightLoader> make_mmap_loader(WeightStore& store, const Itinerary& itinerary,
                                               MappedFile& file, MemoryLedger& ledger) {
  return std::make_unique<MmapLoader>(store, itinerary, file, ledger);
}

}  // namespace tidemark

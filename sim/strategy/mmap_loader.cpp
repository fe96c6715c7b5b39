// The weight file is mapped: pages come on demand, with readahead, and go when the page cache is
// full. A visit touches its unit from front to back, then computes.
//
// Readahead runs ahead of the touch, so reads that follow one another in the file take the time of
// one. With random advice each page is a read of its own.
//
// Prefetch asks for the units of the next visits when a visit begins, and does not wait. The pages
// take part in reclaim like any others: ask for more than the cache holds and those that were
// fetched first are dropped before they are used, and read twice.
#include <utility>
#include <vector>

#include "planner/base/check.h"
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
    if (is_on_device(unit)) {
      copy_to_device(unit, std::move(on_resident));
      return prefetch_after(visit);
    }
    const PageAccess access = file_.cache.touch(file_.view, extent(unit));
    ledger_.set_mapped_weights(file_.cache.resident());
    charge(unit, access, std::move(on_resident));
    prefetch_after(visit);
  }

  std::string drop_prefetch() override {
    return std::exchange(file_.prefetch, 0) > 0 ? "nothing is asked for ahead" : "";
  }

 private:
  Interval<Bytes> extent(UnitId unit) const { return file_.extents.at(unit.index()); }

  bool is_on_device(UnitId unit) const {
    return !file_.on_device.empty() && file_.on_device.at(unit.index());
  }

  // Its pages are given back once they are copied.
  void copy_to_device(UnitId unit, Action on_resident) {
    if (copied_.empty()) copied_.resize(file_.names.size());
    if (copied_.at(unit.index())) return on_resident();
    copied_.at(unit.index()) = true;
    const Bytes bytes = extent(unit).upper - extent(unit).lower;
    store_.read_bytes(file_.names.at(unit.index()), bytes, store_.read_time(bytes),
                      std::move(on_resident));
  }

  // Reads queue behind those that were asked for earlier, so a touch of pages that are still on
  // their way waits for them.
  void charge(UnitId unit, const PageAccess& access, Action on_resident) {
    const Duration service = time_of(access);
    if (service == Duration{} && unread_ == 0) return on_resident();
    ++unread_;
    store_.read_bytes(file_.names.at(unit.index()), access.bytes_read, service,
                      [this, on_resident = std::move(on_resident)] {
                        --unread_;
                        if (on_resident) on_resident();
                      });
  }

  Duration time_of(const PageAccess& access) const {
    Duration time = file_.page_fault * (access.minor_faults + access.major_faults);
    if (file_.is_random) {
      for (const PageReads& reads : access.reads) {
        time += store_.storage().service(reads.bytes, ReadOrder::kRandom, 1) * reads.count;
      }
      return time;
    }
    Interval<Bytes> run;  // of the file, read without a gap
    for (const PageReads& reads : access.reads) {
      const Bytes end = reads.offset + reads.bytes * reads.count;
      if (reads.offset != run.upper) {
        if (!run.empty()) time += store_.read_time(run.upper - run.lower);
        run.lower = reads.offset;
      }
      run.upper = end;
    }
    return run.empty() ? time : time + store_.read_time(run.upper - run.lower);
  }

  void prefetch_after(int64_t visit) {
    for (int64_t ahead = visit + 1; ahead <= visit + file_.prefetch && ahead < itinerary_.visits();
         ++ahead) {
      const UnitId unit = itinerary_.unit_at(ahead);
      if (is_on_device(unit)) continue;
      const PageAccess access = file_.cache.will_need(file_.view, extent(unit));
      if (access.bytes_read == Bytes{}) continue;
      ledger_.set_mapped_weights(file_.cache.resident());
      charge(unit, access, nullptr);
    }
  }

  WeightStore& store_;
  const Itinerary& itinerary_;
  MappedFile& file_;
  MemoryLedger& ledger_;
  std::vector<bool> copied_{};  // by unit
  int64_t unread_ = 0;          // requests that storage has not answered
};

}  // namespace

MappedFile::MappedFile(const Scenario& scenario, const std::vector<WeightUnit>& units, Bytes limit)
    : cache({.page = scenario.device.page_size, .limit = limit}),
      page_fault(scenario.device.page_fault),
      is_random(scenario.load.read_order == ReadOrder::kRandom),
      prefetch(scenario.load.prefetch) {
  Bytes end;
  for (const WeightUnit& unit : units) {
    extents.push_back({end, end + unit.bytes});
    names.push_back(unit.name);
    end += unit.bytes;
  }
  // Room for all of it is room for its last page, too.
  const Bytes page = scenario.device.page_size;
  if (limit >= end) cache.set_limit(page * ceil_div(end.count(), page.count()));
  file = cache.add_file(end);
  view = cache.open(file, is_random ? PageAdvice::kRandom : PageAdvice::kNormal);
  if (scenario.load.is_cached) cache.warm(file, {Bytes{}, end});
}

std::unique_ptr<WeightLoader> make_mmap_loader(WeightStore& store, const Itinerary& itinerary,
                                               MappedFile& file, MemoryLedger& ledger) {
  return std::make_unique<MmapLoader>(store, itinerary, file, ledger);
}

}  // namespace tidemark

// Weight units between storage and memory. Storage serves one read at a time, in the order of the
// requests. The destination is allocated when a read starts, so the unit's bytes are resident from
// then until it is released.
//
//   What was read is then initialised: parsed, checked, unpacked. Three units, read r, initialise
//   i:
//     overlapping     r0 r1 r2            one after the other     r0 i0 r1 i1 r2 i2
//                        i0 i1 i2
//   Checked by WeightStoreTest.ThreeUnits.
//
//   Where a device says what pages cost to make, each read begins with that of its destination.
//   What was released is taken again first, and cheaper. Units of 4, 4 and 8 bytes, one at a time,
//   fresh memory 1 byte a ns, reused 2:  fresh 4 | reused 4 | reused 4, fresh 4  ->  4 + 2 + 6 ns.
//   Checked by WeightStoreTest.PagesAreMadeOnceAndReused.
#pragma once

#include <functional>
#include <vector>

#include "planner/capacity/scenario.h"
#include "planner/capacity/weight_units.h"
#include "sim/core/server.h"
#include "sim/core/trace.h"
#include "sim/device/storage_model.h"
#include "sim/strategy/load_progress.h"
#include "sim/strategy/memory_ledger.h"
#include "sim/strategy/weight_files.h"

namespace tidemark {

enum class ReadFrom { kStorage, kPageCache };

class WeightStore {
 public:
  using Action = std::function<void()>;

  // `trace` may be null.
  WeightStore(Simulation& simulation, const Scenario& scenario,
              const std::vector<WeightUnit>& units, MemoryLedger& ledger, Trace* trace);

  // Who is told how far the weights have come; null = nobody.
  void tell(LoadProgress* progress) { progress_ = progress; }
  // The weights lie in these; null = in one file that is open. For the store's lifetime.
  void lie_in(const WeightFiles* files);

  void read(UnitId unit, Action on_ready) { read(unit, choices_.read_order, std::move(on_ready)); }
  // In requests at random places, or one after the other, whatever the scenario asks for.
  void read(UnitId unit, ReadOrder order, Action on_ready);
  // In requests of the caller's, which take so long together.
  void read_for(UnitId unit, Duration service, Action on_ready);
  void release(UnitId unit);
  // Bytes whose memory somebody else counts: pages of a mapped file, cells of a cache that lie in
  // storage. `what` names them in the trace. They are not initialised.
  void read_bytes(std::string what, Bytes bytes, Duration service, Action on_read,
                  ReadFrom from = ReadFrom::kStorage);
  // Page faults of a unit whose pages are in memory: storage goes on with what it does.
  void map_pages(std::string what, Duration faults, Action on_mapped);

  // A unit that read_bytes() has brought, or that was there.
  void note_ready(UnitId unit);
  // Opens the file when it was not; what that takes.
  Duration open_file(size_t file);

  // How long one read of so many bytes of the weight file takes, in the requests that the scenario
  // asks for; from storage, whatever the page cache holds.
  Duration read_time(Bytes bytes) const { return read_time(bytes, choices_.read_order); }
  Duration storage_time(Bytes bytes) const { return storage_time(bytes, choices_.read_order); }
  // Of `count` requests of so many bytes each, at random places of the weight file.
  Duration scattered_time(Bytes request, int64_t count) const;
  Duration initialise_time(Bytes bytes) const;
  const StorageModel& storage() const { return storage_; }

  // Where the weight file is read from: a warm page cache holds all of it.
  ReadFrom file_source() const {
    return choices_.is_cached ? ReadFrom::kPageCache : ReadFrom::kStorage;
  }

  Bytes bytes_read() const { return bytes_read_; }
  Bytes from_storage() const { return from_storage_; }     // of them
  Duration reading() const { return reading_; }            // storage busy
  Duration initialising() const { return initialising_; }  // what initialises busy

 private:
  Duration read_time(Bytes bytes, ReadOrder order) const;
  Duration storage_time(Bytes bytes, ReadOrder order) const;
  Duration unit_time(UnitId unit, ReadOrder order);
  Duration pages_time(Bytes bytes);
  void on_read_start(UnitId unit, Duration service);
  void on_read_done(UnitId unit, Action on_ready);
  void on_initialised(UnitId unit, const Action& on_ready);
  void trace_span(const char* lane, std::string name, Duration duration);

  Simulation& simulation_;
  const LoadChoices& choices_;
  const DeviceSpec& device_;
  StorageModel storage_;
  const std::vector<WeightUnit>& units_;
  MemoryLedger& ledger_;
  Trace* trace_;
  LoadProgress* progress_ = nullptr;
  const WeightFiles* files_ = nullptr;
  std::vector<bool> is_open_{};  // by file
  Server flash_;
  Server initialiser_;
  Bytes given_back_{};  // released, and not taken again
  Bytes bytes_read_{};
  Bytes from_storage_{};
  Duration reading_{};
  Duration initialising_{};
};

}  // namespace tidemark

// Weight units between storage and memory. Storage serves one read at a time, in the order of the
// requests. The destination is allocated when a read starts, so the unit's bytes are resident from
// then until it is released.
//
//   What was read is then initialised: parsed, checked, unpacked. Three units, read r, initialise
//   i:
//     overlapping     r0 r1 r2            one after the other     r0 i0 r1 i1 r2 i2
//                        i0 i1 i2
//   Checked by WeightStoreTest.ThreeUnits.
#pragma once

#include <functional>
#include <vector>

#include "planner/capacity/scenario.h"
#include "planner/capacity/weight_units.h"
#include "sim/core/server.h"
#include "sim/core/trace.h"
#include "sim/device/storage_model.h"
#include "sim/strategy/memory_ledger.h"

namespace tidemark {

class WeightStore {
 public:
  using Action = std::function<void()>;

  // `trace` may be null.
  WeightStore(Simulation& simulation, const Scenario& scenario,
              const std::vector<WeightUnit>& units, MemoryLedger& ledger, Trace* trace);

  void read(UnitId unit, Action on_ready);
  void release(UnitId unit);
  // Bytes whose memory somebody else counts: pages of a mapped file, cells of a cache that lie in
  // storage. `what` names them in the trace. They are not initialised.
  void read_bytes(std::string what, Bytes bytes, Duration service, Action on_read);

  // How long one read of so many bytes takes, in the requests that the scenario asks for.
  Duration read_time(Bytes bytes) const;
  Duration initialise_time(Bytes bytes) const;
  const StorageModel& storage() const { return storage_; }

  Bytes bytes_read() const { return bytes_read_; }
  Duration reading() const { return reading_; }            // storage busy
  Duration initialising() const { return initialising_; }  // what initialises busy

 private:
  void on_read_start(UnitId unit, Duration service);
  void on_read_done(UnitId unit, Action on_ready);
  void trace_span(const char* lane, std::string name, Duration duration);

  const Simulation& simulation_;
  const LoadChoices& choices_;
  const DeviceSpec& device_;
  StorageModel storage_;
  const std::vector<WeightUnit>& units_;
  MemoryLedger& ledger_;
  Trace* trace_;
  Server flash_;
  Server initialiser_;
  Bytes bytes_read_{};
  Duration reading_{};
  Duration initialising_{};
};

}  // namespace tidemark

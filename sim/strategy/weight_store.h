// Weight units between flash and memory. Flash serves one read at a time, in the order of the
// requests. The destination is allocated when a read starts, so the unit's bytes are resident from
// then until it is released.
#pragma once

#include <functional>
#include <vector>

#include "planner/capacity/device_spec.h"
#include "planner/capacity/weight_units.h"
#include "sim/core/server.h"
#include "sim/core/trace.h"
#include "sim/strategy/memory_ledger.h"

namespace tidemark {

class WeightStore {
 public:
  using Action = std::function<void()>;

  // `trace` may be null.
  WeightStore(Simulation& simulation, const DeviceSpec& device,
              const std::vector<WeightUnit>& units, MemoryLedger& ledger, Trace* trace);

  void read(UnitId unit, Action on_read);
  void release(UnitId unit);
  Bytes bytes_read() const { return bytes_read_; }

 private:
  void on_read_start(UnitId unit, Duration service);

  const Simulation& simulation_;
  const DeviceSpec& device_;
  const std::vector<WeightUnit>& units_;
  MemoryLedger& ledger_;
  Trace* trace_;
  Server flash_;
  Bytes bytes_read_{};
};

}  // namespace tidemark

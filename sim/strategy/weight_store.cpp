#include "sim/strategy/weight_store.h"

#include <utility>

#include "sim/device/device_model.h"

namespace tidemark {

WeightStore::WeightStore(Simulation& simulation, const DeviceSpec& device,
                         const std::vector<WeightUnit>& units, MemoryLedger& ledger, Trace* trace)
    : simulation_(simulation),
      device_(device),
      units_(units),
      ledger_(ledger),
      trace_(trace),
      flash_(simulation, 1) {}

void WeightStore::read(UnitId unit, Action on_read) {
  const Duration service = read_time(device_, units_.at(unit.index()).bytes);
  flash_.request(
      service, [this, unit, service] { on_read_start(unit, service); }, std::move(on_read));
}

void WeightStore::on_read_start(UnitId unit, Duration service) {
  const WeightUnit& read = units_[unit.index()];
  ledger_.load_weights(read.bytes);
  bytes_read_ += read.bytes;
  if (trace_ == nullptr) return;
  trace_->spans.push_back({.lane = "flash",
                           .name = "read " + read.name,
                           .start = simulation_.now(),
                           .duration = service});
}

void WeightStore::release(UnitId unit) { ledger_.release_weights(units_.at(unit.index()).bytes); }

}  // namespace tidemark

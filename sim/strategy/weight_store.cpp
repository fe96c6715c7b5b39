#include "sim/strategy/weight_store.h"

#include <utility>

namespace tidemark {

WeightStore::WeightStore(Simulation& simulation, const Scenario& scenario,
                         const std::vector<WeightUnit>& units, MemoryLedger& ledger, Trace* trace)
    : simulation_(simulation),
      choices_(scenario.load),
      device_(scenario.device),
      storage_(scenario.device),
      units_(units),
      ledger_(ledger),
      trace_(trace),
      flash_(simulation, 1),
      initialiser_(simulation, 1) {}

Duration WeightStore::read_time(Bytes bytes) const {
  if (choices_.is_cached) return transfer_time(bytes, device_.cached_rate());
  const Bytes request = choices_.read_size > Bytes{} ? choices_.read_size : bytes;
  if (request >= bytes) return storage_.service(bytes, choices_.read_order, choices_.read_depth);
  return storage_.transfer(bytes, request, choices_.read_order, choices_.read_depth);
}

Duration WeightStore::initialise_time(Bytes bytes) const {
  const bool is_free = choices_.initialise == BytesPerSecond{};
  return is_free ? Duration{} : transfer_time(bytes, choices_.initialise);
}

// One after the other, storage waits while its last read is initialised.
void WeightStore::read(UnitId unit, Action on_ready) {
  const Bytes bytes = units_.at(unit.index()).bytes;
  const Duration service = read_time(bytes);
  const Duration held = choices_.overlaps ? service : service + initialise_time(bytes);
  flash_.request(
      held, [this, unit, service] { on_read_start(unit, service); },
      [this, unit, on_ready = std::move(on_ready)]() mutable {
        on_read_done(unit, std::move(on_ready));
      });
}

void WeightStore::on_read_start(UnitId unit, Duration service) {
  const WeightUnit& read = units_[unit.index()];
  ledger_.load_weights(read.bytes);
  bytes_read_ += read.bytes;
  reading_ += service;
  trace_span("flash", "read " + read.name, service);
}

void WeightStore::on_read_done(UnitId unit, Action on_ready) {
  const WeightUnit& read = units_[unit.index()];
  const Duration service = initialise_time(read.bytes);
  initialising_ += service;
  if (service == Duration{} || !choices_.overlaps) {
    if (on_ready) on_ready();
    return;
  }
  initialiser_.request(
      service,
      [this, unit, service] {
        trace_span("initialise", "initialise " + units_[unit.index()].name, service);
      },
      std::move(on_ready));
}

void WeightStore::read_bytes(std::string what, Bytes bytes, Duration service, Action on_read) {
  flash_.request(
      service,
      [this, what = std::move(what), bytes, service] {
        bytes_read_ += bytes;
        reading_ += service;
        trace_span("flash", "read " + what, service);
      },
      std::move(on_read));
}

void WeightStore::release(UnitId unit) { ledger_.release_weights(units_.at(unit.index()).bytes); }

void WeightStore::trace_span(const char* lane, std::string name, Duration duration) {
  if (trace_ == nullptr) return;
  trace_->spans.push_back(
      {.lane = lane, .name = std::move(name), .start = simulation_.now(), .duration = duration});
}

}  // namespace tidemark

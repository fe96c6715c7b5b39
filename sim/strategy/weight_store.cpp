#include "sim/strategy/weight_store.h"

#include <algorithm>
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

void WeightStore::lie_in(const WeightFiles* files) {
  files_ = files;
  is_open_.assign(files != nullptr ? files->sizes.size() : 0, false);
}

Duration WeightStore::read_time(Bytes bytes, ReadOrder order) const {
  if (choices_.is_cached) return transfer_time(bytes, device_.cached_rate());
  return storage_time(bytes, order);
}

Duration WeightStore::storage_time(Bytes bytes, ReadOrder order) const {
  const Bytes request = choices_.read_size > Bytes{} ? choices_.read_size : bytes;
  if (request >= bytes) return storage_.service(bytes, order, choices_.read_depth);
  return storage_.transfer(bytes, request, order, choices_.read_depth);
}

Duration WeightStore::scattered_time(Bytes request, int64_t count) const {
  if (choices_.is_cached) return transfer_time(request * count, device_.cached_rate());
  return storage_.service(request, ReadOrder::kRandom, choices_.read_depth) * count;
}

Duration WeightStore::open_file(size_t file) {
  if (files_ == nullptr || is_open_.at(file)) return {};
  is_open_[file] = true;
  return device_.flash_latency;
}

Duration WeightStore::unit_time(UnitId unit, ReadOrder order) {
  if (files_ == nullptr) return read_time(units_.at(unit.index()).bytes, order);
  Duration time;
  for (const FilePiece& piece : files_->pieces.at(unit.index())) {
    time += open_file(piece.file) + read_time(piece.range.upper - piece.range.lower, order);
  }
  return time;
}

// The pages it is read into are made first, of those that were given back if there are some.
Duration WeightStore::pages_time(Bytes bytes) {
  if (!device_.fresh_memory) return {};
  const Bytes again = std::min(bytes, given_back_);
  given_back_ -= again;
  return transfer_time(bytes - again, *device_.fresh_memory) +
         transfer_time(again, device_.reused_memory.value_or(*device_.fresh_memory));
}

Duration WeightStore::initialise_time(Bytes bytes) const {
  const bool is_free = choices_.initialise == BytesPerSecond{};
  return is_free ? Duration{} : transfer_time(bytes, choices_.initialise);
}

void WeightStore::read(UnitId unit, ReadOrder order, Action on_ready) {
  const Bytes bytes = units_.at(unit.index()).bytes;
  read_for(unit, unit_time(unit, order) + pages_time(bytes), std::move(on_ready));
}

// One after the other, storage waits while its last read is initialised.
void WeightStore::read_for(UnitId unit, Duration service, Action on_ready) {
  const Bytes bytes = units_.at(unit.index()).bytes;
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
  if (file_source() == ReadFrom::kStorage) from_storage_ += read.bytes;
  reading_ += service;
  trace_span("flash", "read " + read.name, service);
}

void WeightStore::on_read_done(UnitId unit, Action on_ready) {
  const WeightUnit& read = units_[unit.index()];
  const Duration service = initialise_time(read.bytes);
  initialising_ += service;
  if (progress_ != nullptr) progress_->on_read(unit);
  if (service == Duration{} || !choices_.overlaps) return on_initialised(unit, on_ready);
  initialiser_.request(
      service,
      [this, unit, service] {
        trace_span("initialise", "initialise " + units_[unit.index()].name, service);
      },
      [this, unit, on_ready = std::move(on_ready)] { on_initialised(unit, on_ready); });
}

void WeightStore::on_initialised(UnitId unit, const Action& on_ready) {
  if (progress_ != nullptr) progress_->on_ready(unit);
  if (on_ready) on_ready();
}

void WeightStore::read_bytes(std::string what, Bytes bytes, Duration service, Action on_read,
                             ReadFrom from) {
  flash_.request(
      service,
      [this, what = std::move(what), bytes, service, from] {
        bytes_read_ += bytes;
        if (from == ReadFrom::kStorage) from_storage_ += bytes;
        reading_ += service;
        trace_span("flash", "read " + what, service);
      },
      std::move(on_read));
}

void WeightStore::map_pages(std::string what, Duration faults, Action on_mapped) {
  if (faults == Duration{}) return on_mapped();
  trace_span("faults", "map " + what, faults);
  simulation_.after(faults, std::move(on_mapped));
}

void WeightStore::note_ready(UnitId unit) {
  if (progress_ == nullptr) return;
  progress_->on_read(unit);
  progress_->on_ready(unit);
}

void WeightStore::release(UnitId unit) {
  const Bytes bytes = units_.at(unit.index()).bytes;
  given_back_ += bytes;
  ledger_.release_weights(bytes);
}

void WeightStore::trace_span(const char* lane, std::string name, Duration duration) {
  if (trace_ == nullptr) return;
  trace_->spans.push_back(
      {.lane = lane, .name = std::move(name), .start = simulation_.now(), .duration = duration});
}

}  // namespace tidemark

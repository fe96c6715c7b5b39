#include "sim/strategy/memory_ledger.h"

#include <fmt/format.h>

#include "planner/base/check.h"

namespace tidemark {
namespace {

bool same_bytes(CurvePoint a, const CurvePoint& b) {
  a.time = b.time;
  return a == b;
}

}  // namespace

std::string describe(const Place& place, const std::vector<WeightUnit>& units) {
  if (place.kind == Place::Kind::kLoading) return "loading weights";
  const std::string_view what =
      place.kind == Place::Kind::kAccess ? "access" : name_of(place.phase);
  if (place.unit.value() < 0) return fmt::format("{} {}", what, place.index);
  return fmt::format("{} {}, {}", what, place.index, units.at(place.unit.index()).name);
}

MemoryLedger::MemoryLedger(const Simulation& simulation, const CurvePoint& reserved,
                           bool weights_in_file)
    : simulation_(simulation), now_(reserved), weights_in_file_(weights_in_file) {
  now_.time = simulation.now();
  peak_ = {.total = now_.total(), .time = now_.time, .parts = now_};
  curve_.push_back(now_);
}

void MemoryLedger::listen(Listener listener) {
  listener_ = std::move(listener);
  listener_(now_);
}

void MemoryLedger::reserve(const CurvePoint& more) {
  now_.kv_cache += more.kv_cache;
  now_.recurrent_state += more.recurrent_state;
  now_.compute += more.compute;
  now_.output += more.output;
  now_.runtime += more.runtime;
  record();
}

void MemoryLedger::load_weights(Bytes bytes) {
  now_.weights += bytes;
  if (weights_in_file_) now_.file_backed += bytes;
  record();
}

void MemoryLedger::release_weights(Bytes bytes) {
  check(bytes <= now_.weights, "only what was loaded can be released");
  now_.weights -= bytes;
  if (weights_in_file_) now_.file_backed -= bytes;
  record();
}

void MemoryLedger::set_mapped_weights(Bytes bytes) {
  now_.weights = bytes;
  now_.file_backed = bytes;
  record();
}

void MemoryLedger::set_compute(Bytes bytes) {
  now_.compute = bytes;
  record();
}

void MemoryLedger::set_kv_cache(Bytes bytes) {
  now_.kv_cache = bytes;
  record();
}

void MemoryLedger::record() {
  if (same_bytes(now_, curve_.back())) return;
  now_.time = simulation_.now();
  const Bytes total = now_.total();
  const bool superseded = curve_.back().time == now_.time;
  const bool was_peak = peak_.time == now_.time && curve_.back().total() == peak_.total;
  if (superseded && !(was_peak && total < peak_.total)) curve_.pop_back();
  if (total > peak_.total)
    peak_ = {.total = total, .time = now_.time, .place = place_, .parts = now_};
  if (curve_.empty() || !same_bytes(now_, curve_.back())) curve_.push_back(now_);
  if (!keeps_curve_ && curve_.size() > 2) curve_.erase(curve_.begin());
  if (listener_) listener_(now_);
}

}  // namespace tidemark

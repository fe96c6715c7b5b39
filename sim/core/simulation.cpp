#include "sim/core/simulation.h"

#include <limits>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr SimTime kNever = SimTime::ns(std::numeric_limits<int64_t>::max());

}  // namespace

Simulation::Simulation(QueueKind queue) : queue_(make_event_queue(queue)) {}
Simulation::~Simulation() = default;

Slot Simulation::free_slot(SimTime time) {
  check(time >= now_, "an event must not be scheduled in the past");
  return events_.take();
}

EventId Simulation::schedule(SimTime time, Slot slot) {
  const int64_t sequence = scheduled_++;
  events_[slot].sequence = sequence;
  queue_->push({.time = time, .sequence = sequence, .slot = slot});
  return EventId(slot, sequence);
}

// The slot is free again before the action runs: it may schedule events of its own, and it can no
// longer be cancelled.
Action Simulation::take(Slot slot) {
  Action action = std::move(events_[slot].action);
  events_[slot].sequence = kNotPending;
  events_.give_back(slot);
  return action;
}

// Runs the next event unless it is later than `until`.
bool Simulation::run_next(SimTime until) {
  const std::optional<PendingEvent> next = queue_->pop(until);
  if (!next) return false;
  check(next->time >= now_, "time must not go back");
  now_ = next->time;
  ++ran_;
  Action action = take(next->slot);
  if (action) action();
  return true;
}

bool Simulation::cancel(EventId event) {
  if (event.slot_ >= events_.size()) return false;
  if (event.sequence_ == kNotPending) return false;
  if (events_[event.slot_].sequence != event.sequence_) return false;
  queue_->erase(event.slot_);
  take(event.slot_);
  ++cancelled_;
  return true;
}

bool Simulation::step() {
  if (run_next(kNever)) return true;
  check(scheduled_ == ran_ + cancelled_, "an event was lost");
  return false;
}

void Simulation::run() {
  while (step()) {
  }
}

void Simulation::run_until(SimTime time) {
  check(time >= now_, "time must not go back");
  while (run_next(time)) {
  }
  now_ = time;
}

}  // namespace tidemark

#include "sim/core/simulation.h"

#include <limits>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr SimTime kNever = SimTime::ns(std::numeric_limits<int64_t>::max());
constexpr int64_t kNotPending = -1;

struct Scheduled {
  Action action{};
  int64_t sequence = kNotPending;
};

}  // namespace

struct Simulation::Impl {
  explicit Impl(QueueKind kind) : queue(make_event_queue(kind)) {}

  SimTime now{};
  std::unique_ptr<EventQueue> queue;
  SlotPool<Scheduled> events{};
  int64_t scheduled = 0;  // also the sequence of the next event
  int64_t ran = 0;
  int64_t cancelled = 0;

  // The slot is free again before the action runs: it may schedule events of its own, and it can no
  // longer be cancelled.
  Action take(Slot slot) {
    Action action = std::move(events[slot].action);
    events[slot].sequence = kNotPending;
    events.give_back(slot);
    return action;
  }

  // Runs the next event unless it is later than `until`.
  bool run_next(SimTime until) {
    const std::optional<PendingEvent> next = queue->pop(until);
    if (!next) return false;
    check(next->time >= now, "time must not go back");
    now = next->time;
    ++ran;
    Action action = take(next->slot);
    if (action) action();
    return true;
  }
};

Simulation::Simulation(QueueKind queue) : impl_(std::make_unique<Impl>(queue)) {}
Simulation::~Simulation() = default;

SimTime Simulation::now() const { return impl_->now; }

int64_t Simulation::pending() const { return impl_->queue->size(); }

EventId Simulation::at(SimTime time, Action action) {
  check(time >= impl_->now, "an event must not be scheduled in the past");
  const Slot slot = impl_->events.take();
  Scheduled& event = impl_->events[slot];
  event.action = std::move(action);
  event.sequence = impl_->scheduled++;
  impl_->queue->push({.time = time, .sequence = event.sequence, .slot = slot});
  return EventId(slot, event.sequence);
}

EventId Simulation::after(Duration delay, Action action) {
  return at(impl_->now + delay, std::move(action));
}

bool Simulation::cancel(EventId event) {
  if (event.slot_ >= impl_->events.size()) return false;
  if (event.sequence_ == kNotPending) return false;
  if (impl_->events[event.slot_].sequence != event.sequence_) return false;
  impl_->queue->erase(event.slot_);
  impl_->take(event.slot_);
  ++impl_->cancelled;
  return true;
}

bool Simulation::step() {
  if (impl_->run_next(kNever)) return true;
  check(impl_->scheduled == impl_->ran + impl_->cancelled, "an event was lost");
  return false;
}

void Simulation::run() {
  while (step()) {
  }
}

void Simulation::run_until(SimTime time) {
  check(time >= impl_->now, "time must not go back");
  while (impl_->run_next(time)) {
  }
  impl_->now = time;
}

}  // namespace tidemark

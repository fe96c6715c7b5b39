// The discrete-event core: integer time, (time, sequence) order, no knowledge of models or devices.
// Two events at the same time run in the order they were scheduled, so a run is reproducible to the
// byte.
//
//   Simulation simulation;
//   simulation.after(Duration::ns(5), [&] { ... });
//   simulation.at(Duration::ns(5), [&] { ... });      // runs second
//   simulation.run();                                 // now() == 5 ns
//
// Checked by SimulationTest.EventsAtTheSameTimeRunInTheOrderTheyWereScheduled. An event costs much
// the same however many are pending, O(log pending) with the heap (event_queue.h). Memory for as
// many events as were ever pending at once, however many run; nothing is allocated for an event
// whose handler is small (action.h).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "planner/base/quantity.h"
#include "sim/core/action.h"
#include "sim/core/event_queue.h"

namespace tidemark {

// Names one event for good: no other event of the run gets the same name, also not one that takes
// its place in memory. A default one names none.
class EventId {
 public:
  EventId() = default;
  bool operator==(const EventId&) const = default;

 private:
  friend class Simulation;
  EventId(Slot slot, int64_t sequence) : slot_(slot), sequence_(sequence) {}
  Slot slot_ = kNoSlot;
  int64_t sequence_ = -1;
};

class Simulation {
 public:
  using Action = tidemark::Action;

  // The order of events does not depend on the queue.
  explicit Simulation(QueueKind queue = QueueKind::kCalendar);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  SimTime now() const { return now_; }
  // `action` is anything an Action can be made of. Requires time >= now, delay >= 0.
  template <typename Handler>
  EventId at(SimTime time, Handler&& action);
  template <typename Handler>
  EventId after(Duration delay, Handler&& action);
  bool cancel(EventId event);  // false when it already ran or was cancelled
  bool step();                 // runs the next event; false when none is left
  void run();
  void run_until(SimTime time);  // runs events with time <= `time`, then now() == time; time >= now
  int64_t pending() const { return queue_->size(); }

 private:
  static constexpr int64_t kNotPending = -1;
  struct Scheduled {
    Action action{};
    int64_t sequence = kNotPending;
  };

  Slot free_slot(SimTime time);
  EventId schedule(SimTime time, Slot slot);
  Action take(Slot slot);
  bool run_next(SimTime until);

  SimTime now_{};
  std::unique_ptr<EventQueue> queue_;
  SlotPool<Scheduled> events_{};
  int64_t scheduled_ = 0;  // also the sequence of the next event
  int64_t ran_ = 0;
  int64_t cancelled_ = 0;
};

// Templates so that a handler is made where it is kept, and not moved there.
template <typename Handler>
EventId Simulation::at(SimTime time, Handler&& action) {
  const Slot slot = free_slot(time);
  events_[slot].action = std::forward<Handler>(action);
  return schedule(time, slot);
}

template <typename Handler>
EventId Simulation::after(Duration delay, Handler&& action) {
  return at(now_ + delay, std::forward<Handler>(action));
}

}  // namespace tidemark

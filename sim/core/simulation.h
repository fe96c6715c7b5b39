// The discrete-event core: integer time, (time, sequence) order, no knowledge of models or devices.
// Two events at the same time run in the order they were scheduled, so a run is reproducible to the
// byte.
//
//   Simulation simulation;
//   simulation.after(Duration::ns(5), [&] { ... });
//   simulation.at(Duration::ns(5), [&] { ... });      // runs second
//   simulation.run();                                 // now() == 5 ns
//
// Checked by SimulationTest.EventsAtTheSameTimeRunInTheOrderTheyWereScheduled. O(log pending) for
// each event and for each one cancelled. Memory for as many events as were ever pending at once,
// however many run; nothing is allocated for an event whose handler is small (action.h).
#pragma once

#include <cstdint>
#include <memory>

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
  explicit Simulation(QueueKind queue = QueueKind::kHeap);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  SimTime now() const;
  EventId at(SimTime time, Action action);       // time >= now
  EventId after(Duration delay, Action action);  // delay >= 0
  bool cancel(EventId event);                    // false when it already ran or was cancelled
  bool step();                                   // runs the next event; false when none is left
  void run();
  void run_until(SimTime time);  // runs events with time <= `time`, then now() == time; time >= now
  int64_t pending() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark

// The discrete-event core: integer time, (time, sequence) order, no knowledge of models or devices.
// Two events at the same time run in the order they were scheduled, so a run is reproducible to the
// byte.
//
//   Simulation simulation;
//   simulation.after(Duration::ns(5), [&] { ... });   // the second event scheduled for 5 ns runs
//   second simulation.run();                                 // now() == 5 ns
//
// Checked by SimulationTest.EventsAtTheSameTimeRunInTheOrderTheyWereScheduled. O(log pending) for
// each event; O(pending) to cancel one, which is rare and where few events are pending.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "planner/base/ids.h"
#include "planner/base/quantity.h"

namespace tidemark {

using EventId = Id<struct EventTag>;

class Simulation {
 public:
  using Action = std::function<void()>;

  Simulation();
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

// How far the weights have come, as events: when 25, 50, 75 and 100 % of their bytes were there for
// the first time. A unit counts once, however often it is read again; under a strategy that gives
// units back, "25 %" is therefore what had come, not what was resident.
//
//   four units of 100 B, a read 100 ns, initialised in 200 ns, overlapping
//   25 % of the weights read at 100, 50 % at 200, 75 % at 300, all weights read at 400
//   25 % of the weights initialised at 300, 500, 700, all weights initialised at 900
//   Without initialising there is one line of them: "25 % of the weights".
//   Checked by LoadProgressTest.FourUnits.
#pragma once

#include <utility>
#include <vector>

#include "planner/base/ids.h"
#include "planner/report/report.h"
#include "sim/core/simulation.h"

namespace tidemark {

class LoadProgress {
 public:
  // `bytes`: what counts, by unit.
  LoadProgress(const Simulation& simulation, std::vector<Bytes> bytes, bool is_initialised);

  // Storage has delivered the unit, and what initialises has done with it.
  void on_read(UnitId unit) { note(read_, unit); }
  void on_ready(UnitId unit) { note(ready_, unit); }

  // In order of time.
  std::vector<SimEvent> take_events() { return std::move(events_); }

 private:
  struct Stage {
    const char* word = "";  // after "of the weights"; not told when null
    std::vector<bool> came{};
    Bytes bytes{};
    int64_t quarters = 0;  // told
  };

  void note(Stage& stage, UnitId unit);
  Bytes quarter(int64_t count) const;

  const Simulation& simulation_;
  std::vector<Bytes> bytes_;
  Bytes whole_{};
  Stage read_{};
  Stage ready_{};
  std::vector<SimEvent> events_{};
};

}  // namespace tidemark

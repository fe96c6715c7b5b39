// What is resident, from moment to moment: the curve, its peak, and what the run was doing there.
//
// The curve has a point only where something changed, and one point for an instant: changes at the
// same time count as one. A release followed at once by a read of the same size leaves no trace.
// The exception keeps the curve's maximum equal to the peak: a state that was the peak stays, even
// when it lasted no time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "planner/report/report.h"
#include "sim/core/simulation.h"
#include "sim/strategy/passes.h"

namespace tidemark {

// Where a run is.
struct Place {
  enum class Kind { kLoading, kPass, kAccess };
  Kind kind = Kind::kLoading;
  Phase phase = Phase::kPrefill;
  int64_t index = 0;  // of the pass in its phase, or of the access
  UnitId unit{};
  int64_t step = 0;  // counted over all passes
};

// "prefill 0, blk.3", "access 7, embed", "decode 4" of a negative unit, or "loading weights" before
// the first pass.
std::string describe(const Place& place, const std::vector<WeightUnit>& units);

struct Peak {
  Bytes total{};
  SimTime time{};
  Place place{};
  CurvePoint parts{};
};

class MemoryLedger {
 public:
  using Listener = std::function<void(const CurvePoint&)>;

  // `reserved` is resident from the start. `weights_in_file`: what is loaded are clean pages of a
  // file.
  MemoryLedger(const Simulation& simulation, const CurvePoint& reserved,
               bool weights_in_file = false);

  // Only the peak is wanted: memory for two points, however long the run.
  void forget_the_curve() { keeps_curve_ = false; }
  // Called with what is there now, and after every change.
  void listen(Listener listener);

  void at(const Place& place) { place_ = place; }
  // Another process's memory is there as well.
  void reserve(const CurvePoint& more);
  void load_weights(Bytes bytes);
  void release_weights(Bytes bytes);
  void set_mapped_weights(Bytes bytes);  // all of them pages of a file
  void set_compute(Bytes bytes);
  void set_kv_cache(Bytes bytes);

  const Peak& peak() const { return peak_; }  // where its total was first reached
  const CurvePoint& now() const { return now_; }
  const Place& place() const { return place_; }
  Bytes weights() const { return now_.weights; }
  std::vector<CurvePoint> take_curve() { return std::move(curve_); }

 private:
  void record();

  const Simulation& simulation_;
  CurvePoint now_{};
  Place place_{};
  Peak peak_{};
  bool weights_in_file_;
  bool keeps_curve_ = true;
  Listener listener_{};
  std::vector<CurvePoint> curve_{};
};

}  // namespace tidemark

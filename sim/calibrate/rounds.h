// How calibration measures: every figure once a round, round after round; what takes long, every
// few rounds.
//
//   round 0   product of 1 token | ... | storage, 4 KiB | ... | fresh memory | ...
//   round 1   product of 1 token | ...
//
// What else the machine does for a while then meets all figures alike, and the mean over the
// rounds is one of the whole time and not of a moment. The sizes of one kernel, whose times are
// compared (fit.h), are measured a moment apart.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/quantity.h"
#include "sim/calibrate/spread.h"

namespace tidemark {

// One figure.
struct Probe {
  std::string stage{};                // what is measured, for people
  std::function<double()> measure{};  // nanoseconds: of a call, of a byte, ...
  int every = 1;                      // so many rounds; the first has it
  std::vector<double> values{};       // one for each time

  Spread spread() const { return spread_of(values); }
};

struct RoundsOptions {
  int count = 15;
  int fewest = 2;                           // are made however long they take;
  Duration patience = Duration::s(120);     // past it no further round begins
  Duration least = Duration::ms(2);         // short work is repeated until it takes so long
  const std::atomic<bool>* stop = nullptr;  // null = never
  std::function<Duration()> clock{};        // none = the machine's
  std::function<void(std::string_view stage, int round)> on_measure{};  // before each probe
};

class Rounds {
 public:
  explicit Rounds(RoundsOptions options);

  const RoundsOptions& options() const { return options_; }
  bool stopped() const;
  Duration now() const;
  // Of one call.
  double ns_of(const std::function<void()>& work) const;
  // For a probe: nanoseconds of a call, of as many as `least` takes. Before the first there is one
  // that is not timed.
  std::function<double()> timed(std::function<void()> work) const;

  // Measured in the order of adding. Stays where it is as long as these rounds.
  const Probe& add(std::string stage, std::function<double()> measure, int every = 1);
  // Once. Ends early when stopped: some probes then have no value.
  void run();
  int made() const { return made_; }

 private:
  double ns_of(const std::function<void()>& work, int64_t times) const;

  RoundsOptions options_;
  std::deque<Probe> probes_{};
  int made_ = 0;
};

}  // namespace tidemark

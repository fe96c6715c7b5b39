// What the operating system does to an app that holds too much: asked for with `enforce`, else the
// limit is a line that a report speaks of.
//
// What counts is memory of the process's own (anonymous): clean pages of a mapped file are dropped
// first, and no rule counts them. Two pages of tensors do not fit where one was: compressed memory
// takes in other apps at 2 : 1, so it leaves the app swap / 2 more.
//
//   os        rule                 limit                           the app is ended
//   ios       jetsam               app_hard_limit                  at once
//   ios       jetsam, pressure     app_available                   at once
//   android   Memory Limiter       app_hard_limit + swap           after 30 s above it
//   android   lmkd                 app_available + swap / 2        at once: other apps went before
//   linux     OOM killer           app_available + swap            at once
//   macos     memory pressure      app_available + swap            at once
//   any       cgroup               budget, if one is stated        at once
//
//   An iPhone with app_hard_limit 3376 MB ends an app whose own memory reaches 3400 MB, however
//   small the rest; 5 GB of mapped weights beside 300 MB of its own live on. Checked by
//   SystemWatchTest.TheTableInTheHeader.
//
// States are told as events with `enforce` or `adapt`, and known without.
//
// Above app_available less the margin the state is "approaching", above app_available "critical":
// the words of Android's Memory Advice. Sources: AOSP notes of lmkd and of Android 17's Memory
// Limiter, kernel documentation of zram, public EXC_RESOURCE logs; app_available is often an
// estimate, and so is then the verdict.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/capacity/scenario.h"
#include "planner/report/report.h"
#include "sim/core/simulation.h"

namespace tidemark {

// The Memory Limiter waits so long before it ends an app.
inline constexpr Duration kLimiterGrace = Duration::s(30);
// A run that is short in every pass would tell it in every pass.
inline constexpr size_t kMostStatesTold = 10'000;

class SystemWatch {
 public:
  // Without `scenario.enforce` states are noted and nothing is ended.
  SystemWatch(Simulation& simulation, const Scenario& scenario);

  // What is resident has changed.
  void on_change(const CurvePoint& now);

  bool killed() const { return killed_; }
  bool is_short() const { return state_ != State::kOk; }  // approaching or critical
  Bytes approaching() const { return approaching_; }      // the state from above this on
  const std::string& rule() const { return rule_; }       // "jetsam: 3.20 GiB of its own over ..."
  const std::vector<SimEvent>& events() const { return events_; }
  std::vector<SimEvent>& events() { return events_; }

 private:
  struct Rule {
    std::string name{};
    Bytes limit{};
    Duration grace{};
  };
  enum class State { kOk, kApproaching, kCritical };

  static std::vector<Rule> rules_of(const Scenario& scenario);
  void note_state(Bytes own);
  void kill(const Rule& rule, Bytes own);

  Simulation& simulation_;
  bool enforces_;
  bool tells_states_;
  Bytes approaching_{};
  Bytes critical_{};
  std::vector<Rule> rules_{};
  std::vector<EventId> pending_{};  // by rule: the end of its grace
  Bytes own_{};
  State state_ = State::kOk;
  bool killed_ = false;
  std::string rule_{};
  std::vector<SimEvent> events_{};
};

}  // namespace tidemark

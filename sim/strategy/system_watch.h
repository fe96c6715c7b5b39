// What the operating system does to an app that holds too much: asked for with `enforce`, else the
// limit is a line that a report speaks of.
//
// What counts is memory of the process's own (anonymous): clean pages of a mapped file are dropped
// first, and no rule counts them.
//
//   os        rule                 limit                           the app is ended
//   ios       jetsam               app_hard_limit                  at once
//   ios       jetsam, pressure     app_available                   at once
//   android   Memory Limiter       app_hard_limit + swap           after 30 s above it
//   android   lmkd                 app_available + gain of swap    at once: other apps went before
//   linux     OOM killer           app_available + gain of swap    at once
//   macos     memory pressure      app_available + gain of swap    at once
//   any       cgroup               budget, if one is stated        at once
//
//   An iPhone with app_hard_limit 3376 MB ends an app whose own memory reaches 3400 MB, however
//   small the rest; 5 GB of mapped weights beside 300 MB of its own live on. Checked by
//   SystemWatchTest.TheTableInTheHeader.
//
// The gain of a swap file is its size. Compressed memory (Android, or a device with `zram`) keeps
// what it takes in: content compressed r : 1 frees 1 - 1 / r of its size. It takes other apps in
// first, as much as there is of them (ram_total - app_available); what room that leaves takes the
// app's weights, then its cache. Compute and runtime are in use all the time.
//   8 GB, app_available 3 GB, swap 6 GB: 5 GB of other apps at 2 : 1 free 2.5 GB. The last 1 GB of
//   swap takes weights at 1.03 : 1, which frees 29.1 MB: two tensors do not fit where one was.
//   Checked by CompressedSwapTest.WorkedInTheHeader.
// Swapping is told as an event where it begins, of other apps and of tensors. That it takes time to
// bring tensors back is not modelled.
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

struct CompressedSwap {
  Bytes others{};   // of other apps, that it can take in
  Bytes tensors{};  // of the app's own, in the room that is left
  ZramRatios ratios{};

  Bytes freed_by_others() const;
  // By what there is of each; rounded down.
  Bytes freed_by_tensors(Bytes weights, Bytes kv_cache) const;
};

// None without swap, or when it is a file.
std::optional<CompressedSwap> compressed_swap(const DeviceSpec& device);

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
    bool swaps = false;  // it waits until nothing is left to swap
  };
  enum class Swapping { kNothing, kOthers, kTensors };
  enum class State { kOk, kApproaching, kCritical };

  static std::vector<Rule> rules_of(const Scenario& scenario);
  void note_state(Bytes own);
  void note_swapping(const CurvePoint& now);
  void kill(const Rule& rule, Bytes limit);

  Simulation& simulation_;
  bool enforces_;
  bool tells_states_;
  Bytes approaching_{};
  Bytes critical_{};
  Bytes available_{};
  std::optional<CompressedSwap> swap_{};
  Swapping swapping_ = Swapping::kNothing;
  std::vector<Rule> rules_{};
  std::vector<EventId> pending_{};  // by rule: the end of its grace
  Bytes own_{};
  State state_ = State::kOk;
  bool killed_ = false;
  std::string rule_{};
  std::vector<SimEvent> events_{};
};

}  // namespace tidemark

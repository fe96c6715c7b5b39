#include "sim/calibrate/rounds.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {

Rounds::Rounds(RoundsOptions options) : options_(std::move(options)) {
  check(options_.count >= 1, "something is measured");
}

bool Rounds::stopped() const { return options_.stop != nullptr && options_.stop->load(); }

Duration Rounds::now() const {
  if (options_.clock) return options_.clock();
  return Duration::ns(std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::steady_clock::now().time_since_epoch())
                          .count());
}

double Rounds::ns_of(const std::function<void()>& work, int64_t times) const {
  const Duration start = now();
  for (int64_t i = 0; i < times; ++i) work();
  return std::max(1.0, static_cast<double>((now() - start).count()) / static_cast<double>(times));
}

double Rounds::ns_of(const std::function<void()>& work) const { return ns_of(work, 1); }

std::function<double()> Rounds::timed(std::function<void()> work) const {
  return [this, work = std::move(work), times = int64_t{0}]() mutable {
    if (times == 0) {
      work();
      const auto least = static_cast<double>(options_.least.count());
      times = std::max<int64_t>(1, static_cast<int64_t>(least / ns_of(work)));
    }
    return ns_of(work, times);
  };
}

const Probe& Rounds::add(std::string stage, std::function<double()> measure, int every) {
  check(every >= 1, "something is measured");
  return probes_.emplace_back(
      Probe{.stage = std::move(stage), .measure = std::move(measure), .every = every});
}

void Rounds::run() {
  const Duration begin = now();
  for (; made_ < options_.count; ++made_) {
    if (made_ >= options_.fewest && now() - begin > options_.patience) return;
    for (Probe& probe : probes_) {
      if (stopped()) return;
      if (made_ % probe.every != 0) continue;
      if (options_.on_measure) options_.on_measure(probe.stage, made_);
      probe.values.push_back(probe.measure());
    }
  }
}

}  // namespace tidemark

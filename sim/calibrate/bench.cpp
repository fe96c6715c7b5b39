#include "sim/calibrate/bench.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {

Bench::Bench(BenchOptions options) : options_(std::move(options)) {
  check(options_.repeats >= 1, "something is measured");
}

bool Bench::stopped() const { return options_.stop != nullptr && options_.stop->load(); }

void Bench::say(std::string_view stage) const {
  if (options_.stage) options_.stage(stage);
}

Duration Bench::now() const {
  if (options_.clock) return options_.clock();
  return Duration::ns(std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::steady_clock::now().time_since_epoch())
                          .count());
}

void Bench::hurry() {
  options_.repeats = std::min(options_.repeats, 3);
  options_.least = options_.least / 4;
  options_.most = options_.most / 8;
}

double Bench::ns_of(const std::function<void()>& work, int64_t times) const {
  const Duration start = now();
  for (int64_t i = 0; i < times; ++i) work();
  return static_cast<double>((now() - start).count()) / static_cast<double>(times);
}

Spread Bench::time(const std::function<void()>& work) const {
  const Duration begin = now();
  const double first = ns_of(work, 1);
  if (stopped()) return spread_of({std::max(first, 1.0)});
  const double second = std::max(1.0, ns_of(work, 1));
  const auto least = static_cast<double>(options_.least.count());
  const auto times = std::max<int64_t>(1, static_cast<int64_t>(least / second));
  std::vector<double> values;
  while (std::ssize(values) < options_.repeats && !stopped()) {
    values.push_back(std::max(1.0, ns_of(work, times)));
    if (now() - begin > options_.most) break;
  }
  if (values.empty()) values.push_back(second);
  return spread_of(std::move(values));
}

Spread Bench::time_each(const std::function<void()>& prepare,
                        const std::function<void()>& work) const {
  const Duration begin = now();
  std::vector<double> values;
  while (std::ssize(values) < options_.repeats) {
    prepare();
    values.push_back(std::max(1.0, ns_of(work, 1)));
    if (stopped() || now() - begin > options_.most) break;
  }
  return spread_of(std::move(values));
}

}  // namespace tidemark

// How calibration measures: the same work again and again, each time long enough for the clock.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/quantity.h"
#include "sim/calibrate/spread.h"

namespace tidemark {

struct BenchOptions {
  int repeats = 5;
  Duration least = Duration::ms(4);    // a repeat takes at least so long: the work is done often
  Duration most = Duration::ms(1500);  // no further repeat after so long; the first is always made
  const std::atomic<bool>* stop = nullptr;              // null = never
  std::function<Duration()> clock{};                    // none = the machine's, for tests
  std::function<void(std::string_view stage)> stage{};  // said before each measurement
};

class Bench {
 public:
  explicit Bench(BenchOptions options);

  bool stopped() const;
  void say(std::string_view stage) const;
  Duration now() const;
  const BenchOptions& options() const { return options_; }
  // How often everything is measured and for how long from now on, when time runs short.
  void hurry();

  // Nanoseconds of one call of `work`, which is called once before anything is timed. Once stopped,
  // one call is all that is made.
  Spread time(const std::function<void()>& work) const;
  // Of work that cannot be repeated in a row: `prepare` goes before each call and is not timed.
  Spread time_each(const std::function<void()>& prepare, const std::function<void()>& work) const;

 private:
  double ns_of(const std::function<void()>& work, int64_t times) const;

  BenchOptions options_;
};

}  // namespace tidemark

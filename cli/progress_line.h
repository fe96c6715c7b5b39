// How far a long command has come, in per cent: on a terminal only, written over itself and gone at
// the end.
//
//   ProgressLine line(quiet);
//   line.show("writing weights", 3, 4);      writing weights: 75 %
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "options.h"

namespace tidemark::cli {

class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : shown_(!quiet && ::isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Before something else is said.
  void clear() const {
    if (shown_) talk("\r\x1b[K");
  }
  // At most ten times a second.
  void show(std::string_view stage, int64_t done, int64_t total) {
    const Clock::time_point now = Clock::now();
    if (!shown_ || total <= 0 || now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    talk("\r\x1b[K{}: {} %", stage,
         static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(total)));
    std::fflush(stderr);
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  Clock::time_point last_{};
};

}  // namespace tidemark::cli

// Measures this machine as a device that `simulate` takes.
//
//   scratch file written -> rounds of: kernels, storage, memory and mappings -> Calibration
//
// Each number is the mean of the rounds and carries how far they lay apart. Times vary from run
// to run; which numbers there are does not, but for what a file system cannot do.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "planner/base/result.h"
#include "sim/calibrate/calibration.h"

namespace tidemark {

struct CalibrateOptions {
  std::filesystem::path scratch{};  // folder for the scratch file; must exist
  Bytes size{};                     // of that file; 0 = 3 GiB, or 128 MiB when quick
  int repeats = 0;                  // rounds; 0 = 15, or 7 when quick
  std::vector<int> threads{};       // for what is measured by threads; empty = 1 and all cores
  bool quick = false;
  std::function<void(std::string_view stage, int64_t round, int64_t rounds)> progress{};
  const std::atomic<bool>* stop = nullptr;  // null = never
};

struct CalibrateOutcome {
  Calibration calibration{};
  bool interrupted = false;  // then there is no calibration
};

// A folder that cannot be used comes back as diagnostics.
Result<CalibrateOutcome> calibrate(const CalibrateOptions& options);

}  // namespace tidemark

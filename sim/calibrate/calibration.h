// What was measured: a device, and how far the repeats of each of its figures lay apart.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "planner/capacity/device_spec.h"
#include "sim/calibrate/kernels.h"
#include "sim/calibrate/memory.h"
#include "sim/calibrate/storage.h"

namespace tidemark {

// One number that a line of the file states, with its unit.
enum class Unit { kBytesPerSecond, kOpsPerSecond, kNanoseconds };
struct Figure {
  Spread spread{};
  Unit unit = Unit::kBytesPerSecond;
};

struct ThreadFigure {
  std::string what{};  // "memory_bandwidth", "compute"
  int threads = 1;
  Figure figure{};
};

struct Calibration {
  DeviceSpec device{};
  std::map<std::string, Figure> figures{};  // by the device's key
  std::vector<MeasuredPoint> storage{};     // as device.storage
  std::vector<MeasuredOp> ops{};            // as device.op_rates
  std::vector<ThreadFigure> by_threads{};
  std::vector<std::string> notes{};  // what to know about how it was measured
  Duration took{};
};

// Every figure, as `memory_bandwidth`, `memory_bandwidth, 2 threads`, `random 8 x 4.00 KiB`,
// `matmul, 16 tokens`.
struct NamedFigure {
  std::string name{};
  Figure figure{};
};
std::vector<NamedFigure> all_figures(const Calibration& calibration);

// What is too wide to be trusted: "matmul, 16 tokens: the middle half of 15 repeats ...". Empty =
// all is well.
std::vector<std::string> wide_figures(const Calibration& calibration);

// A figure that was measured with several numbers of threads.
struct ThreadProbe {
  int threads = 1;
  const Probe* probe = nullptr;
};

struct AllProbes {
  const KernelProbes& kernels;
  std::span<const ThreadProbe> products;    // nanoseconds of an operation
  std::span<const ThreadProbe> bandwidths;  // nanoseconds of a byte
  const StorageProbes& storage;
  const MemoryProbes& memory;
  const Spread& unused_memory;  // nanoseconds of a byte
};

// After the rounds: means into the device, spreads and notes beside it.
void take_figures(const AllProbes& probes, Calibration& calibration);

}  // namespace tidemark

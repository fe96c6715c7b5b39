// A device as far as memory and time go. Every number carries its source in configs/devices/*.yaml;
// numbers that are estimates are listed in `estimates` and shown as such.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/quantity.h"
#include "planner/capacity/accelerator.h"
#include "planner/capacity/compute_rate.h"
#include "planner/capacity/cores.h"
#include "planner/capacity/device_energy.h"
#include "planner/capacity/op_rate.h"

namespace tidemark {

// Instruction set of the processor, as far as weights are laid out for it.
enum class DeviceIsa { kUnknown, kArm, kX86 };

// Whose rules decide when an app has too much.
enum class SystemKind { kLinux, kAndroid, kIos, kMacos };
std::string_view name_of(SystemKind os);  // "linux", "android", "ios", "macos"
std::optional<SystemKind> parse_system_kind(std::string_view name);

enum class ReadOrder { kSequential, kRandom };
std::string_view name_of(ReadOrder order);  // "sequential", "random"
std::optional<ReadOrder> parse_read_order(std::string_view name);

// One measured point of the storage: `rate` while `depth` requests of `request` bytes are kept in
// flight.
struct StoragePoint {
  ReadOrder order = ReadOrder::kRandom;
  Bytes request{};
  int64_t depth = 1;
  BytesPerSecond rate{};
  bool operator==(const StoragePoint&) const = default;
};

// How far compressed memory compresses, in thousandths: 2000 = to half. What a byte of content
// frees is 1 - 1 / ratio of it, so swapping weights frees 3 % of them. Tensors: measured on
// Gaussian weights in Q4_0 and a cache in f16; other apps: the kernel's documentation of zram.
struct ZramRatios {
  int64_t other_apps = 2000;
  int64_t weights = 1030;
  int64_t kv_cache = 1070;
  bool operator==(const ZramRatios&) const = default;
};

struct DeviceSpec {
  std::string name{};
  std::string description{};
  std::string source{};
  Bytes ram_total{};
  Bytes app_available{};                  // ram_total - what the system and other apps hold
  std::optional<Bytes> app_hard_limit{};  // per-app limit, where one is known
  BytesPerSecond memory_bandwidth{};      // effective, not peak
  BytesPerSecond flash_read{};            // large sequential reads
  Duration flash_latency{};               // of one request
  std::vector<StoragePoint> storage{};    // measured points; empty = the two numbers above alone
  OpsPerSecond compute{};                 // int8, sustained
  // Kinds of ops that are faster or slower; a time of every op, whatever its size; the cores that
  // all rates are those of, together.
  std::vector<ComputeRate> compute_rates{};
  Duration op_overhead{};
  std::vector<CoreGroup> cores{};
  Bytes page_size{};
  Duration page_fault{};                        // without a read; zero = not counted
  std::optional<BytesPerSecond> cached_read{};  // read() of what the page cache holds
  std::optional<BytesPerSecond> mapped_read{};  // of a mapped file front to back, faults included
  // Pages made for what is read (none = no time), and pages that the same process has given back
  // (none = as fresh ones).
  std::optional<BytesPerSecond> fresh_memory{};
  std::optional<BytesPerSecond> reused_memory{};
  std::vector<OpRate> op_rates{};  // kernels measured on it: they win over the roofline
  DeviceIsa isa = DeviceIsa::kUnknown;
  SystemKind os = SystemKind::kLinux;
  Bytes swap{};  // compressed memory or a swap file: bytes it may take in
  // Stated: swap is compressed memory, as it is on Android without.
  std::optional<ZramRatios> zram{};
  std::optional<DeviceEnergy> energy{};
  std::optional<Accelerator> accelerator{};
  std::vector<std::string> estimates{};  // keys whose value is an estimate

  // cached_read, or an eighth of the memory's bandwidth: the OnePlus 12R, the one device where both
  // are known, reads 5.08 of its 42 GB/s.
  BytesPerSecond cached_rate() const;
};

}  // namespace tidemark

// Big and little cores, and what a run gets that computes on some of them.
//
// A device's rates are those of all its cores together. Threads take the fastest cores first; on
// some of them every rate of arithmetic goes down in proportion to the sum of the cores' rates, the
// work being shared out so that all end together. Kernels that were measured (op_rates) keep their
// times: those are of the threads that they were measured with.
//
//   compute 1318 GOPS; 1 core of 410 GOPS, 4 of 179 GOPS (big), 3 of 64 GOPS (little): 1318 in all
//   all         1318 GOPS        2 threads           410 + 179 = 589 GOPS
//   big         1126 GOPS        little, 2 threads   128 GOPS
//   Checked by CoresTest.WorkedInTheHeader.
//
// Memory: where every core in use has a memory_bandwidth of its own, their sum, and the device's at
// most: one core cannot draw all of it. Storage: one thread reads, on the fastest core in use, no
// faster than that core's storage_read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "planner/base/quantity.h"

namespace tidemark {

struct DeviceSpec;

enum class CoreKind { kBig, kLittle };
std::string_view name_of(CoreKind kind);  // "big", "little"
std::optional<CoreKind> parse_core_kind(std::string_view name);

// Cores that are alike.
struct CoreGroup {
  CoreKind kind = CoreKind::kBig;
  int64_t count = 1;
  OpsPerSecond rate{};                               // of one, as `compute` counts
  double ghz = 0.0;                                  // 0 = not stated; tells groups of a kind apart
  std::optional<BytesPerSecond> memory_bandwidth{};  // that one draws
  std::optional<BytesPerSecond> storage_read{};      // that a thread on one reads at most
  bool is_estimate = false;
  bool operator==(const CoreGroup&) const = default;
};

struct CoreUse {
  int64_t threads = 0;             // 0 = one on each core
  std::optional<CoreKind> kind{};  // none = all
};

// Cores of that kind; of all kinds.
int64_t count_cores(const std::vector<CoreGroup>& cores, std::optional<CoreKind> kind);

// The device with the rates that are left of it, and `cores` among its estimates if they are. As it
// is, where it has no `cores` or none of that kind.
DeviceSpec on_cores(DeviceSpec device, const CoreUse& use);

}  // namespace tidemark

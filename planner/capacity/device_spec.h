// A device as far as memory and time go. Every number carries its source in configs/devices/*.yaml;
// numbers that are estimates are listed in `estimates` and shown as such.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/quantity.h"

namespace tidemark {

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
  OpsPerSecond compute{};                 // int8, sustained
  Bytes page_size{};
  std::vector<std::string> estimates{};  // keys whose value is an estimate
};

}  // namespace tidemark

#include "planner/config/core_settings.h"

#include <fmt/core.h>

namespace tidemark {

void read_cores(SettingReader& read, DeviceSpec& device) {
  constexpr int64_t kMostThreads = 4096;
  CoreUse use;
  if (read.stated("cores") != nullptr) {
    use.kind = parse_core_kind(read.choice("cores", {"big", "little", "all"}, "all"));
  }
  const int64_t cores = count_cores(device.cores, use.kind);
  if (read.stated("threads") != nullptr) {
    // More threads than cores take turns.
    NumberRule rule{.least = 1, .most = kMostThreads, .fallback = 1};
    if (cores > 0) rule.held_to = cores;
    rule.holder = "the device's cores";
    use.threads = read.number("threads", rule);
  }
  if (device.cores.empty() || (use.threads == 0 && !use.kind)) return;
  if (cores == 0) {
    read.problem("cores", fmt::format("{} has no {} cores", device.name, name_of(*use.kind)),
                 "leave it out");
    return;
  }
  device = on_cores(std::move(device), use);
}

}  // namespace tidemark

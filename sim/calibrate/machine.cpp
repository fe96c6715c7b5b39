#include "sim/calibrate/machine.h"

#include <sched.h>

#include <algorithm>

#include "sim/replay/system_text.h"

namespace tidemark {
MemoryFacts parse_meminfo(std::string_view text) {
  const auto bytes = [text](std::string_view key) {
    return kib_after(text, key).value_or(Bytes{});
  };
  return {.total = bytes("MemTotal:"),
          .available = bytes("MemAvailable:"),
          .swap = bytes("SwapTotal:")};
}

std::string parse_cpu_name(std::string_view cpuinfo) {
  return std::string(line_after(cpuinfo, "model name"));
}

MemoryFacts memory_facts() { return parse_meminfo(system_text("/proc/meminfo")); }

std::string cpu_name() { return parse_cpu_name(system_text("/proc/cpuinfo")); }

int cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

DeviceIsa isa_of_machine() {
#if defined(__x86_64__) || defined(__i386__)
  return DeviceIsa::kX86;
#elif defined(__aarch64__) || defined(__arm__)
  return DeviceIsa::kArm;
#else
  return DeviceIsa::kUnknown;
#endif
}

}  // namespace tidemark

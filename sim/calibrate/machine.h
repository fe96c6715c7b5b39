// What Linux says about this machine: /proc/meminfo and /proc/cpuinfo.
#pragma once

#include <string>
#include <string_view>

#include "planner/capacity/device_spec.h"

namespace tidemark {

struct MemoryFacts {
  Bytes total{};
  Bytes available{};
  Bytes swap{};
};

// "MemTotal:   24684092 kB" and the like; what is missing or no number is 0.
MemoryFacts parse_meminfo(std::string_view text);
// "model name : ..." of the first processor; "" without one.
std::string parse_cpu_name(std::string_view cpuinfo);

MemoryFacts memory_facts();
std::string cpu_name();
int cores();  // that this process may run on, at least 1
DeviceIsa isa_of_machine();

}  // namespace tidemark

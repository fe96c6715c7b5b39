#include "sim/calibrate/machine.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "planner/base/checked.h"

namespace tidemark {
namespace {

std::string text_of(const char* file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The rest of the line that begins with `key`, without blanks before it; "" without one.
std::string_view line_after(std::string_view text, std::string_view key) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.starts_with(key)) {
      line.remove_prefix(key.size());
      const size_t begin = line.find_first_not_of(" \t:");
      return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
    }
    at = end + 1;
  }
  return {};
}

Bytes kibibytes(std::string_view text, std::string_view key) {
  const std::string_view value = line_after(text, key);
  int64_t count = 0;
  const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error != std::errc{} || count < 0 || count > (int64_t{1} << 50)) return {};
  return Bytes::of(count * 1024);
}

}  // namespace

MemoryFacts parse_meminfo(std::string_view text) {
  return {.total = kibibytes(text, "MemTotal:"),
          .available = kibibytes(text, "MemAvailable:"),
          .swap = kibibytes(text, "SwapTotal:")};
}

std::string parse_cpu_name(std::string_view cpuinfo) {
  return std::string(line_after(cpuinfo, "model name"));
}

MemoryFacts memory_facts() { return parse_meminfo(text_of("/proc/meminfo")); }

std::string cpu_name() { return parse_cpu_name(text_of("/proc/cpuinfo")); }

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

#include "sim/kernels/isa.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "planner/base/check.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tidemark {
namespace {

constexpr std::array<std::pair<Isa, std::string_view>, 5> kNames{{{Isa::kBaseline, "baseline"},
                                                                  {Isa::kAvx2, "avx2"},
                                                                  {Isa::kAvx512Vnni, "avx512-vnni"},
                                                                  {Isa::kAmxInt8, "amx-int8"},
                                                                  {Isa::kNeonDot, "neon-dot"}}};

#if defined(__x86_64__)

bool has_vnni() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}

// Linux saves tile registers only for a process that asked for it (state component 18).
bool ask_for_tiles() {
  constexpr unsigned kTile = 1U << 24;  // CPUID 7.0, EDX
  constexpr unsigned kTileInt8 = 1U << 25;
  constexpr long kAskForState = 0x1023;
  constexpr long kTileData = 18;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kTile) == 0 || (edx & kTileInt8) == 0 || !has_vnni()) return false;
  return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
}

bool probe(Isa isa) {
  if (isa == Isa::kAvx2) return __builtin_cpu_supports("avx2");
  if (isa == Isa::kAvx512Vnni) return has_vnni();
  if (isa == Isa::kAmxInt8) return ask_for_tiles();
  return isa == Isa::kBaseline;
}

#elif defined(__aarch64__)

bool probe(Isa isa) {
  constexpr unsigned long kDotProduct = 1UL << 20;  // HWCAP_ASIMDDP
  if (isa == Isa::kNeonDot) return (getauxval(AT_HWCAP) & kDotProduct) != 0;
  return isa == Isa::kBaseline;
}

#else

bool probe(Isa isa) { return isa == Isa::kBaseline; }

#endif

std::atomic<Isa>& in_use() {
  static std::atomic<Isa> isa = isa_for_wish(std::getenv("TIDEMARK_ISA"));
  return isa;
}

}  // namespace

std::string_view isa_name(Isa isa) {
  for (const auto& [value, name] : kNames) {
    if (value == isa) return name;
  }
  return "unknown";
}

std::optional<Isa> parse_isa(std::string_view text) {
  for (const auto& [value, name] : kNames) {
    if (name == text) return value;
  }
  return std::nullopt;
}

bool supported(Isa isa) {
  static const std::vector<Isa> found = supported_isas();
  for (const Isa one : found) {
    if (one == isa) return true;
  }
  return false;
}

std::vector<Isa> supported_isas() {
  std::vector<Isa> result;
  for (const auto& [isa, name] : kNames) {
    if (probe(isa)) result.push_back(isa);
  }
  return result;
}

Isa best_isa_up_to(Isa wish) {
  Isa best = Isa::kBaseline;
  for (const auto& [isa, name] : kNames) {
    if (isa <= wish && supported(isa)) best = isa;
  }
  return best;
}

Isa best_isa() { return best_isa_up_to(kNames.back().first); }

Isa isa_for_wish(const char* wish) {
  const auto named = wish == nullptr ? std::nullopt : parse_isa(wish);
  return named ? best_isa_up_to(*named) : best_isa();
}

Isa isa_in_use() { return in_use().load(std::memory_order_relaxed); }

IsaHold::IsaHold(Isa isa) : before_(isa_in_use()) {
  check(supported(isa), "kernels are held at a level this machine has");
  in_use() = isa;
}

IsaHold::~IsaHold() { in_use() = before_; }

}  // namespace tidemark

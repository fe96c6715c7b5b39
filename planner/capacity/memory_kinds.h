// Totals that people confuse, kept apart: what is reserved, what of it is resident, of what kind
// that is, what this run needs at all, and what an engine takes when nobody asks.
//
//   llama.cpp, TinyLlama at Q4_0 mapped, AVX2: the term weights reserves 1,174,499,328 B, all of it
//   resident: 629,501,952 B are pages of the file, clean, dropped under pressure; 544,997,376 B are
//   private and dirty. While it loads, the whole file is mapped: 635,990,016 + 544,997,376 B.
//   Checked by MemoryKindsTest.MappedAndRepacked.
//
//   mnn, Qwen2-7B, int8 keys and fp8 values, 1,000 tokens of 4,096 used, --kv-resident '8 MiB': the
//   cache reserves 28 x 1,026 x 4,096 B; 28,728,000 B are resident, 8,388,608 B of them private,
//   the others pages of a file; needed are the private ones and one layer, 1,026,000 B. Checked by
//   ShippedEngines.MnnSpillsTheCache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/capacity/memory_plan.h"

namespace tidemark {

struct TermKinds {
  std::string term{};   // "weights", "kv_cache", ... as in verdict.h
  Bytes reserved{};     // the term of the breakdown
  Bytes resident{};     // of it, once this run's prompt and tokens are done
  Bytes file_backed{};  // of that: clean pages of a file
  Bytes dirty{};        // private: stays until it is freed, or goes to swap
  Bytes device{};       // of a device, or shared with it
  Bytes needed{};       // what this run could not do without
  std::string how{};    // how this engine comes to what it reserves: half a sentence
};

struct MemoryKinds {
  std::vector<TermKinds> terms{};  // resident = file_backed + dirty + device in each
  Bytes default_total{};           // with the engine's own defaults instead of the settings
  std::string default_why{};
  Bytes loading{};  // most that is held while the weights are loaded
  std::string loading_why{};
  Bytes load_peak{};  // the larger of it and the total
};

// What the total may be when the profile is not exact.
struct MemoryInterval {
  Bytes least{};
  Bytes most{};
  std::string term{};  // the most uncertain
  std::string what{};
};

// None under the textbook's policy, which has no process, and when a sum leaves 63 bits.
std::optional<MemoryKinds> memory_kinds(const Scenario& scenario, const MemoryPlan& plan);

// None when nothing of the profile is uncertain.
std::optional<MemoryInterval> memory_interval(const Scenario& scenario, const MemoryPlan& plan);

}  // namespace tidemark

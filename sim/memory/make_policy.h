// Eviction policies by the names that scenarios use.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "sim/memory/eviction_policy.h"

namespace tidemark {

struct PolicyInput {
  std::span<const Bytes> sizes{};      // one a block
  std::span<const UnitId> sequence{};  // all accesses; next-use alone asks for it
  uint64_t seed = 0;                   // of random
};

// "lru", "mru", "pinned", "next-use", "fifo", "clock", "lfu", "random"
std::span<const std::string_view> policy_names();

// Pinned is lru among the blocks that are not: which ones are is told to the cache. Another name
// than these is a bug.
std::unique_ptr<EvictionPolicy> make_policy(std::string_view name, const PolicyInput& input);

}  // namespace tidemark

#include "sim/memory/make_policy.h"

#include <algorithm>
#include <array>

#include "planner/base/check.h"

namespace tidemark {
namespace {

using Maker = std::unique_ptr<EvictionPolicy> (*)(int64_t blocks, const PolicyInput& input);

std::unique_ptr<EvictionPolicy> lru(int64_t blocks, const PolicyInput&) { return make_lru(blocks); }

constexpr std::array<std::string_view, 8> kNames{"lru",  "mru",   "pinned", "next-use",
                                                 "fifo", "clock", "lfu",    "random"};
constexpr std::array<Maker, 8> kMakers{
    lru,
    [](int64_t blocks, const PolicyInput&) { return make_mru(blocks); },
    lru,
    [](int64_t, const PolicyInput& input) { return make_next_use(input.sequence, input.sizes); },
    [](int64_t blocks, const PolicyInput&) { return make_fifo(blocks); },
    [](int64_t blocks, const PolicyInput&) { return make_clock(blocks); },
    [](int64_t blocks, const PolicyInput&) { return make_lfu(blocks); },
    [](int64_t blocks, const PolicyInput& input) { return make_random(blocks, input.seed); },
};

}  // namespace

std::span<const std::string_view> policy_names() { return kNames; }

std::unique_ptr<EvictionPolicy> make_policy(std::string_view name, const PolicyInput& input) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  check(found != kNames.end(), "a policy is made by one of its names");
  return kMakers[static_cast<size_t>(found - kNames.begin())](
      static_cast<int64_t>(input.sizes.size()), input);
}

}  // namespace tidemark

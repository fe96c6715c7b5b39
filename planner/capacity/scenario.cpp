#include "planner/capacity/scenario.h"

#include <algorithm>
#include <array>
#include <utility>

#include "planner/base/check.h"
#include "planner/base/checked.h"

namespace tidemark {
namespace {

template <typename Kind, size_t kCount>
using NameTable = std::array<std::pair<Kind, std::string_view>, kCount>;

constexpr NameTable<StrategyKind, 6> kStrategies = {{
    {StrategyKind::kResident, "resident"},
    {StrategyKind::kLayerwise, "layerwise"},
    {StrategyKind::kDoubleBuffer, "double-buffer"},
    {StrategyKind::kChunked, "chunked"},
    {StrategyKind::kMmap, "mmap"},
    {StrategyKind::kBlockCache, "block-cache"},
}};

constexpr NameTable<CachePolicy, 8> kCachePolicies = {{
    {CachePolicy::kLru, "lru"},
    {CachePolicy::kMru, "mru"},
    {CachePolicy::kPinned, "pinned"},
    {CachePolicy::kNextUse, "next-use"},
    {CachePolicy::kFifo, "fifo"},
    {CachePolicy::kClock, "clock"},
    {CachePolicy::kLfu, "lfu"},
    {CachePolicy::kRandom, "random"},
}};

constexpr NameTable<OpOrder, 2> kOpOrders = {{
    {OpOrder::kProgram, "program"},
    {OpOrder::kMemory, "memory"},
}};

template <typename Kind, size_t kCount>
std::string_view find_name(const NameTable<Kind, kCount>& table, Kind wanted) {
  for (const auto& [kind, name] : table) {
    if (kind == wanted) return name;
  }
  check(false, "every choice has a name");
  return {};
}

template <typename Kind, size_t kCount>
std::optional<Kind> find_kind(const NameTable<Kind, kCount>& table, std::string_view wanted) {
  for (const auto& [kind, name] : table) {
    if (name == wanted) return kind;
  }
  return std::nullopt;
}

}  // namespace

std::span<const StrategyKind> strategies() {
  static constexpr std::array kAll{StrategyKind::kResident,     StrategyKind::kLayerwise,
                                   StrategyKind::kDoubleBuffer, StrategyKind::kChunked,
                                   StrategyKind::kMmap,         StrategyKind::kBlockCache};
  return kAll;
}
std::string_view name_of(StrategyKind kind) { return find_name(kStrategies, kind); }
std::optional<StrategyKind> parse_strategy(std::string_view name) {
  return find_kind(kStrategies, name);
}

bool keeps_what_fits(StrategyKind kind) {
  return kind == StrategyKind::kMmap || kind == StrategyKind::kBlockCache;
}

std::string_view name_of(CachePolicy policy) { return find_name(kCachePolicies, policy); }
std::optional<CachePolicy> parse_cache_policy(std::string_view name) {
  return find_kind(kCachePolicies, name);
}

std::string_view name_of(OpOrder order) { return find_name(kOpOrders, order); }
std::optional<OpOrder> parse_op_order(std::string_view name) { return find_kind(kOpOrders, name); }

bool LlamaChoices::uses_devices() const {
  return n_gpu_layers > 0 || std::ranges::any_of(overrides, [](const LlamaOverride& one) {
           return one.device.has_value();
         });
}

int64_t Scenario::cells_per_sequence() const {
  return kv_unified ? n_ctx.count() : ceil_div(n_ctx.count(), n_seq);
}

}  // namespace tidemark

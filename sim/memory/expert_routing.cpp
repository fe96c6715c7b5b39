#include "sim/memory/expert_routing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planner/base/check.h"
#include "sim/memory/block_cache.h"
#include "sim/memory/draw.h"
#include "sim/memory/make_policy.h"

namespace tidemark {
namespace {

// 2^32 / rank^(eighths/8), by operations that are rounded alike on every machine.
uint64_t weight(int64_t rank, int64_t eighths) {
  const double root = std::sqrt(std::sqrt(std::sqrt(static_cast<double>(rank))));
  double weight = 4294967296.0;
  for (int64_t i = 0; i < eighths; ++i) weight /= root;
  return std::max<uint64_t>(static_cast<uint64_t>(weight), 1);
}

// Draws that hit a used expert before the most popular unused one is taken.
constexpr int kMostDraws = 64;

}  // namespace

LayerRouting::LayerRouting(const RoutingOptions& options, int64_t layer)
    : options_(options), bits_(options.seed * 1000003 + static_cast<uint64_t>(layer)) {
  check(options.n_used >= 1 && options.n_used <= options.n_expert, "a token uses some experts");
  check(options.reuse_per_mille >= 0 && options.reuse_per_mille <= 1000, "a probability");
  check(options.skew_eighths >= 0 && options.skew_eighths <= 32, "a skew up to 4");
  uint64_t sum = 0;
  for (int64_t expert = 0; expert < options.n_expert; ++expert) {
    by_popularity_.emplace_back(expert);
    weights_.push_back(sum += weight(expert + 1, options.skew_eighths));
  }
  for (size_t i = by_popularity_.size(); i > 1; --i) {
    std::swap(by_popularity_[i - 1], by_popularity_[draw_below(bits_, i)]);
  }
}

const std::vector<UnitId>& LayerRouting::next() {
  const auto reuse = static_cast<uint64_t>(options_.reuse_per_mille);
  std::erase_if(used_, [&](UnitId) { return draw_below(bits_, 1000) >= reuse; });
  while (static_cast<int64_t>(used_.size()) < options_.n_used) used_.push_back(draw());
  return used_;
}

UnitId LayerRouting::draw() {
  for (int i = 0; i < kMostDraws; ++i) {
    const uint64_t at = draw_below(bits_, weights_.back());
    const auto rank = std::upper_bound(weights_.begin(), weights_.end(), at) - weights_.begin();
    const UnitId expert = by_popularity_[static_cast<size_t>(rank)];
    if (!is_used(expert)) return expert;
  }
  return *std::find_if_not(by_popularity_.begin(), by_popularity_.end(),
                           [&](UnitId expert) { return is_used(expert); });
}

bool LayerRouting::is_used(UnitId expert) const {
  return std::find(used_.begin(), used_.end(), expert) != used_.end();
}

double ExpertCacheUse::hit_rate() const {
  const int64_t all = hits + misses;
  return all == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(all);
}

ExpertCacheUse run_expert_cache(const RoutingOptions& routing, const ExpertCacheOptions& cache) {
  check(cache.slots >= 1 && cache.tokens >= 0 && cache.warm_up >= 0, "a run of a cache");
  check(cache.policy != "pinned", "no expert is pinned");
  const std::vector<Bytes> sizes(static_cast<size_t>(routing.n_expert), Bytes::of(1));
  ExpertCacheUse use;
  for (int64_t layer = 0; layer < routing.n_layer; ++layer) {
    LayerRouting tokens(routing, layer);
    std::vector<UnitId> accesses;
    for (int64_t i = 0; i < cache.warm_up + cache.tokens; ++i) {
      const std::vector<UnitId>& used = tokens.next();
      accesses.insert(accesses.end(), used.begin(), used.end());
    }
    BlockCache blocks(
        sizes, Bytes::of(cache.slots),
        make_policy(cache.policy, {.sizes = sizes, .sequence = accesses, .seed = routing.seed}));
    const auto first = static_cast<size_t>(cache.warm_up * routing.n_used);
    for (size_t i = 0; i < accesses.size(); ++i) {
      const bool is_hit = blocks.access(accesses[i]).outcome == AccessOutcome::kHit;
      if (i >= first) ++(is_hit ? use.hits : use.misses);
    }
  }
  return use;
}

}  // namespace tidemark

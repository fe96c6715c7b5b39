// Which experts of a mixture each token is sent to, made up, and how a cache of experts fares.
//
// Routing of a layer: each expert of the token before is used again with probability `reuse`; the
// others are drawn by popularity, the r-th most popular with weight 1 / r^skew. Which experts are
// popular differs from layer to layer. Real routers are neither; both numbers are there to be
// fitted to a hit rate that was measured.
//
//   4 experts, 2 used, skew 1: weights 1, 1/2, 1/3, 1/4 of 25/12, so shares .48 .24 .16 .12 for the
//   first drawn; reuse 1000 in 1000: the first token's experts for ever.
//   Checked by ExpertRoutingTest.WorkedInTheHeader.
//
// Fitted, not measured: 16 slots a layer for 128 experts of which 8 are used. A phone is reported
// with 67 % hits, and with 0.89 of lru's time for reading under lfu. Reuse 0.29 and skew 11/8 give
// 66 % and 0.90. Skew alone favours lfu (0.54 to 0.36 for skew 1), reuse alone lru (0.54 to 0.15
// for reuse 0.5). Checked by ExpertCacheTest.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "planner/base/ids.h"

namespace tidemark {

struct RoutingOptions {
  int64_t n_layer = 1;
  int64_t n_expert = 128;
  int64_t n_used = 8;           // by each token, all different
  int64_t reuse_per_mille = 0;  // 0 to 1000
  int64_t skew_eighths = 0;     // eight times the exponent, 0 to 32; 0 = all alike
  uint64_t seed = 0;
};

// The tokens of one layer. Layers are independent of each other.
class LayerRouting {
 public:
  LayerRouting(const RoutingOptions& options, int64_t layer);

  // Experts of the next token, those used again first.
  const std::vector<UnitId>& next();

 private:
  UnitId draw();
  bool is_used(UnitId expert) const;

  RoutingOptions options_;
  std::mt19937_64 bits_;
  std::vector<UnitId> by_popularity_{};
  std::vector<uint64_t> weights_{};  // running sums, in 2^-32 of the first
  std::vector<UnitId> used_{};
};

struct ExpertCacheOptions {
  int64_t slots = 16;               // of each layer; at least one
  std::string_view policy = "lru";  // of make_policy.h, but for pinned
  int64_t tokens = 0;
  int64_t warm_up = 0;  // tokens before them that are not counted
};

struct ExpertCacheUse {
  int64_t hits = 0;
  int64_t misses = 0;
  double hit_rate() const;
};

// All layers together. O(layers x tokens x used), times the policy's cost; a layer's accesses are
// held in memory.
ExpertCacheUse run_expert_cache(const RoutingOptions& routing, const ExpertCacheOptions& cache);

}  // namespace tidemark

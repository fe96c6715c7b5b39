// A cache of experts for a mixture: what each policy would read for a token, with routing made up
// (sim/memory/expert_routing.h) and reads priced by the device's storage.
//
//   qwen3-30b-a3b: 48 layers of 128 experts, 8 used. With 16 slots a layer, each miss is one read
//   of an expert's three matrices, at a random place.
#pragma once

#include <string>
#include <vector>

#include "planner/capacity/memory_plan.h"
#include "sim/memory/expert_routing.h"

namespace tidemark {

// The mixture of a model: its layers with experts are taken to be alike, as they are in all that
// ship.
struct ExpertShape {
  RoutingOptions routing{};
  Bytes expert{};  // of one layer
};

// No value for a model without experts.
std::optional<ExpertShape> expert_shape(const Scenario& scenario, const MemoryPlan& plan);

struct ExpertPolicyRow {
  std::string policy{};
  double hit_rate = 0.0;
  Bytes read_per_token{};
  Duration read_time_per_token{};
};

// Policies side by side, each with `slots` experts a layer, over `tokens` tokens after a warm-up of
// a quarter of them.
std::vector<ExpertPolicyRow> compare_expert_caches(const Scenario& scenario,
                                                   const ExpertShape& shape, int64_t slots,
                                                   int64_t tokens);

}  // namespace tidemark

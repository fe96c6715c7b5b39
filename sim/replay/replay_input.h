// Can this scenario be replayed here? Everything that cannot is said at once, before anything is
// written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "planner/base/diagnostic.h"
#include "planner/capacity/memory_plan.h"
#include "sim/strategy/passes.h"

namespace tidemark {

inline constexpr int64_t kMostReplaySteps = 2'000'000;

// What the replay's kernels and loaders do not do.
Diagnostics unsupported(const Scenario& scenario, const MemoryPlan& plan);

// Weights that a replay loads and does not compute with, in words.
std::vector<std::string> not_computed(const TransformerSpec& model,
                                      const WeightsInventory& weights);

int64_t steps_of(const MemoryPlan& plan, const Passes& passes);

// Bytes of the logits of all passes.
int64_t logits_bytes(const MemoryPlan& plan, const Passes& passes);

// Room for the weight file and the logits below `folder`, and for `predicted` in memory, each with
// some to spare.
Diagnostics missing_room(const MemoryPlan& plan, const Passes& passes, Bytes predicted,
                         const std::filesystem::path& folder);

// A mapped file that is to begin cold in a folder that lives in memory. Throws std::system_error
// when nothing can be written there.
Diagnostics never_cold(const Scenario& scenario, const std::filesystem::path& folder);

}  // namespace tidemark

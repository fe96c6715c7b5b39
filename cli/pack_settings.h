// The flags of tidemark pack, read.
#pragma once

#include <optional>
#include <vector>

#include "pack.h"
#include "planner/alloc/planners.h"
#include "planner/base/result.h"

namespace tidemark::cli {

// What the flags say, resolved.
struct PackSettings {
  std::optional<Bytes> capacity{};
  std::vector<Pool> pools{};
  Alignment bank{};
  PlannerKind kind = PlannerKind::kPortfolio;
  uint64_t seed = 0;
  int threads = 1;
};

// All problems at once.
Result<PackSettings> read_settings(const PackCommand& command);

}  // namespace tidemark::cli

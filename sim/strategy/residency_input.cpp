#include "sim/strategy/residency_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/base/units.h"
#include "sim/strategy/expert_loader.h"
#include "sim/strategy/expert_table.h"
#include "sim/strategy/hot_rows.h"
#include "sim/strategy/passes.h"
#include "sim/strategy/run_input.h"

namespace tidemark {
namespace {

constexpr const char* kExpertCache = "--expert-cache";

class Checks {
 public:
  Checks(const Scenario& scenario, Diagnostics& problems)
      : scenario_(scenario), problems_(problems) {}

  void refuse(const char* flag, std::string message, std::string hint) {
    problems_.push_back({.path = flag, .message = std::move(message), .hint = std::move(hint)});
  }

  // False, and a problem, when the run is by another strategy or replays a list of accesses.
  bool has_strategy(const char* flag, StrategyKind strategy) {
    if (scenario_.strategy != strategy) {
      refuse(flag,
             fmt::format("is for strategy {}, not for {}", name_of(strategy),
                         name_of(scenario_.strategy)),
             fmt::format("add --strategy {}, or leave it out", name_of(strategy)));
    } else if (!scenario_.trace.empty()) {
      refuse(flag, "has no meaning for a list of accesses", "leave the trace out");
    } else {
      return true;
    }
    return false;
  }

 private:
  const Scenario& scenario_;
  Diagnostics& problems_;
};

void check_processes(const Scenario& scenario, Checks& checks) {
  if (scenario.residency.processes == 1) return;
  if (!checks.has_strategy("--processes", StrategyKind::kMmap)) return;
  if (scenario.enforce || !scenario.adapt.empty()) {
    checks.refuse("--processes", "what the system does to one app is not known of several",
                  "leave --enforce and --adapt out");
  }
  if (scenario.kv_in_blocks || scenario.kv_resident) {
    checks.refuse("--processes", "each process has its KV cache from the start",
                  "leave --kv-growth and --kv-resident out");
  }
}

// Room for what one token uses, at least.
void check_expert_room(const ResidencyChoices& choices, const ExpertUnits& experts,
                       Checks& checks) {
  const int64_t used = experts.routing.n_used;
  if (choices.expert_slots > 0 &&
      (choices.expert_slots < used || choices.expert_slots > experts.routing.n_expert)) {
    checks.refuse(
        kExpertCache, fmt::format("{} slots a layer", choices.expert_slots),
        fmt::format("from the {} experts a token uses to all {}", used, experts.routing.n_expert));
  }
  const Bytes least = experts.largest() * used;
  if (choices.expert_bytes > Bytes{} && choices.expert_bytes < least) {
    checks.refuse(kExpertCache,
                  fmt::format("{} is too small for the {} experts a token uses",
                              format_bytes_exact(choices.expert_bytes), used),
                  fmt::format("at least {}", format_bytes_exact(least)));
  }
}

void check_experts(const Scenario& scenario, const MemoryPlan& plan, Checks& checks) {
  const ResidencyChoices& choices = scenario.residency;
  if (!choices.caches_experts() || !checks.has_strategy(kExpertCache, StrategyKind::kResident))
    return;
  const std::optional<ExpertUnits> experts = expert_units(scenario, plan);
  if (!experts) {
    return checks.refuse(kExpertCache,
                         scenario.model.name + " has no experts, or layers of several kinds",
                         "name a mixture, such as qwen3-30b-a3b");
  }
  if (choices.is_split() || choices.rows) {
    checks.refuse(kExpertCache, "is not simulated together with --split or --hot-rows",
                  "give one of them");
  }
  if (scenario.n_seq > 1) {
    checks.refuse(kExpertCache, "routing is that of one sequence after another token by token",
                  "leave --parallel out");
  }
  if (scenario.cache.policy == CachePolicy::kPinned) {
    checks.refuse(kExpertCache, "which experts to pin is not known in advance",
                  "choose another --cache-policy");
  }
  check_expert_room(choices, *experts, checks);
  if (scenario.cache.policy != CachePolicy::kNextUse) return;
  const int64_t accesses = expert_accesses(scenario, plan);
  if (accesses > kMostAnnouncedVisits) {
    checks.refuse("--generate",
                  fmt::format("{} experts would be known to next-use in advance, more than the {} "
                              "that are simulated",
                              format_count(accesses), format_count(kMostAnnouncedVisits)),
                  "ask for fewer tokens");
  }
  if (!scenario.adapt.empty()) {
    checks.refuse("--adapt", "next-use must know every pass in advance",
                  "leave it out, or choose another --cache-policy");
  }
}

void check_rows(const Scenario& scenario, const MemoryPlan& plan, Checks& checks) {
  constexpr const char* kFlag = "--hot-rows";
  if (!scenario.residency.rows || !checks.has_strategy(kFlag, StrategyKind::kResident)) return;
  if (row_units(scenario, plan).layers.empty()) {
    checks.refuse(kFlag, scenario.model.name + " has no dense feed-forward layers",
                  "for experts there is --expert-cache");
  }
  if (scenario.residency.is_split()) {
    checks.refuse(kFlag, "is not simulated together with --split", "give one of them");
  }
  if (scenario.n_seq > 1) {
    checks.refuse(kFlag, "which neurons several sequences need together is not known",
                  "leave --parallel out");
  }
}

}  // namespace

void check_residency(const Scenario& scenario, const MemoryPlan& plan, Diagnostics& problems) {
  Checks checks(scenario, problems);
  check_processes(scenario, checks);
  check_experts(scenario, plan, checks);
  check_rows(scenario, plan, checks);
}

int64_t expert_accesses(const Scenario& scenario, const MemoryPlan& plan) {
  if (!scenario.residency.caches_experts()) return 0;
  const std::optional<ExpertShape> shape = expert_shape(scenario, plan);
  if (!shape) return 0;
  const Passes passes = passes_of(scenario, plan);
  return checked_mul(checked_add(passes.prompt_tokens, passes.decode),
                     checked_mul(shape->routing.n_layer, shape->routing.n_used));
}

Diagnostics residency_without_strategy(const Scenario& scenario) {
  if (scenario.residency == ResidencyChoices{}) return {};
  if (!scenario.offload && !scenario.serving.any()) return {};
  return {{.path = scenario.offload ? "--offload" : "--requests",
           .message = "is not simulated together with --split, --processes, --expert-cache or "
                      "--hot-rows",
           .hint = "give one of them"}};
}

}  // namespace tidemark

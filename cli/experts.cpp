// tidemark simulate MODEL --experts SLOTS: caches of experts by policy.
#include <fmt/core.h>

#include "options.h"
#include "planner/base/units.h"
#include "planner/report/tables.h"
#include "render.h"
#include "sim/strategy/expert_table.h"

namespace tidemark::cli {
namespace {

constexpr int64_t kTokens = 512;

Listing expert_listing(const Scenario& scenario, const ExpertShape& shape, int64_t slots) {
  Listing listing{.columns = {"policy", "hit_rate", "read_per_token", "reading_per_token"}};
  for (const ExpertPolicyRow& row : compare_expert_caches(scenario, shape, slots, kTokens)) {
    listing.rows.push_back({row.policy, fmt::format("{:.1f} %", 100 * row.hit_rate),
                            format_bytes(row.read_per_token),
                            format_duration(row.read_time_per_token)});
  }
  return listing;
}

}  // namespace

int run_experts(const SimulateOptions& options) {
  const Result<std::vector<Scenario>> scenarios =
      resolve(options.scenario, {{"-o", options.output.file}});
  if (!scenarios) return fail(scenarios.diagnostics());
  if (scenarios->size() > 1) {
    return fail(one_error("--experts", "needs exactly one model and setting",
                          "the settings list several; give one of each"));
  }
  const Scenario& scenario = scenarios->front();
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  if (!plan) return fail(plan.diagnostics());
  const std::optional<ExpertShape> shape = expert_shape(scenario, *plan);
  if (!shape) {
    return fail(one_error("--experts", scenario.model.name + " has no experts",
                          "name a mixture, such as qwen3-30b-a3b"));
  }
  const RoutingOptions& routing = shape->routing;
  const int64_t slots = options.expert_slots;
  if (slots < routing.n_used || slots > routing.n_expert) {
    return fail(one_error("--experts", fmt::format("{} slots a layer", slots),
                          fmt::format("from the {} experts a token uses to all {}", routing.n_used,
                                      routing.n_expert)));
  }
  const Listing listing = expert_listing(scenario, *shape, slots);
  const std::string head = fmt::format(
      "{} on {}: {} layers of {} experts of {}, {} used by a token\n"
      "{} slots a layer keep {} in memory, of {} in all\n"
      "Routing is made up, fitted to one phone: of a token's experts 29 % are those of the token\n"
      "before, the others are drawn by popularity.\n\n",
      scenario.model.name, scenario.device.name, routing.n_layer, routing.n_expert,
      format_bytes(shape->expert), routing.n_used, slots,
      format_bytes(shape->expert * slots * routing.n_layer),
      format_bytes(shape->expert * routing.n_expert * routing.n_layer));
  return emit(options.output, render(listing, "experts", options.output, head), kYes);
}

}  // namespace tidemark::cli

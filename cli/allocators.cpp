// tidemark simulate MODEL --allocators: the tensors of the largest phase through heap allocators.
#include <fmt/core.h>

#include "options.h"
#include "planner/base/units.h"
#include "planner/report/tables.h"
#include "render.h"
#include "sim/strategy/allocator_table.h"

namespace tidemark::cli {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// The heap against what a plan needs.
std::string times(Bytes footprint, Bytes planned) {
  if (planned == Bytes{}) return "-";
  return fmt::format("{:.2f}",
                     static_cast<double>(footprint.count()) / static_cast<double>(planned.count()));
}

Listing allocator_listing(const PhasePlan& phase) {
  Listing listing{.columns = {"allocator", "footprint", "of_the_plan", "internal", "external",
                              "fails_in_plan", "pages_4k", "pages_2m"}};
  const Bytes planned = phase.plan.peak;
  listing.rows.push_back({"planned", format_bytes(planned), "1.00", "-", "-", "0",
                          format_count(ceil_div(planned.count(), 4096)),
                          format_count(ceil_div(planned.count(), int64_t{2} << 20))});
  for (const AllocatorUse& use : compare_allocators(phase)) {
    const AllocatorRow& row = use.row;
    listing.rows.push_back({std::string(name_of(row.kind)), format_bytes(row.footprint),
                            times(row.footprint, planned), percent(row.internal_fragmentation),
                            percent(row.external_fragmentation), format_count(use.fails),
                            format_count(row.pages_4k), format_count(row.pages_2m)});
  }
  return listing;
}

}  // namespace

int run_allocators(const SimulateOptions& options) {
  const Result<std::vector<Scenario>> scenarios =
      resolve(options.scenario, {{"-o", options.output.file}});
  if (!scenarios) return fail(scenarios.diagnostics());
  if (scenarios->size() > 1) {
    return fail(one_error("--allocators", "needs exactly one model and setting",
                          "the settings list several; give one of each"));
  }
  const Result<MemoryPlan> plan = plan_scenario(scenarios->front());
  if (!plan) return fail(plan.diagnostics());
  const PhasePlan& phase = plan->largest();
  const Listing listing = allocator_listing(phase);
  const std::string head = fmt::format(
      "{} buffers of {}'s {} in the order of its steps, {} without reuse\n"
      "internal: of what is held, what nobody asked for, when most is asked for; external: of "
      "what\n"
      "is free, what lies outside its largest piece, at worst; fails: in a heap of the plan's "
      "size.\n"
      "A TLB of 1,024 entries reaches 4 MiB of small pages, 2 GiB of large ones.\n\n",
      format_count(static_cast<int64_t>(phase.buffers.size())), scenarios->front().model.name,
      name_of(phase.phase), format_bytes(no_reuse_bytes(phase.problem)));
  return emit(options.output, render(listing, "allocators", options.output, head), kYes);
}

}  // namespace tidemark::cli

#include "sim/replay/timed_run.h"

#include "sim/replay/resident.h"
#include "sim/replay/run_model.h"
#include "sim/replay/tensor_memory.h"
#include "sim/replay/unit_loader.h"

namespace tidemark {
namespace {

class Timekeeper : public RunObserver {
 public:
  bool after_op(const Op& /*op*/, StepIndex /*step*/, Duration wall) override {
    steps.push_back(wall);
    return true;
  }
  std::vector<Duration> steps{};
};

}  // namespace

std::optional<TimedRun> timed_run(const TimedParts& parts) {
  take_and_give_back(parts.held + parts.held / 2, parts.stop);
  const UnitLayout layout(parts.plan);
  const Itinerary itinerary = itinerary_of(parts.plan, parts.passes);
  const ArenaLayout arena = planned_layout(parts.plan);
  const KvBlocks kv_blocks = kv_blocks_of(parts.scenario);
  const Fault of_state = kv_blocks.cells > 0 ? Fault::kByPage : Fault::kNow;
  const TensorMemory memory(parts.plan, arena, Fault::kNow, of_state);
  const auto loader =
      make_unit_loader(parts.scenario, parts.plan,
                       {.weights = parts.weights, .layout = layout, .itinerary = itinerary});
  Timekeeper timekeeper;
  const RunResult result = run_model({.model = *parts.scenario.model.transformer(),
                                      .plan = parts.plan,
                                      .passes = parts.passes,
                                      .layout = layout,
                                      .memory = memory,
                                      .loader = *loader,
                                      .observer = timekeeper,
                                      .kv_blocks = kv_blocks,
                                      .stop = parts.stop},
                                     parts.prompt);
  if (result.end != RunEnd::kDone) return std::nullopt;
  return TimedRun{.total = result.wall, .steps = std::move(timekeeper.steps)};
}

}  // namespace tidemark

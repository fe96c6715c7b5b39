#include "sim/replay/unit_layout.h"

#include "planner/base/check.h"

namespace tidemark {

UnitLayout::UnitLayout(const MemoryPlan& plan) {
  places_.resize(plan.weights.tensors.size());
  Bytes end;
  size_t next = 0;
  for (size_t i = 0; i < plan.units.size(); ++i) {
    const Bytes lower = end;
    for (const WeightId id : plan.units[i].tensors) {
      check(id.index() == next++, "units follow each other in the order of the inventory");
      const Bytes bytes = plan.weights.tensors.at(id.index()).bytes;
      places_[id.index()] = {.unit = UnitId::of(i),
                             .offset = static_cast<size_t>((end - lower).count()),
                             .bytes = static_cast<size_t>(bytes.count())};
      end += bytes;
    }
    check(end - lower == plan.units[i].bytes, "a unit is its tensors and nothing else");
    extents_.push_back({lower, end});
  }
  check(next == places_.size(), "every weight is in a unit");
}

}  // namespace tidemark

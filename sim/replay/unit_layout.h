// Where weights lie: in the file, tensor after tensor without gaps in the order of the inventory,
// and in the unit that a strategy moves. A unit is a run of neighbours, so it is one piece of the
// file whatever the strategy takes for a unit, and all strategies share one file.
//
//   file      | token_embd | blk.0 norm q k ... | blk.1 norm q k ... | output_norm |
//   layers    | token_embd | blk.0              | blk.1              | output      |
//   chunks    | token_embd-blk.0                | blk.1              | output      |
#pragma once

#include <vector>

#include "planner/capacity/memory_plan.h"

namespace tidemark {

struct WeightPlace {
  UnitId unit{};
  size_t offset = 0;  // in its unit
  size_t bytes = 0;
};

class UnitLayout {
 public:
  explicit UnitLayout(const MemoryPlan& plan);

  const WeightPlace& place(WeightId weight) const { return places_.at(weight.index()); }
  // Of the file.
  Interval<Bytes> extent(UnitId unit) const { return extents_.at(unit.index()); }
  Bytes bytes(UnitId unit) const { return extent(unit).upper - extent(unit).lower; }
  int64_t units() const { return std::ssize(extents_); }

 private:
  std::vector<WeightPlace> places_{};
  std::vector<Interval<Bytes>> extents_{};
};

}  // namespace tidemark

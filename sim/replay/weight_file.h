// The weights of a replay in a scratch file, unit by unit, each from a page boundary on, so that a
// unit is read in one piece straight into the pages that will hold it. Within a unit its tensors
// follow each other without gaps, as in the plan.
//
//   | token_embd .......... pad | blk.0 ... pad | blk.1 ... pad | output pad |
#pragma once

#include <functional>
#include <vector>

#include "planner/capacity/memory_plan.h"
#include "sim/replay/scratch_file.h"

namespace tidemark {

// Where a tensor lies in the bytes of its unit.
struct WeightPlace {
  UnitId unit{};
  size_t offset = 0;
  size_t bytes = 0;
};

class WeightFile {
 public:
  // False stops the writing.
  using Progress = std::function<bool(int64_t bytes_written, int64_t bytes)>;

  // Writes made-up int8 weights (value_ranges.h), a small piece in memory at a time; throws
  // std::system_error. What comes of it after a stop is of no use.
  WeightFile(const MemoryPlan& plan, uint64_t seed, int64_t layers,
             const std::filesystem::path& folder, const Progress& progress);

  // `into` is the unit's bytes rounded up to whole pages.
  void read_unit(UnitId unit, std::span<std::byte> into) const;
  const WeightPlace& place(WeightId weight) const { return places_.at(weight.index()); }
  Bytes unit_bytes(UnitId unit) const;

 private:
  std::vector<WeightPlace> places_{};
  std::vector<int64_t> unit_offsets_{};  // in the file, and its end
  std::vector<Bytes> unit_bytes_{};
  ScratchFile file_;
};

int64_t weight_file_bytes(const MemoryPlan& plan);

}  // namespace tidemark

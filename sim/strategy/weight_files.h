// The weights in several files of whole tensors, one after the other in the order of the inventory,
// as a split GGUF file has them. Headers are left out.
//
//   tensors of 3, 2, 2 and 1 MiB; unit a is the first two, unit b the others
//   --split 2 (about alike)    3+2 | 2+1      a: file 0 [0, 5)   b: file 1 [0, 3)
//   --split 4MiB (at most)     3 | 2+2 | 1    a: file 0 [0, 3), file 1 [0, 2)
//                                             b: file 1 [2, 4), file 2 [0, 1)
//   Checked by WeightFilesTest.WorkedInTheHeader.
//
// What it changes: the first read of each file opens it and waits for one request's latency; a unit
// that lies in two files takes a request of each; neither readahead nor a large request crosses
// from one file to the next, and the last page of each is its own.
#pragma once

#include <string>
#include <vector>

#include "planner/base/interval.h"
#include "planner/capacity/scenario.h"
#include "planner/capacity/weight_units.h"

namespace tidemark {

struct FilePiece {
  size_t file = 0;
  Interval<Bytes> range{};  // of that file
  bool operator==(const FilePiece&) const = default;
};

struct WeightFiles {
  std::vector<Bytes> sizes{};                    // by file
  std::vector<std::vector<FilePiece>> pieces{};  // by unit, in order

  int64_t units_in_several() const;
};

// One file unless the choices say otherwise. Files are never empty; a tensor larger than the size
// asked for has a file to itself.
WeightFiles weight_files(const std::vector<WeightUnit>& units, const WeightsInventory& weights,
                         const ResidencyChoices& choices);

// "The weights lie in 4 files: ..."; what that costs.
std::string split_note(const WeightFiles& files, Duration open);

}  // namespace tidemark

// The weights of a replay in a scratch file, as unit_layout.h has them: tensor after tensor, as in
// a model's own file. A unit is read in one piece, straight into the pages that will hold it; they
// begin and end with whole pages of the file, so up to a page more than the unit at either side.
//
//   pages of the file    | 0      | 1      | 2      | 3      |
//   units                | embd  |  blk.0       |  blk.1  |
//   blk.0 in memory      | 0  lead|.... 1 .....|.. 2       |
#pragma once

#include <functional>

#include "planner/base/interval.h"
#include "planner/capacity/memory_plan.h"
#include "sim/replay/mapping.h"
#include "sim/replay/scratch_file.h"
#include "sim/replay/weight_source.h"

namespace tidemark {

class WeightFile {
 public:
  // False stops the writing.
  using Progress = std::function<bool(int64_t bytes_written, int64_t bytes)>;

  // Writes every row of `source`, a small piece in memory at a time; throws std::system_error, and
  // BadWeights. What comes of it after a stop is of no use.
  WeightFile(const WeightsInventory& weights, WeightSource& source,
             const std::filesystem::path& folder, const Progress& progress);

  const ScratchFile& file() const { return file_; }

 private:
  ScratchFile file_;
};

// A piece of the file in pages of its own.
struct LoadedPiece {
  Mapping pages{};
  std::span<const std::byte> bytes{};
};
// Pages that are resident once they are populated; nothing is read yet.
LoadedPiece pages_for(Interval<Bytes> piece);
// Past the page cache, or out of it.
enum class ReadWay { kDirect, kCached };
// Into resident pages. Throws std::system_error.
void read_piece(const WeightFile& weights, Interval<Bytes> piece, std::span<std::byte> pages,
                ReadWay way = ReadWay::kDirect);

int64_t weight_file_bytes(const MemoryPlan& plan);

}  // namespace tidemark

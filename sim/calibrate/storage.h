// Storage, by the size of a request, how many are kept in flight, and their order. Past the page
// cache by direct reads, or, where the file system has none, by dropping what was read.
//
//   each point: `depth` threads, each with one request on its way at all times; bytes by time
//   random: places drawn anew; sequential: the next that no thread has taken, on from where the
//   round before has ended, from the beginning again at the end
#pragma once

#include <vector>

#include "planner/capacity/device_spec.h"
#include "sim/calibrate/rounds.h"
#include "sim/replay/scratch_file.h"

namespace tidemark {

struct MeasuredPoint {
  StoragePoint point{};
  Spread spread{};  // bytes a second
};

struct PointWanted {
  ReadOrder order = ReadOrder::kRandom;
  Bytes request{};
  int64_t depth = 1;
};

std::vector<PointWanted> points_wanted(bool quick, Bytes file);

class StorageProbes {
 public:
  // `span`: how long a round reads at each point. The file must outlive the rounds.
  StorageProbes(Rounds& rounds, const ScratchFile& file, const std::vector<PointWanted>& wanted,
                Duration span);
  // By order, depth and size, monotonic. After the rounds.
  std::vector<MeasuredPoint> points() const;

 private:
  struct Point {
    PointWanted wanted{};
    const Probe* probe = nullptr;
  };
  std::vector<Point> points_{};
};

// A larger request never takes less time than a smaller one of the same order and depth: where
// noise says otherwise, the larger gets the time of the smaller.
//   4 KiB at 40 MB/s: 102,400 ns; 8 KiB at 100 MB/s: 81,920 ns -> 8 KiB at 80 MB/s
//   Checked by StoragePointsTest.
void make_monotonic(std::vector<MeasuredPoint>& points);

}  // namespace tidemark

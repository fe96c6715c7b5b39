// From search order to better search order, where no run of the exact search comes to an end.
//
// An order is good or bad in degrees: a run that fails has left more or less of the part unplaced
// at its best moment. A climb takes the best of some orders, disturbs it a little, and goes on from
// the disturbed one unless its run came clearly less far:
//
//   order          a    b = a'   c = b'   d = b'   e = d'
//   area left    190      120      300      118        0     e solves
//                       taken  dropped    taken
//
// Each run is short: a run that solves needs little more than a node an item. Where drawing orders
// at random solves one run in a thousand, a climb solves one in some dozens, and what solved at one
// capacity is a good start for the next.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/alloc/exact_lanes.h"

namespace tidemark::exact {

class Climb {
 public:
  // `part`: numbers of items, of one part of the instance, which must outlive the climb.
  Climb(const Instance& instance, std::vector<int32_t> part, uint64_t seed);

  // One batch of runs, of at most `node_limit` > 0 nodes together. kSolved: the offsets are in
  // `lanes`; the next step should be made at a lower capacity. kFailed: proved that the part does
  // not fit.
  Outcome step(Lanes& lanes, int64_t node_limit);

  const std::vector<int32_t>& part() const { return part_; }

 private:
  struct Variant {
    Order order{};  // its factors are those below
    std::vector<uint32_t> factors{};
    int64_t left = 0;
  };
  uint64_t draw(uint64_t below);
  Variant drawn();
  Variant disturbed(const Variant& from);
  std::vector<Variant> next_variants(size_t count);
  void begin_again();
  void take(Variant variant, bool starting);

  const Instance& instance_;
  std::vector<int32_t> part_{};
  int32_t shapes_ = 0;
  int64_t area_ = 0;       // of the part, as least_left counts it
  int64_t tolerance_ = 0;  // of area left, within which a variant counts as good as the last
  uint64_t seed_ = 0;
  uint64_t draws_ = 0;
  uint64_t one_in_ = 1;  // of so many factors one is drawn anew in a disturbed order
  Variant current_{};
  Variant winner_{};     // the last that solved; no factors when none has
  bool solved_ = false;  // has the current one solved, at the capacity before?
  int64_t least_ = 0;    // area left by the best of this climb
  int64_t idle_runs_ = 0;
  int64_t starts_ = 0;  // orders still to draw before the climb begins
};

}  // namespace tidemark::exact

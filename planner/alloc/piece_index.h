// Which of the pieces added so far are in use at some instant of an interval? A tree over the times
// at which pieces begin or end; each piece hangs at the O(log n) nodes that make up its time.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/base/interval.h"

namespace tidemark {

class PieceIndex {
 public:
  // `times`: all that will be asked for, in any order.
  explicit PieceIndex(std::vector<int64_t> times);

  void add(size_t piece, const Interval<int64_t>& when);

  // Calls `visit` with each piece that shares an instant with `when`, perhaps more than once.
  template <typename Visit>
  void overlapping(const Interval<int64_t>& when, Visit visit) const {
    if (!nodes_.empty() && !when.empty()) {
      walk(1, {0, times_.size() - 1}, {index_of(when.lower), index_of(when.upper)}, visit);
    }
  }

 private:
  struct Node {
    std::vector<size_t> pieces{};
    bool any_below = false;
  };

  size_t index_of(int64_t time) const;
  void insert(size_t node, Interval<size_t> span, const Interval<size_t>& when, size_t piece);

  template <typename Visit>
  void walk(size_t node, Interval<size_t> span, const Interval<size_t>& when, Visit& visit) const {
    if (!overlaps(span, when)) return;
    for (const size_t piece : nodes_[node].pieces) visit(piece);
    if (!nodes_[node].any_below) return;
    const size_t middle = (span.lower + span.upper) / 2;
    walk(2 * node, {span.lower, middle}, when, visit);
    walk(2 * node + 1, {middle, span.upper}, when, visit);
  }

  std::vector<int64_t> times_;
  std::vector<Node> nodes_;
};

}  // namespace tidemark

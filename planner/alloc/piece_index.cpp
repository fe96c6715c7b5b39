#include "planner/alloc/piece_index.h"

#include <algorithm>

namespace tidemark {

PieceIndex::PieceIndex(std::vector<int64_t> times) : times_(std::move(times)) {
  std::ranges::sort(times_);
  times_.erase(std::ranges::unique(times_).begin(), times_.end());
  if (times_.size() > 1) nodes_.resize(4 * times_.size());
}

void PieceIndex::add(size_t piece, const Interval<int64_t>& when) {
  insert(1, {0, times_.size() - 1}, {index_of(when.lower), index_of(when.upper)}, piece);
}

size_t PieceIndex::index_of(int64_t time) const {
  return static_cast<size_t>(std::ranges::lower_bound(times_, time) - times_.begin());
}

void PieceIndex::insert(size_t node, Interval<size_t> span, const Interval<size_t>& when,
                        size_t piece) {
  if (!overlaps(span, when)) return;
  if (when.lower <= span.lower && span.upper <= when.upper) {
    nodes_[node].pieces.push_back(piece);
    return;
  }
  nodes_[node].any_below = true;
  const size_t middle = (span.lower + span.upper) / 2;
  insert(2 * node, {span.lower, middle}, when, piece);
  insert(2 * node + 1, {middle, span.upper}, when, piece);
}

}  // namespace tidemark

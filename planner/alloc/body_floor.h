// Bodies that stand, and the bases they leave free for the next.
//
//   The bases that a placed piece forbids to a piece of the new body that is in use at the same
//   time: placed at [8,15), new one [2,6) from its base: no base from 3 to 12, so that it ends at
//   or below 8 (base 2) or begins at or above 15 (base 13). The lowest base is the first that no
//   pair of pieces forbids and that is aligned. Checked by BodyFitTest.ForbiddenBases.
//
// Two bodies to keep apart forbid each other's banks, whenever they live.
#pragma once

#include <optional>
#include <vector>

#include "planner/alloc/body_fit.h"
#include "planner/alloc/piece_index.h"

namespace tidemark {

class BodyFloor {
 public:
  // Keeps a reference.
  explicit BodyFloor(const BodyProblem& problem);

  void place(size_t body, Bytes base);

  // Of a body that is not placed: may it stand there, and where is the lowest such place?
  bool is_clear(size_t body, Bytes base) const;
  Bytes lowest(size_t body) const;

 private:
  std::vector<Interval<Bytes>> forbidden(size_t body) const;

  const BodyProblem& problem_;
  PieceIndex index_;
  std::vector<Interval<Bytes>> placed_{};  // addresses of each placed piece
  std::vector<std::optional<Bytes>> bases_;
};

}  // namespace tidemark

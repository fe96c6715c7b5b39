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
  void remove(size_t body);

  // Of a body that is not placed: may it stand there, and where is the lowest such place?
  bool is_clear(size_t body, Bytes base) const;
  Bytes lowest(size_t body) const;
  // Those that forbid it, ascending.
  std::vector<size_t> in_the_way(size_t body, Bytes base) const;

  int64_t visits() const { return visits_; }  // of placed pieces: the work done so far

 private:
  struct Placed {
    Interval<Bytes> addresses{};
    size_t body = 0;
    bool gone = false;
  };
  // Bases that are not allowed, and on whose account.
  struct Forbidden {
    Interval<Bytes> bases{};
    size_t body = 0;
  };
  std::vector<Forbidden> forbidden(size_t body) const;

  const BodyProblem& problem_;
  PieceIndex index_;
  std::vector<Placed> placed_{};  // pieces
  std::vector<std::optional<Bytes>> bases_;
  std::vector<size_t>
      first_of_;  // in placed_, of each body that stands; its pieces follow each other
  mutable int64_t visits_ = 0;
};

}  // namespace tidemark

#include "planner/alloc/body_floor.h"

#include <algorithm>

namespace tidemark {
namespace {

Bytes round_down(Bytes address, Alignment bank) {
  return address - Bytes::of(address.count() & (bank.count() - 1));
}

std::vector<int64_t> times_of(const BodyProblem& problem) {
  std::vector<int64_t> times;
  for (const Body& body : problem.bodies) {
    for (const Piece& piece : body.pieces) {
      times.insert(times.end(), {piece.when.lower, piece.when.upper});
    }
  }
  return times;
}

}  // namespace

BodyFloor::BodyFloor(const BodyProblem& problem)
    : problem_(problem), index_(times_of(problem)), bases_(problem.bodies.size()) {}

void BodyFloor::place(size_t body, Bytes base) {
  bases_[body] = base;
  for (const Piece& piece : problem_.bodies[body].pieces) {
    index_.add(placed_.size(), piece.when);
    placed_.push_back({base + piece.used.lower, base + piece.used.upper});
  }
}

bool BodyFloor::is_clear(size_t body, Bytes base) const {
  return std::ranges::none_of(forbidden(body),
                              [&](const auto& bases) { return bases.contains(base); });
}

Bytes BodyFloor::lowest(size_t body) const {
  const Body& mine = problem_.bodies[body];
  std::vector<Interval<Bytes>> bases = forbidden(body);
  std::ranges::sort(bases);
  Bytes base = lowest_base(mine);
  for (const Interval<Bytes>& none : bases) {
    if (base < none.lower) break;
    if (base < none.upper) base = next_base(mine, none.upper);
  }
  return base;
}

// Half-open, as everything: from one above the last base that is too low to the first high enough.
std::vector<Interval<Bytes>> BodyFloor::forbidden(size_t body) const {
  std::vector<Interval<Bytes>> bases;
  const Bytes one = Bytes::of(1);
  for (const Piece& piece : problem_.bodies[body].pieces) {
    index_.overlapping(piece.when, [&](size_t other) {
      const Interval<Bytes>& taken = placed_[other];
      bases.push_back({taken.lower - piece.used.upper + one, taken.upper - piece.used.lower});
    });
  }
  if (problem_.distances.empty()) return bases;
  for (const Distance& distance : problem_.distances[body]) {
    if (!bases_[distance.other]) continue;
    const Bytes other = *bases_[distance.other];
    const Bytes lower = round_down(other + distance.theirs.lower, problem_.bank);
    const Bytes upper = align_up(other + distance.theirs.upper, problem_.bank);
    bases.push_back({lower - distance.mine.upper + one, upper - distance.mine.lower});
  }
  return bases;
}

}  // namespace tidemark

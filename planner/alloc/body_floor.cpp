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
    : problem_(problem),
      index_(times_of(problem)),
      bases_(problem.bodies.size()),
      first_of_(problem.bodies.size()) {}

void BodyFloor::place(size_t body, Bytes base) {
  bases_[body] = base;
  first_of_[body] = placed_.size();
  for (const Piece& piece : problem_.bodies[body].pieces) {
    index_.add(placed_.size(), piece.when);
    placed_.push_back({{base + piece.used.lower, base + piece.used.upper}, body});
  }
}

void BodyFloor::remove(size_t body) {
  bases_[body].reset();
  for (size_t k = 0; k < problem_.bodies[body].pieces.size(); ++k) {
    placed_[first_of_[body] + k].gone = true;
  }
}

bool BodyFloor::is_clear(size_t body, Bytes base) const {
  return std::ranges::none_of(forbidden(body),
                              [&](const Forbidden& none) { return none.bases.contains(base); });
}

std::vector<size_t> BodyFloor::in_the_way(size_t body, Bytes base) const {
  std::vector<size_t> bodies;
  for (const Forbidden& none : forbidden(body)) {
    if (none.bases.contains(base)) bodies.push_back(none.body);
  }
  std::ranges::sort(bodies);
  bodies.erase(std::ranges::unique(bodies).begin(), bodies.end());
  return bodies;
}

Bytes BodyFloor::lowest(size_t body) const {
  const Body& mine = problem_.bodies[body];
  std::vector<Forbidden> ranges = forbidden(body);
  std::ranges::sort(ranges, {}, &Forbidden::bases);
  Bytes base = lowest_base(mine);
  for (const Forbidden& none : ranges) {
    if (base < none.bases.lower) break;
    if (base < none.bases.upper) base = next_base(mine, none.bases.upper);
  }
  return base;
}

// Half-open, as everything: from one above the last base that is too low to the first high enough.
std::vector<BodyFloor::Forbidden> BodyFloor::forbidden(size_t body) const {
  std::vector<Forbidden> ranges;
  const Bytes one = Bytes::of(1);
  for (const Piece& piece : problem_.bodies[body].pieces) {
    index_.overlapping(piece.when, [&](size_t other) {
      ++visits_;
      const auto& [taken, whose, gone] = placed_[other];
      if (gone) return;
      ranges.push_back(
          {{taken.lower - piece.used.upper + one, taken.upper - piece.used.lower}, whose});
    });
  }
  if (problem_.distances.empty()) return ranges;
  for (const Distance& distance : problem_.distances[body]) {
    if (!bases_[distance.other]) continue;
    const Bytes other = *bases_[distance.other];
    const Bytes lower = round_down(other + distance.theirs.lower, problem_.bank);
    const Bytes upper = align_up(other + distance.theirs.upper, problem_.bank);
    ranges.push_back(
        {{lower - distance.mine.upper + one, upper - distance.mine.lower}, distance.other});
  }
  return ranges;
}

}  // namespace tidemark

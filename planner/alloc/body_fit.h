// First fit of bodies, piece by piece: what a body leaves free at some time may hold another
// (body_floor.h).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "planner/alloc/body.h"

namespace tidemark {

// A part of this body and one of another that share no bank, each from its own body's base.
struct Distance {
  size_t other = 0;  // body
  Interval<Bytes> mine{};
  Interval<Bytes> theirs{};
};

// Of each body, both ways; of buffers that are ever live. By position in `bodies`.
std::vector<std::vector<Distance>> distances_of(const Problem& problem,
                                                const std::vector<Body>& bodies);

// What is to be placed: bodies that are possible, and what keeps some of them apart.
struct BodyProblem {
  std::vector<Body> bodies{};
  std::vector<std::vector<Distance>> distances{};
  Alignment bank{};
};
BodyProblem body_problem(const Problem& problem);

// Highest end of a body that is ever live.
Bytes peak_of(const std::vector<Body>& bodies, const std::vector<Bytes>& bases);

// Do the bodies stand clear of each other?
bool are_clear(const BodyProblem& problem, const std::vector<Bytes>& bases);

// Do two bodies with a fixed base clash?
bool fixed_bodies_clash(const BodyProblem& problem);

// Bases: fixed bodies first, where they must stand whatever else does, then the others in `order`
// (positions in bodies), each as low as it goes. What is never live goes as low as its phase
// allows.
std::vector<Bytes> fit_bodies(const BodyProblem& problem, std::span<const size_t> order);

struct BodyFitOptions {
  Bytes target{};                  // end as soon as a peak is no higher
  int64_t placements = 1'000'000;  // of single pieces, about
  std::function<bool()> stop{};    // true: return the best so far
};

// By size, area, width and start; then each again, what ended above the target first, for as long
// as placements are left. The bases of the lowest peak, the first of equal ones.
std::vector<Bytes> fit_bodies_in_orders(const BodyProblem& problem, const BodyFitOptions& options);

}  // namespace tidemark

// Planning with everything a problem may ask for: bodies, pairs to keep apart, hints, pools. Plain
// problems go to a plain planner as they are; so does the rectangle of each body (body.h). Only
// what rectangles waste, or can not say, is planned piece by piece.
//
//   problem -- pools? --> each pool by itself (pools.h)
//           -- plain? --> the plain planner
//           -- else ----> its rectangles to the plain planner; where they are not the same problem,
//                         first fit piece by piece and, for a few bodies, an exact search over
//                         them; the lowest of these
//           -- hints? --> buffers moved to their hints, as far as the peak stays (body_hints.h)
#pragma once

#include <functional>
#include <optional>

#include "planner/alloc/problem.h"

namespace tidemark {

// Plans a plain problem. With a capacity: a plan no higher, if it can; kInfeasible (no offsets)
// only with proof; else whatever it has, perhaps too high, perhaps without offsets.
using PlainPlanner = std::function<Plan(const Problem& plain, std::optional<Bytes> capacity)>;

struct BodyOptions {
  int64_t nodes = 20'000;          // of an exact search over bodies
  int64_t placements = 1'000'000;  // of first fits piece by piece, and of moves to hints
  bool by_pieces = true;           // no: rectangles alone, wherever they can be kept apart
  std::function<bool()> stop{};    // true: give up now
  std::function<void(const Plan&)> found{};  // each better plan of bodies, as soon as it is known
};

// One pool; the problem's own pools do not count. kProvedOptimal: the peak is a lower bound of the
// problem itself, counted by pieces or proved by search. kInfeasible (no offsets): so is proved,
// also that a group contradicts itself or that fixed buffers clash. Else kFeasible, whose peak may
// exceed the capacity, or kLimitReached without offsets.
Plan plan_bodies(const Problem& problem, std::optional<Bytes> capacity, const PlainPlanner& planner,
                 const BodyOptions& options = {});

// plan_bodies, then hints.
Plan plan_one_pool(const Problem& problem, std::optional<Bytes> capacity,
                   const PlainPlanner& planner, const BodyOptions& options = {});

// Everything. CHECKs that faults_of(problem) is empty.
Plan plan_all(const Problem& problem, std::optional<Bytes> capacity, const PlainPlanner& planner,
              const BodyOptions& options = {});

}  // namespace tidemark

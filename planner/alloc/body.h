// Bodies: what is placed as one. A group of buffers that keep their distances is a body, and so is
// every buffer alone. A body is a list of pieces: which of its addresses it uses, and when.
//
//   out [3,9) 8 at 0, in1 [0,4) 4 at 0, in2 [1,4) 4 at 4          (the group of problem.h)
//
//      8 +    +-------------------+     pieces: [0,4) x [0,4)   in1
//        | in2|                   |             [1,4) x [4,8)   in2
//      4 +--+-+        out        |             [3,9) x [0,8)   out
//        |in1 |                   |     hull:   [0,9) x [0,8), and [0,1) x [4,8) of it is free for
//      0 +----+-------------------+             others
//        0  1 3 4                 9
//   Checked by BodyTest.InputsInAnOutput.
//
// A buffer with a partial gap is the same thing: [0,9) 8 of which only [0,4) is used in [2,5) has
// the pieces [0,2) x [0,8), [2,5) x [0,4), [5,9) x [0,8).
#pragma once

#include <optional>
#include <vector>

#include "planner/alloc/problem.h"

namespace tidemark {

struct Piece {
  Interval<int64_t> when{};
  Interval<Bytes> used{};  // from the body's base
  auto operator<=>(const Piece&) const = default;
};

// The base is where group_offset 0 would stand: a buffer of a group at base + group_offset, a
// buffer alone at the base itself. It may be negative when no member begins at 0.
struct Body {
  std::vector<BufferId> members{};  // by id
  std::vector<Piece> pieces{};      // by address, then time; those of two members may overlap
  Interval<Bytes> hull{};  // from the lowest start of a member to the highest end of a live one
  Alignment alignment{};   // every member stands aligned where the base is `phase` above
  Bytes phase{};           //   a multiple of this
  std::optional<Bytes> base{};  // where it must stand
  std::optional<Bytes> hint{};  // of the first member that has one
  bool possible = true;         // no: fixed members disagree, or alignments contradict each other

  bool ever_live() const { return !pieces.empty(); }
  Bytes height() const { return hull.upper - hull.lower; }
};

// In order of each body's first member.
std::vector<Body> bodies_of(const Problem& problem);

// The lowest base the body may have that is not below `base`.
Bytes next_base(const Body& body, Bytes base);
inline Bytes lowest_base(const Body& body) { return next_base(body, Bytes{} - body.hull.lower); }

// What the buffer uses, from its own start: by time, none empty, no two with the same addresses
// touching.
std::vector<Piece> pieces_of(const Buffer& buffer);

// The problem of one rectangle for each body, whose plans are plans of the given problem (pools and
// pairs to keep apart aside).
struct Reduction {
  Problem problem{};           // plain
  std::vector<Body> bodies{};  // of each of its buffers
  // Is every body at each instant wholly in use or not at all? Then the plans of both are the same,
  // and so are bounds and proofs.
  bool exact = true;
};

// Requires that every body is possible. A body that does not begin at a multiple of its alignment
// gets a taller rectangle. Every buffer of a plain problem stays as it is.
Reduction reduce(const Problem& problem);

// Offsets of the buffers, by BufferId, from the bases of the bodies, and from the reduced plan's
// offsets. What is never live stands with its group, or at 0.
std::vector<Bytes> offsets_at(const Problem& problem, const std::vector<Body>& bodies,
                              const std::vector<Bytes>& bases);
std::vector<Bytes> bases_of(const Reduction& reduction, const std::vector<Bytes>& offsets);

// How the bytes a body uses change over time, in order of time: what two members share counts once.
struct UseChange {
  int64_t instant = 0;
  Bytes change{};
  auto operator<=>(const UseChange&) const = default;
};
std::vector<UseChange> use_changes(const Body& body);

// Largest sum of bytes in use at one instant: no plan of these bodies is lower.
Bytes load_of(const std::vector<Body>& bodies);

}  // namespace tidemark

// A piece of an order: ops that stand side by side in it and are reordered among themselves, with
// what the arena holds for them. Used by operator_order*.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/interval.h"
#include "planner/graph/schedule.h"

namespace tidemark {

// An arena tensor that ends within the piece: read in it, and not after it. Ops and tensors of a
// piece are counted from 0.
struct PieceTensor {
  Bytes size{};
  std::optional<size_t> writer{};  // none: live when the piece begins
  std::vector<size_t> readers{};   // ascending, at least one
  bool operator==(const PieceTensor&) const = default;
};

struct CutOp {
  std::vector<size_t> before{};      // ops of the piece that it reads from
  std::vector<size_t> reads{};       // tensors of the piece, each once
  std::vector<size_t> overwrites{};  // of these, what its output may take the place of
  Bytes writes{};                    // into the arena
  Bytes keeps{};                     // of that, what is read by anyone
  Bytes leaves{};                    // of that, what is read after the piece
  bool operator==(const CutOp&) const = default;
};

struct Piece {
  std::vector<CutOp> ops{};
  std::vector<PieceTensor> tensors{};
  Bytes entry{};        // tensors of the piece that are live when it begins
  Bytes first_extra{};  // live in the first step alone: inputs of the graph that nobody reads
  // Two pieces with equal members have the same orders with the same peaks.
  bool operator==(const Piece&) const = default;
};

// Which ops of a piece have run, 64 to a word.
using OpSet = std::span<const uint64_t>;
inline bool holds(OpSet set, size_t op) { return ((set[op / 64] >> (op % 64)) & 1) != 0; }
inline void insert(std::span<uint64_t> set, size_t op) { set[op / 64] |= uint64_t{1} << (op % 64); }
inline size_t words_for(size_t ops) { return (ops + 63) / 64; }

bool is_ready(const Piece& piece, OpSet done, size_t op);

// What running `op` next does, when `done` has run and `memory` is live.
struct OpEffect {
  Bytes load{};   // while it runs
  Bytes after{};  // live after it
};
OpEffect effect_of(const Piece& piece, OpSet done, Bytes memory, size_t op);

// The peak of the piece's own order (0, 1, 2, ...), or of another.
Bytes peak_of(const Piece& piece);
Bytes peak_of(const Piece& piece, std::span<const size_t> order);

// No order has a lower peak: at each op, what must be live whatever the order (its own tensors, and
// what flows from an op that must come before to one that must come after). O(ops x tensors); for
// more than `kMostOpsForPaths` ops only its own tensors are counted.
inline constexpr size_t kMostOpsForPaths = 2048;
Bytes lower_bound_of(const Piece& piece);

// The steps [0, n) cut after every op through which everything passes: whatever the order, the ops
// before it run before it, and those after it after it. The pieces are then independent of each
// other, and the peak of the whole is the highest of theirs.
std::vector<Interval<size_t>> cut_at_articulations(const Graph& graph, const Schedule& schedule);

// A run of steps as a piece, and what else is live all through it.
struct PlacedPiece {
  Interval<size_t> steps{};
  Bytes base{};
  Piece piece{};
};

// `runs` cover the steps in order, without gap or overlap.
std::vector<PlacedPiece> make_pieces(const Graph& graph, const Schedule& schedule,
                                     std::span<const Interval<size_t>> runs);

}  // namespace tidemark

// The judge of offsets for a ggml graph: the evaluation replayed on names instead of numbers. Every
// address holds the name of the tensor last written there; a node may read a source only where that
// source's name still stands. Written from the definition: it knows no lifetimes, no buffers and
// no plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/engine/ggml_problem.h"

namespace tidemark {

enum class GgmlReplayRule {
  kNoPlace,   // read or written, but without an offset
  kOutside,   // negative, no multiple of 32, or it ends above the arena
  kLost,      // a node reads it (or somebody outside does, at the end), but it was overwritten
  kOverlaps,  // a node writes over one of its own sources and may not
};

struct GgmlReplayFault {
  GgmlReplayRule rule = GgmlReplayRule::kLost;
  TensorId node{};    // at which it shows; of an output lost at the end, the output
  TensorId tensor{};  // which is lost, outside, without a place or written over
  std::string message{};
};

inline constexpr size_t kMostGgmlReplayFaults = 100;

// Offsets by TensorId, as of `tensor_offsets` or of a reservation (those of views are not used).
// `in_place` says which ops may write over a source of their own, at equal addresses and layouts.
// Empty: nothing is read after it was overwritten. O(n log n).
std::vector<GgmlReplayFault> replay(const GgmlGraph& graph,
                                    const std::vector<std::optional<Bytes>>& offsets, Bytes arena,
                                    GgmlInPlace in_place);

}  // namespace tidemark

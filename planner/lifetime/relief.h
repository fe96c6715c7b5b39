// What would lower the peak load: which tensor, recomputed later instead of kept, or moved out of
// the arena and back, between two uses that stand on either side of the peak.
//
//   step 0: a 6 = f(x 1)   1: b 8 = g()   2: c 1 = h(b)   3: k(a, c)      peak 6 + 8 + 1 at step 2
//   a moved out after 0 and back before 3:   h now needs b 8 + c 1 = 9, and no step more
//   a made again before 3:   x lives until then, so h needs x 1 + b 8 + c 1 = 10
//   Checked by ReliefTest.OneTensorOverAPeak.
//
// The layers of a model reach the peak together, so away with one layer's tensor lowers nothing.
// Tensors that wait between like uses ("blk.3.norm" to "blk.3.add", "blk.4.norm" to "blk.4.add")
// are therefore taken together, each where it counts, and told as "blk.*.x".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/lifetime/load_profile.h"
#include "planner/lifetime/relief_rewrite.h"

namespace tidemark {

std::string_view name_of(ReliefKind kind);  // "recompute", "spill"

struct Relief {
  ReliefKind kind = ReliefKind::kSpill;
  std::string tensor{};             // "blk.*.x" for several, "embed, blk.*.x" if named apart
  Bytes bytes{};                    // of the largest of them
  std::vector<Absence> absences{};  // one a tensor
  Bytes new_peak{};                 // load of the rewritten graph, built and measured
  Bytes saves{};                    // peak - new_peak; more than 0
  Bytes moved{};                    // kSpill: out and back, all tensors, once a pass
  int64_t operations = 0;           // kRecompute: of the ops run again, once a pass
  Bytes weights_read{};             // kRecompute: by them
  std::string last_op{};            // of the first absence: the use before
  std::string next_op{};            // and the use after
};

struct ReliefOptions {
  size_t most = 5;    // reliefs told
  int64_t cells = 0;  // KV cells attended, for the operations of attention
};

struct ReliefFacts {
  Bytes peak{};
  StepIndex peak_step{};
  std::string peak_op{};
  Bytes in_use{};  // of the peak: what that op reads and writes, which cannot be away
  std::vector<Relief> reliefs{};  // most saved first; of equals by name, recompute before spill
};

// Every tensor that is live but not in use at the (first) peak step is tried, of at most
// `kMostReliefsTried` kinds, the largest first. Empty for a schedule without steps.
inline constexpr size_t kMostReliefsTried = 64;
ReliefFacts relief(const Graph& graph, const Schedule& schedule, const ReliefOptions& options = {});

}  // namespace tidemark

// The passes of a run and the order in which they visit weight units.
//
//   prompt 100, ubatch 64, generate 3:   prefill 0 (64 tokens)  prefill 1 (36)  decode 0 (1) decode
//   1 (1) cells attended:                      64                     100             101 102
// The first token comes out of the last prefill pass, so N tokens need N - 1 decode passes.
// Sequences advance together: each has the prompt as its own, cells are counted per sequence, and a
// decode pass makes a token for each. Checked by PassesTest.PromptOfAHundredInUbatchesOfSixtyFour.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/capacity/memory_plan.h"

namespace tidemark {

struct Pass {
  Phase phase = Phase::kPrefill;
  int64_t index = 0;   // within its phase
  int64_t tokens = 0;  // over all sequences
  int64_t cells = 0;   // KV cells attended per token, per sequence
  bool operator==(const Pass&) const = default;
};

// Counted, not listed: a run may have millions. The ubatch may change on the way: of a prompt of
// 100, after one pass of 64 it becomes 16: prefill 0 (64)  1 (16)  2 (16)  3 (4). Checked by
// PassesTest.ASmallerUbatchOnTheWay.
struct Passes {
  int64_t prompt_tokens =
      1;  // over all sequences; an empty prompt still needs one token to start from
  int64_t ubatch = 1;
  int64_t n_seq = 1;
  int64_t cells_limit = 1;    // a full context forgets its oldest cells
  int64_t prefill = 0;        // passes
  int64_t decode = 0;         // passes
  int64_t changed_at = 0;     // the first pass of this ubatch,
  int64_t tokens_before = 0;  // and what those before it take of the prompt

  // From pass `next` on; those before it are not asked for again. Requires next <= prefill.
  void change_ubatch(int64_t next, int64_t tokens);
  int64_t count() const { return checked_add(prefill, decode); }
  Pass at(int64_t index) const;
};

Passes passes_of(const Scenario& scenario, const MemoryPlan& plan);

// The unit of every visit of a run, in order. Visits are numbered from 0 over all passes.
struct Itinerary {
  std::vector<UnitId> prefill{};  // the visits of one pass
  std::vector<UnitId> decode{};
  int64_t prefill_passes = 0;
  int64_t decode_passes = 0;

  int64_t visits() const;
  UnitId unit_at(int64_t visit) const;
};

Itinerary itinerary_of(const MemoryPlan& plan, const Passes& passes);
// A given list of accesses is one pass.
Itinerary itinerary_of(std::vector<UnitId> accesses);

}  // namespace tidemark

// What llama.cpp did otherwise at the time of a log: the model of its memory is of one commit of
// August 2026, and this says what to undo. A build number decides where the log has one, else the
// wording of its lines.
//
//   build 6209 (August 2025): indexed rows, 32-bit mask, no unused embeddings
//   "llama_kv_cache_init: ... KV self size" (2024): none of these; window layers at full length
//   Checked by LlamaEraTest.WorkedInTheHeader.
#pragma once

#include "planner/compare/logged_run.h"

namespace tidemark {

struct LlamaEra {
  // The graph holds an input of embeddings that token runs never read. From January 2026.
  bool unused_embeddings = true;
  // New keys and values are stored by an input of indices (SET_ROWS), without flash attention one
  // for each value. By default from build 6073, August 2025.
  bool indexed_rows = true;
  // The mask comes in 32 bits and is made 16 wide on the device. Until May 2026.
  bool wide_mask = false;
  // All sequences in one cache, whatever is asked for. Until July 2025.
  bool one_cache = false;
  // Window layers keep what they see only. From build 5439, May 2025.
  bool window_cache = true;
  // Of -ngl N the output matrix is the first, not the last, to go to the device. From
  // December 2025.
  bool head_first = true;
  // Q, K and V are copied out of a product that holds all three. Until build 6412, September 2025.
  bool copied_parts = false;
  // Inputs have a buffer of their own, beside the compute buffer of the host. Early 2024.
  bool inputs_apart = false;
  // The gate works on its product in one operation (GLU). Before build 5782, June 2025, it was
  // two, each in place.
  bool gated_units = true;
  // A norm and its weights are one operation with memory of its own. ik_llama.cpp.
  bool fused_norms = false;
  // Its graphs are not known at all: one figure for everything.
  bool unknown_graph = false;
  bool operator==(const LlamaEra&) const = default;
};

LlamaEra era_of(const LoggedRun& run);

}  // namespace tidemark

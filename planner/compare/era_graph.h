// The graph that llama.cpp reserves for, as a build of another age made it.
//
//   leaves inp_embd (never read), index, mask (f16); nodes SET_ROWS(rows, index, cache),
//   FLASH_ATTN_EXT(q, k, v, mask)
//   of July 2025: no inp_embd, no index; the mask is f32, and CPY makes an f16 of it before its
//   first reader
//   Checked by EraGraphTest.WorkedInTheHeader.
#pragma once

#include "planner/compare/llama_era.h"
#include "planner/engine/ggml_graph.h"

namespace tidemark {

GgmlGraph as_of(const GgmlGraph& graph, const LlamaEra& era);

}  // namespace tidemark

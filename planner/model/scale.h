// A model shrunk in proportion, for runs on a machine too small for it. Layers, sizes of one head
// (head_dim, d_state, latent and rope parts of MLA's heads), numbers of experts and vocabulary
// stay; widths follow the factor, each rounded to the nearest legal one and never above what it
// was:
//
//   n_head      at least 1
//   n_head_kv   the divisor of the new n_head nearest to the wished number; the smaller of two
//               equally near
//   n_embd      n_head x head_dim where it was that in every attention layer (RWKV: a multiple of
//               its head size), else a multiple of 32
//   n_ff        a multiple of 32; so are n_ff of experts and the ranks of low-rank products
//   d_inner     the multiple of n_embd that it was; of Mamba-2 n_head x its head size
//   value heads of the gated delta rule: as many for each key head as before
//
// Stacks shrink alike; an extra tensor follows where one of its sides is the width of its stack or
// of the main layers. What a file stores tensor by tensor is forgotten: it describes the whole
// model.
//
//   MiniCPM-2B x 0.25: 36 heads of 64 -> 9 of 64, n_embd 2304 -> 576, n_ff 5760 -> 1440, 40 layers
//   as before. Checked by ScaleTest.MiniCpmByAQuarter.
#pragma once

#include "planner/model/model_spec.h"

namespace tidemark {

inline constexpr double kLeastModelScale = 0.001;

// kLeastModelScale <= factor <= 1; 1 changes nothing, and nothing changes a layer list.
ModelSpec scale_widths(ModelSpec model, double factor);

}  // namespace tidemark

// A model shrunk in proportion, for runs on a machine too small for it. Layers, head_dim and
// vocabulary stay; widths follow the factor, each rounded to the nearest legal one:
//
//   n_head      at least 1
//   n_head_kv   the divisor of the new n_head nearest to the wished number; the smaller of two
//   equally near n_embd      n_head x head_dim where it was that, else a multiple of 32 n_ff a
//   multiple of 32
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

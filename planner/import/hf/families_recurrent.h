// Recurrent models and those that mix recurrences with attention.
//
//   Mamba-130M: 24 layers of in 768 x 3,072, convolution 1,536 x 4 + 1,536, x 1,536 x 80, dt 48 x
//   1,536 + 1,536, A 16 x 1,536, D 1,536, out 1,536 x 768, norm 768; with 50,280 x 768 and a norm
//   129,135,360. Checked by HfRecurrentTest.MambaByHand.
#pragma once

#include <span>

#include "planner/import/hf/families.h"

namespace tidemark {

std::span<const HfFamily> recurrent_families();         // families_recurrent.cpp
std::span<const HfFamily> recurrent_hybrid_families();  // families_recurrent_hybrid.cpp
std::span<const HfFamily> recurrent_mixed_families();   // families_recurrent_mixed.cpp

}  // namespace tidemark

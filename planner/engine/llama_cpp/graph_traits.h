// What that engine's code asks an architecture's name for: scales, caps and orders that no width
// tells. Everything else of a graph follows from what a layer is.
//
//   minicpm  embeddings, each residual and the logits are scaled: 2 n_layer + 2 more nodes
//   phi3     adds the feed-forward to the residual, not the residual to it: ADD(residual, ffn)
//   Checked by GraphTraitsTest.WorkedInTheHeader.
//
// Source: llama.cpp at 3f545bec, src/models/*.cpp.
#pragma once

#include <string_view>

#include "planner/model/model_spec.h"

namespace tidemark {

enum class LogitScale { kNone, kBefore, kAfter };  // of the product with the output matrix

struct GraphTraits {
  bool is_known = false;          // held against graphs of that engine, node by node
  bool scaled_embedding = false;  // right after the look-up
  bool scaled_residual = false;   // SCALE of what is added to the residual
  LogitScale logit_scale = LogitScale::kNone;
  bool capped_logits = false;        // SCALE, TANH, SCALE of the logits
  bool capped_scores = false;        // likewise of Q K, where flash attention does not do it
  bool scaled_query = false;         // SCALE of Q after the rotation by position
  bool rope = true;                  // rotates Q and K by position
  bool residual_before_ffn = false;  // ADD(residual, ffn) instead of ADD(ffn, residual)
  bool residual_before_mixer = false;
  bool split_gate_up = true;    // its files keep gate and up apart, whatever was published
  bool normed_weights = false;  // the weights of the chosen experts are made to sum to 1
  bool sigmoid_router = false;  // of the router's product, instead of SOFT_MAX
  bool scaled_weights = false;  // and are scaled
  bool layer_norm = false;      // norms without a shift are no RMS norms either
};

GraphTraits graph_traits(const ModelSpec& model);

}  // namespace tidemark

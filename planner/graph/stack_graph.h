// A stack's graph: what runs before the prompt, once for an image, a recording or a source text.
//
//   vision   image [P,P,planes] -> unfold [p*p*planes,n] -> patch_embed [E,n] -> class token before
//            them -> positions -> norm -> layers -> norm -> projector (tower_projector.cpp)
//   audio    mel [2n,mels] -> unfold -> conv1 [E,2n] -> unfold -> conv2 [E,n] -> positions ->
//   layers encoder  of text: source_ids -> the decoder's embedding -> positions, norm -> layers; of
//   sound:
//            as audio. At its end K and V of each layer that attends to its states are stored.
//
// Layers are those of build_graph.h without a cache: every row meets every row. A convolution is
// unfolded first and then a product, as ggml does it (im2col), so the unfolded rows are a tensor.
// Rows that a tower hands on are its last activation; build_graph reads them as `tower_rows`.
//
//   2 x 2 patches of 2 x 2 pixels and 3 planes, E = 4: image 4 x 4 x 3, unfold [12,4], patch_embed
//   [4,4]; with a class token 5 rows. Checked by StackGraphTest.TowerByHand.
//
// Taken as given where a spec does not say it: rope in a tower without a position table; all layers
// run (some decoders read the last but one); DeepStack's mergers evenly between the layers.
#pragma once

#include <optional>

#include "planner/graph/build_graph.h"

namespace tidemark {

// Pixels a side of the image, where a tower takes any size: 64 x 64 patches of 14 pixels.
inline constexpr int64_t kImagePixels = 896;

// What a stack reads at once.
struct StackInput {
  int64_t pixels = 0;  // a side; vision
  int64_t n_row = 0;   // patches, frames or tokens; a class token is one more
  int64_t n_out = 0;   // rows handed on to the decoder: tokens of the image
  int64_t n_deep = 0;  // of DeepStack's mergers: parts of a row besides the first
  bool operator==(const StackInput&) const = default;
};

// None for a stack that has no graph: draft heads, stacks that are not counted, and those whose
// spec does not say how many rows there are or how they are made.
std::optional<StackInput> stack_input(const ModelSpec& model, size_t stack);

// Heeds the types, flash_attention and n_seq (of the cross-attention's cache) of `options`. One
// image or source, whatever n_seq. CHECKs that the stack has an input. Throws std::overflow_error
// when a size leaves 63 bits.
Graph build_stack_graph(const ModelSpec& model, size_t stack, const WeightsInventory& weights,
                        const GraphOptions& options);

// As most_ops, of that stack.
int64_t most_stack_ops(const ModelSpec& model, size_t stack);

}  // namespace tidemark

// The projector of a multimodal model: vision and audio towers, which llama.cpp loads from a file
// of their own into buffers of their own, and the graph of one image that it reserves for.
//
//   Qwen3-VL-8B, all in f32: 27 layers of 1,152, 13 tensors of which the projector 2,198.75 MiB;
//     its first image is 46 x 46 tokens of 32 pixels: 1,472 x 1,472, 8,464 patches
//     compute with flash attention 372.08 MiB
//   Checked by LlamaProjectorTest.WorkedInTheHeader.
//
// The first image is what it warms up with; a larger one makes the buffer grow later. Graphs are
// known of the projectors of Qwen2-VL to Qwen3.5, Gemma 3 and Idefics3 (SmolVLM); of others only
// the weights.
// Source: llama.cpp, tools/mtmd/clip.cpp, tools/mtmd/models/*.cpp, conversion of mmproj files.
#pragma once

#include <optional>
#include <string>

#include "planner/engine/ggml_graph.h"
#include "planner/model/model_spec.h"
#include "planner/model/weights.h"

namespace tidemark {

// A projector's file as its table of tensors says.
struct LlamaProjectorFile {
  std::string name{};
  Bytes tensors{};  // without any rounding
  Bytes whole{};    // each rounded up to 32 bytes
  int64_t n_tensors = 0;
  bool operator==(const LlamaProjectorFile&) const = default;
};

// The towers' tensors with matrices in `type` (f16, bf16, f32): vectors and positions f32, patches
// f32 unless the type is f16. Zero tensors: it has no tower.
LlamaProjectorFile projector_weights(const ModelSpec& model, DType type);

struct LlamaProjectorCompute {
  int64_t pixels = 0;  // a side of the first image
  int64_t n_nodes = 0;
  Bytes compute{};  // where it is computed
  Bytes host{};     // on a device: the inputs, which stay with the CPU; else 0
};

// Of the vision tower; none where its graph is not known. `patches` is the type of the matrix that
// reads the pixels. Throws std::overflow_error as GgmlBuilder does.
std::optional<LlamaProjectorCompute> projector_compute(const ModelSpec& model, bool flash,
                                                       bool on_device, DType patches = DType::kF16);

// The graph for one square image of so many pixels a side; none where it is not known.
std::optional<GgmlGraph> projector_graph(const ModelSpec& model, int64_t pixels, bool flash,
                                         DType patches = DType::kF16);

}  // namespace tidemark

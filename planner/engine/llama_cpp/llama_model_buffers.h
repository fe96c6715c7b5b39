// Buffers that llama.cpp makes for the weights of a file.
//
//   read       one buffer: the sum of all tensors, each rounded up to 32 bytes
//   mapped     "CPU_Mapped": the file from the first tensor it uses as it stands to the last. Files
//              are ordered as the quantizer writes them: what belongs to no layer first, then layer
//              by layer, by name
//   repacked   "CPU_REPACK", always of its own: matrices whose kernel wants rows interleaved
//
//   TinyLlama at Q4_0: 635,990,016 B in all, of which 544,997,376 B are repacked on AVX2. Read,
//   90,992,640 B remain; mapped, all but the last tensor (blk.21.ffn_up, 6,488,064 B) still lies
//   between the first and the last that is not: 629,501,952 B.
//   Checked by LlamaModelBuffersTest.WorkedInTheHeader.
//
// Source: llama.cpp at 3f545bec, src/llama-model-loader.cpp, ggml/src/ggml-cpu/repack.cpp.
#pragma once

#include <functional>

#include "planner/model/weights.h"

namespace tidemark {

// Interleaved kernels of a processor.
enum class LlamaRepack {
  kNone,    // switched off, or none
  kAvx2,    // Q4_0, Q4_K, IQ4_NL, MXFP4
  kAvx512,  // and Q2_K
  kArm,     // dot product or i8mm: Q4_0, Q4_K, Q5_K, Q6_K, Q8_0, IQ4_NL, MXFP4
};

struct LlamaModelBuffers {
  Bytes tensors{};  // without any rounding, as "file size" in its log
  Bytes whole{};    // of all tensors in one buffer
  Bytes plain{};    // what is left of it beside the repacked, when the file is read
  Bytes mapped{};   // the span, when it is mapped
  Bytes repacked{};
  int64_t n_tensors = 0;
};

// Weights of vision and audio towers are left out: they come in a file of their own.
LlamaModelBuffers llama_model_buffers(const ModelSpec& model, const WeightsInventory& weights,
                                      LlamaRepack repack);

// The file from the first tensor that is used as it stands to the end of the last.
Bytes llama_mapped_span(const ModelSpec& model, const WeightsInventory& weights,
                        const std::function<bool(const WeightTensor&)>& stands);

}  // namespace tidemark

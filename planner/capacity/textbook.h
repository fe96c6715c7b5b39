// The textbook estimates, as they are written down, each beside what the plan says. Source: the
// founding documents' formulas (docs/explanation/textbook-formulas.md works each one by hand).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/capacity/memory_plan.h"
#include "planner/capacity/verdict.h"

namespace tidemark {

// a = b x n x d x 4.  b 1, n 2048, d 4096 -> 33,554,432.
Bytes textbook_layer_activation(int64_t batch, int64_t tokens, int64_t width);
// S = S16 x bits / 16.  14 GB at 8 bits -> 7 GB.
Bytes textbook_quantized(Bytes at_16_bits, int64_t bits);
// ratio x (W + A), to the nearest byte.
Bytes textbook_runtime(Bytes weights, Bytes activations, double ratio);
// Layers per slice k = floor(budget / layer), slices = ceil(layers / k); none when not even one
// layer fits.
//   100 layers, room for 5 -> 20; 101 -> 21; room for 0 -> none.
std::optional<int64_t> textbook_slices(int64_t layers, Bytes layer, Bytes budget);
// Most tokens with w + b n d 4 <= limit; none when the weights alone are over it.
std::optional<int64_t> textbook_max_tokens(Bytes layer, int64_t batch, int64_t width, Bytes limit);
// Fewest tokens at which one layer's activation is larger than its weights: b n d 4 > w.
//   w 109,375,000 B, b 1, d 4096 -> 6,676.
int64_t textbook_crossover_tokens(Bytes layer, int64_t batch, int64_t width);
// Bytes that must be read again for every pass when only `resident` bytes of the weights stay: W -
// resident.
//   3.5 GB of weights, 1.5 GB resident -> 2.0 GB.
Bytes textbook_least_read(Bytes weights, Bytes resident);
// 2 L n_head_kv head_dim elements per token, half of them at each type's nominal bits.
Bytes textbook_kv_per_token(const TransformerSpec& spec, DType type_k, DType type_v);

struct TextbookRow {
  std::string term{};               // "total demand"
  std::string formula{};            // "W + A + 0.1 (W + A)"
  std::optional<Bytes> textbook{};  // none when it counts, or leaves the 63-bit range
  std::optional<int64_t>
      textbook_count{};  // for rows that count slices or tokens; none when there is no answer
  std::optional<Bytes> planned{};
  std::string why{};  // one sentence: where and why they differ
};

// A layer as the textbook sees it: so many bytes of weights, so many of activation. A transformer's
// layers are all alike: w = W / L, and a for the whole context of all sequences.
struct TextbookLayer {
  Bytes weights{};
  Bytes activation{};
};

std::vector<TextbookLayer> textbook_layers(const Scenario& scenario);
Bytes textbook_weights(const Scenario& scenario);                      // W
Bytes textbook_activations(const std::vector<TextbookLayer>& layers);  // A

// The breakdown of `--engine formula` (weights, activations of all layers at once, 10 %; no KV
// cache).
Breakdown textbook_breakdown(const Scenario& scenario);

// All rows for a scenario. Planned numbers are those of our own plan, also under `--engine
// formula`.
std::vector<TextbookRow> textbook_rows(const Scenario& scenario, const MemoryPlan& plan,
                                       const DeviceLimit& limit);

}  // namespace tidemark

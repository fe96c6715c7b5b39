// What would the model need if parts of it were taken out? A ModelSpec in, a smaller one out; sizes
// only, quality is not judged here.
//
//   drop-layers=8        8 layers less; those that stay are spread evenly, first and last among
//   them drop-layers=20-27    these layers, counted from 0; several ranges joined by +: 3-3+20-27
//   keep-layers=6        of 12 layers: 0, 2, 4, 7, 9, 11 (i x 11 / 5, rounded), as DistilBERT keeps
//   keep-heads=0.5       whole groups of query heads with their K and V head, at least one: 32
//   heads
//                        in 8 groups -> 16 in 4; where all share one K and V, query heads alone
//   keep-ffn=0.75        channels of the feed-forward (of every expert, of RWKV's channel mixing):
//                        14336 -> 10752; a multiple of 32 where it was one
//   vocab=32000          the first words of the vocabulary
//   tie                  no matrix of the head's own
//
// Widths between layers (n_embd) and of a head stay. What a file stores tensor by tensor is
// forgotten: it describes the whole model. Checked by TransformTest and
// TransformTextTest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/base/result.h"
#include "planner/model/model_spec.h"

namespace tidemark {

enum class TransformKind {
  kKeepLayers,
  kDropLayers,
  kKeepHeads,
  kKeepFeedForward,
  kTrimVocabulary,
  kTieEmbeddings
};
std::string_view name_of(TransformKind kind);  // "keep-layers", ..., "vocab", "tie"

// Both ends belong to it.
struct LayerRange {
  int64_t first = 0;
  int64_t last = 0;
  bool operator==(const LayerRange&) const = default;
};

// A part of a whole in millionths, so that no size passes through a float: 0.75 = 750,000.
inline constexpr int64_t kWholePart = 1'000'000;

struct Transform {
  TransformKind kind = TransformKind::kKeepLayers;
  int64_t count = 0;                 // layers or words
  std::vector<LayerRange> layers{};  // in place of a count of layers
  int64_t part = kWholePart;         // of heads or channels
  bool operator==(const Transform&) const = default;
};

// One as in the list above, and several separated by commas; an empty text is no transform. The
// diagnostics have no path: the caller knows the setting's name.
Result<Transform> parse_transform(std::string_view text);
Result<std::vector<Transform>> parse_transforms(std::string_view text);

// The canonical spelling: parse_transform(to_string(t)) = t.
std::string to_string(const Transform& transform);

// Errors: no such layer, none left, a layer that reads the KV cache of one that goes, no heads or
// channels to prune, more words than there are, tied already, no head; always for a layer list,
// which has sizes and no parts.
Result<ModelSpec> transformed(ModelSpec model, const Transform& transform);

// One after the other, each on what the one before it left. Stops at the first that is illegal.
Result<ModelSpec> transformed(ModelSpec model, const std::vector<Transform>& transforms);

// Which `count` of `total` layers stay when they are spread evenly; 1 <= count <= total.
std::vector<int64_t> evenly_spread(int64_t count, int64_t total);

}  // namespace tidemark

#include "planner/model/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "planner/base/check.h"
#include "planner/base/checked.h"

namespace tidemark {
namespace {

Diagnostics refuse(std::string message, std::string hint) {
  return one_error("", std::move(message), std::move(hint));
}

// Half up; at least one. In two steps, so that no product leaves 63 bits.
int64_t part_of(int64_t whole, int64_t part) {
  const int64_t rest = 2 * (whole % kWholePart) * part + kWholePart;
  return std::max<int64_t>(whole / kWholePart * part + rest / (2 * kWholePart), 1);
}

// A multiple of 32 stays one, so that rows still fill whole blocks.
int64_t part_of_channels(int64_t channels, int64_t part) {
  constexpr int64_t kBlock = 32;
  if (channels == 0) return 0;
  return channels % kBlock == 0 ? part_of(channels / kBlock, part) * kBlock
                                : part_of(channels, part);
}

Result<std::vector<int64_t>> listed(const std::vector<LayerRange>& ranges, int64_t total) {
  std::vector<bool> is_listed(static_cast<size_t>(total), false);
  for (const LayerRange& range : ranges) {
    if (range.first < 0 || range.last < range.first || range.last >= total) {
      return refuse(fmt::format("there are no layers {} to {}", range.first, range.last),
                    fmt::format("the model has {} layers, counted from 0", total));
    }
    for (int64_t i = range.first; i <= range.last; ++i) is_listed[static_cast<size_t>(i)] = true;
  }
  std::vector<int64_t> layers;
  for (int64_t i = 0; i < total; ++i) {
    if (is_listed[static_cast<size_t>(i)]) layers.push_back(i);
  }
  return layers;
}

std::vector<int64_t> all_but(const std::vector<int64_t>& dropped, int64_t total) {
  std::vector<int64_t> all(static_cast<size_t>(total));
  std::iota(all.begin(), all.end(), 0);
  std::vector<int64_t> kept;
  std::set_difference(all.begin(), all.end(), dropped.begin(), dropped.end(),
                      std::back_inserter(kept));
  return kept;
}

// The layers that stay, ascending.
Result<std::vector<int64_t>> layers_kept(const Transform& transform, int64_t total) {
  const bool keeps = transform.kind == TransformKind::kKeepLayers;
  if (!transform.layers.empty()) {
    Result<std::vector<int64_t>> named = listed(transform.layers, total);
    if (!named) return named;
    std::vector<int64_t> kept = keeps ? *named : all_but(*named, total);
    if (kept.empty()) return refuse("no layer would be left", "keep at least one");
    return kept;
  }
  if (transform.count < 0 || transform.count > total) {
    return refuse(fmt::format("there are no {} layers", transform.count),
                  fmt::format("the model has {}", total));
  }
  const int64_t count = keeps ? transform.count : total - transform.count;
  if (count == 0) return refuse("no layer would be left", "keep at least one");
  return evenly_spread(count, total);
}

Result<ModelSpec> with_layers(ModelSpec model, const Transform& transform) {
  auto& spec = std::get<TransformerSpec>(model.dims);
  const Result<std::vector<int64_t>> kept = layers_kept(transform, std::ssize(spec.layers));
  if (!kept) return kept.diagnostics();
  std::vector<int64_t> new_index(spec.layers.size(), -1);
  std::vector<LayerSpec> layers;
  for (const int64_t old : *kept) {
    LayerSpec layer = spec.layers[static_cast<size_t>(old)];
    auto* attention = std::get_if<AttentionSpec>(&layer.mixer);
    if (attention != nullptr && attention->shares_kv_with >= 0) {
      const int64_t source = attention->shares_kv_with;
      const int64_t now = source < old ? new_index[static_cast<size_t>(source)] : -1;
      if (now < 0) {
        return refuse(
            fmt::format("layer {} reads the KV cache of layer {}, which would go", old, source),
            fmt::format("keep layer {}, or drop layer {} as well", source, old));
      }
      attention->shares_kv_with = now;
    }
    new_index[static_cast<size_t>(old)] = std::ssize(layers);
    layers.push_back(std::move(layer));
  }
  spec.layers = std::move(layers);
  return model;
}

bool prune(AttentionSpec& spec, int64_t part) {
  if (spec.n_head == 0) return false;
  if (spec.n_head_kv <= 1) {
    spec.n_head = part_of(spec.n_head, part);
    return true;
  }
  const int64_t group = spec.n_head / spec.n_head_kv;
  spec.n_head_kv = part_of(spec.n_head_kv, part);
  spec.n_head = checked_mul(spec.n_head_kv, group);
  return true;
}

Result<ModelSpec> with_heads(ModelSpec model, int64_t part) {
  auto& spec = std::get<TransformerSpec>(model.dims);
  bool has_heads = false;
  for (LayerSpec& layer : spec.layers) {
    if (auto* attention = std::get_if<AttentionSpec>(&layer.mixer)) {
      has_heads = prune(*attention, part) || has_heads;
    } else if (auto* mla = std::get_if<MlaSpec>(&layer.mixer)) {
      mla->n_head = part_of(mla->n_head, part);
      has_heads = true;
    }
    has_heads = prune(layer.cross.attention, part) || has_heads;
  }
  if (!has_heads) {
    return refuse(fmt::format("{} has no attention heads", model.name), "leave keep-heads out");
  }
  return model;
}

Result<ModelSpec> with_channels(ModelSpec model, int64_t part) {
  auto& spec = std::get<TransformerSpec>(model.dims);
  int64_t before = 0;
  for (LayerSpec& layer : spec.layers) {
    auto* rwkv = std::get_if<RwkvSpec>(&layer.mixer);
    for (int64_t* width : {&layer.feed_forward.n_ff, &layer.moe.n_ff_exp, &layer.moe.n_ff_shared,
                           rwkv == nullptr ? nullptr : &rwkv->n_ff}) {
      if (width == nullptr) continue;
      before = std::max(before, *width);
      *width = part_of_channels(*width, part);
    }
  }
  if (before == 0) {
    return refuse(fmt::format("{} has no feed-forward", model.name), "leave keep-ffn out");
  }
  return model;
}

// A table beside the embedding with a row for each word loses the same rows.
Result<ModelSpec> with_words(ModelSpec model, int64_t words) {
  auto& spec = std::get<TransformerSpec>(model.dims);
  if (words < 1 || words > spec.n_vocab) {
    return refuse(fmt::format("a vocabulary of {} words cannot be made", words),
                  fmt::format("the model has {}", spec.n_vocab));
  }
  const auto trim = [&](std::vector<ExtraWeight>& extras) {
    for (ExtraWeight& extra : extras) {
      if (extra.rows == spec.n_vocab) extra.rows = words;
    }
  };
  trim(spec.extras);
  for (LayerSpec& layer : spec.layers) trim(layer.extras);
  spec.n_vocab = words;
  return model;
}

Result<ModelSpec> with_tied_embeddings(ModelSpec model) {
  auto& spec = std::get<TransformerSpec>(model.dims);
  if (!spec.has_head) {
    return refuse(fmt::format("{} has no head", model.name), "leave tie out");
  }
  if (spec.tied_embeddings) {
    return refuse(fmt::format("{} ties its embeddings already", model.name), "leave tie out");
  }
  spec.tied_embeddings = true;
  return model;
}

Result<ModelSpec> dispatched(ModelSpec model, const Transform& transform) {
  switch (transform.kind) {
    case TransformKind::kKeepLayers:
    case TransformKind::kDropLayers:
      return with_layers(std::move(model), transform);
    case TransformKind::kKeepHeads:
      return with_heads(std::move(model), transform.part);
    case TransformKind::kKeepFeedForward:
      return with_channels(std::move(model), transform.part);
    case TransformKind::kTrimVocabulary:
      return with_words(std::move(model), transform.count);
    case TransformKind::kTieEmbeddings:
      return with_tied_embeddings(std::move(model));
  }
  check(false, "every transform is applied");
  return model;
}

}  // namespace

std::vector<int64_t> evenly_spread(int64_t count, int64_t total) {
  check(1 <= count && count <= total, "some of the layers stay");
  std::vector<int64_t> kept;
  const int64_t gaps = std::max<int64_t>(count - 1, 1);
  for (int64_t i = 0; i < count; ++i) {
    kept.push_back((checked_mul(2 * i, total - 1) + gaps) / (2 * gaps));  // half up
  }
  return kept;
}

Result<ModelSpec> transformed(ModelSpec model, const Transform& transform) {
  if (model.transformer() == nullptr) {
    return refuse(fmt::format("{} states sizes, which have no parts", model.name),
                  "leave transforms out for a model that is a list of layers");
  }
  if (transform.part < 1 || transform.part > kWholePart) {
    return refuse("a part is more than 0 and at most 1", "keep-heads=0.5 keeps half of them");
  }
  model.stored.clear();
  return dispatched(std::move(model), transform);
}

Result<ModelSpec> transformed(ModelSpec model, const std::vector<Transform>& transforms) {
  for (const Transform& transform : transforms) {
    Result<ModelSpec> next = transformed(std::move(model), transform);
    if (!next) return next;
    model = std::move(next).value();
  }
  return model;
}

}  // namespace tidemark

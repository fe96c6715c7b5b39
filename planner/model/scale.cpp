#include "planner/model/scale.h"

#include <algorithm>
#include <cmath>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr int64_t kWidthStep = 32;

double times(int64_t width, double factor) { return static_cast<double>(width) * factor; }

int64_t nearest_multiple(int64_t width, double factor) {
  const int64_t steps = std::llround(times(width, factor) / static_cast<double>(kWidthStep));
  return std::max<int64_t>(steps, 1) * kWidthStep;
}

int64_t nearest_divisor(int64_t number, double wished) {
  int64_t nearest = 1;
  const auto distance = [wished](int64_t n) { return std::abs(static_cast<double>(n) - wished); };
  for (int64_t candidate = 2; candidate <= number; ++candidate) {
    if (number % candidate == 0 && distance(candidate) < distance(nearest)) nearest = candidate;
  }
  return nearest;
}

AttentionSpec scaled(const AttentionSpec& attention, double factor) {
  const int64_t n_head = std::max<int64_t>(std::llround(times(attention.n_head, factor)), 1);
  return {.n_head = n_head,
          .n_head_kv = nearest_divisor(n_head, times(attention.n_head_kv, factor)),
          .head_dim = attention.head_dim};
}

}  // namespace

ModelSpec scale_widths(ModelSpec model, double factor) {
  check(factor >= kLeastModelScale && factor <= 1.0, "a scale shrinks, and leaves something");
  auto* spec = std::get_if<TransformerSpec>(&model.dims);
  if (spec == nullptr || factor == 1.0) return model;
  const auto fills = [](const LayerSpec& layer, int64_t width) {
    const AttentionSpec* attention = layer.attention();
    return attention != nullptr && attention->n_head * attention->head_dim == width;
  };
  const bool heads_fill_width =
      !spec->layers.empty() &&
      std::all_of(spec->layers.begin(), spec->layers.end(),
                  [&](const LayerSpec& l) { return fills(l, spec->n_embd); });
  for (LayerSpec& layer : spec->layers) {
    if (const AttentionSpec* attention = layer.attention())
      layer.mixer = scaled(*attention, factor);
    layer.feed_forward.n_ff = nearest_multiple(layer.feed_forward.n_ff, factor);
  }
  const AttentionSpec first =
      heads_fill_width ? *spec->layers.front().attention() : AttentionSpec{};
  spec->n_embd =
      heads_fill_width ? first.n_head * first.head_dim : nearest_multiple(spec->n_embd, factor);
  return model;
}

}  // namespace tidemark

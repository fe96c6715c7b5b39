// The rows of the comparison between the textbook's formulas and the plan; the formulas stand in
// textbook.cpp.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "planner/capacity/textbook.h"
#include "planner/model/quantized_weights.h"
#include "planner/model/state.h"

namespace tidemark {
namespace {

constexpr double kOverheadRatio = 0.1;

template <typename Measure>
Bytes largest(const std::vector<TextbookLayer>& layers, Measure measure) {
  Bytes most;
  for (const TextbookLayer& layer : layers) most = std::max(most, measure(layer));
  return most;
}

Bytes largest_weights(const std::vector<TextbookLayer>& layers) {
  return largest(layers, [](const TextbookLayer& layer) { return layer.weights; });
}

// The last layer has no next one to load.
Bytes double_buffer_peak(const std::vector<TextbookLayer>& layers) {
  Bytes most;
  for (size_t i = 0; i < layers.size(); ++i) {
    const Bytes next = i + 1 < layers.size() ? layers[i + 1].weights : Bytes{};
    most = std::max(most, layers[i].weights + next + layers[i].activation);
  }
  return most;
}

// The value, or none when it leaves the 63-bit range: one absurd formula does not cost the reader
// the others.
template <typename Compute>
auto within_range(Compute compute) -> std::optional<decltype(compute())> {
  try {
    return compute();
  } catch (const std::overflow_error&) {
    return std::nullopt;
  }
}

// What the rows are made of. Planned numbers carry the prefix.
class Rows {
 public:
  Rows(const Scenario& scenario, const MemoryPlan& plan, const DeviceLimit& limit)
      : scenario_(scenario),
        plan_(plan),
        limit_(limit),
        layers_(textbook_layers(scenario)),
        weights_(textbook_weights(scenario)),
        activations_(textbook_activations(layers_)),
        layer_weights_(weights_ / scenario.model.n_layer()),
        planned_activations_(activation_bytes(plan, scenario.engine.activations)),
        planned_compute_(planned_activations_ + scratch_bytes(plan)) {
    // The plan's own weights are counted as the textbook counts when its engine is asked for.
    const Result<WeightsInventory> inventory = quantized_weights(scenario.model, scenario.quant);
    check(inventory.ok(), "a planned scenario has weights");
    planned_weights_ = inventory->bytes;
    // The plan's own units: its visits name them.
    planned_units_ = plan.units;
    for (WeightUnit& unit : planned_units_) {
      unit.bytes = {};
      for (const WeightId id : unit.tensors) {
        unit.bytes += inventory->tensors.at(id.index()).bytes;
      }
    }
  }

  std::vector<TextbookRow> make() && {
    add_totals();
    add_one_layer_peaks();
    add_two_layer_peaks();
    add_slicing();
    add_device();
    add_kv_cache();
    return std::move(rows_);
  }

 private:
  void add_totals();
  void add_one_layer_peaks();
  void add_two_layer_peaks();
  void add_slicing();
  void add_device();
  void add_kv_cache();

  template <typename Compute>
  void add(std::string term, std::string formula, Compute textbook, std::optional<Bytes> planned,
           std::string why) {
    rows_.push_back({.term = std::move(term),
                     .formula = std::move(formula),
                     .textbook = within_range(textbook),
                     .planned = planned,
                     .why = std::move(why)});
  }

  void add_count(std::string term, std::string formula, std::optional<int64_t> count,
                 std::string why) {
    rows_.push_back({.term = std::move(term),
                     .formula = std::move(formula),
                     .textbook_count = count,
                     .why = std::move(why)});
  }

  // Weights that stay under a strategy, in real formats.
  Bytes planned_resident(StrategyKind strategy) const {
    return resident_weight_bytes(strategy, planned_units_, plan_.decode.uses, {});
  }

  Bytes planned_total() const;

  const Scenario& scenario_;
  const MemoryPlan& plan_;
  const DeviceLimit& limit_;
  std::vector<TextbookLayer> layers_{};
  Bytes weights_{};        // W
  Bytes activations_{};    // A
  Bytes layer_weights_{};  // w = W / L
  Bytes planned_weights_{};
  std::vector<WeightUnit> planned_units_{};
  Bytes planned_activations_{};
  Bytes planned_compute_{};  // and scratch
  std::vector<TextbookRow> rows_{};
};

Bytes Rows::planned_total() const {
  return planned_weights_ + state_sizes(scenario_).kv_cache() + state_sizes(scenario_).recurrent +
         planned_compute_ + output_bytes(scenario_) + scenario_.engine.runtime_fixed;
}

void Rows::add_totals() {
  add(
      "total demand", "W + A + 0.1 (W + A)",
      [&] {
        return weights_ + activations_ + textbook_runtime(weights_, activations_, kOverheadRatio);
      },
      within_range([&] { return planned_total(); }),
      "The plan counts the KV cache and the output rows, which the formula leaves out, and does "
      "not keep the activations of all layers at once.");
  add(
      "weights", "W = N x bits / 8, or the sum of the layers", [&] { return weights_; },
      planned_weights_,
      "The plan counts whole blocks and scales row by row, and keeps the norms of quantized models "
      "in f32; sizes given layer by layer are the same on both sides.");
  add(
      "activations", "A = sum of a over all layers", [&] { return activations_; },
      planned_activations_,
      "The formula counts one tensor a layer over the whole context and adds up all layers; the "
      "plan counts every tensor of one batch and gives its memory to others after its last use.");
  // A fixed amount is known only to an engine profile that states one.
  const Bytes fixed = scenario_.engine.runtime_fixed;
  add(
      "runtime overhead", "O = 0.1 (W + A)",
      [&] { return textbook_runtime(weights_, activations_, kOverheadRatio); },
      fixed > Bytes{} ? std::optional(fixed) : std::nullopt,
      "A runtime's own memory is a fixed amount that an engine profile states; it does not grow "
      "with the model.");
  add(
      "full demand", "W + A", [&] { return weights_ + activations_; },
      within_range([&] { return planned_weights_ + planned_compute_; }),
      "Full load is the same idea on both sides; the difference is that of the weights and "
      "activations above.");
}

void Rows::add_one_layer_peaks() {
  add(
      "layer weight", "w = W / L", [&] { return layer_weights_; },
      planned_resident(StrategyKind::kLayerwise),
      "The formula spreads all weights evenly over the layers; the plan takes the largest unit, "
      "often the embedding or the head.");
  add(
      "peak, load-compute-release", "max (w + a)",
      [&] {
        return largest(layers_, [](const TextbookLayer& l) { return l.weights + l.activation; });
      },
      within_range([&] { return planned_resident(StrategyKind::kLayerwise) + planned_compute_; }),
      "The plan reserves its activations for the whole run beside the largest unit, and counts the "
      "layer's input with its output.");
  add(
      "peak, shared buffer", "max (w, a)",
      [&] {
        return largest(layers_,
                       [](const TextbookLayer& l) { return std::max(l.weights, l.activation); });
      },
      std::nullopt,
      "No plan reaches it: a layer's product needs its weights and its activations at the same "
      "time, so they cannot take turns in one buffer.");
}

void Rows::add_two_layer_peaks() {
  add(
      "peak, double buffer", "max (w_i + w_(i+1) + a_i)",
      [&] { return double_buffer_peak(layers_); }, within_range([&] {
        return planned_resident(StrategyKind::kDoubleBuffer) + planned_compute_;
      }),
      "The plan also pairs the last visit of a pass with the first of the next, and counts the "
      "embedding and the head as units.");
  add(
      "peak, two fixed slots", "2 max w + max a",
      [&] {
        return largest_weights(layers_) * 2 +
               largest(layers_, [](const TextbookLayer& l) { return l.activation; });
      },
      within_range(
          [&] { return planned_resident(StrategyKind::kLayerwise) * 2 + planned_compute_; }),
      "Two slots of the largest unit each; the plan's units and activations take the place of w "
      "and a.");
}

void Rows::add_slicing() {
  const int64_t n_layer = scenario_.model.n_layer();
  add_count("slices at the limit", "ceil(L / k), k = floor(limit / w)",
            textbook_slices(n_layer, layer_weights_, limit_.limit),
            "The formula sees weights alone and layers of equal size; a real slice also needs room "
            "for the KV cache and the activations.");
  add(
      "least read per pass", "max (0, W - limit)",
      [&] { return textbook_least_read(weights_, limit_.limit); },
      within_range([&] { return textbook_least_read(planned_weights_, limit_.limit); }),
      "What cannot stay must be read again for every token; activations and KV cache only add to "
      "it.");
  const TransformerSpec* spec = scenario_.model.transformer();
  if (spec == nullptr) return;
  const auto limit_tokens = within_range([&] {
    return textbook_max_tokens(layer_weights_, scenario_.n_seq, spec->n_embd, limit_.limit);
  });
  add_count("largest n under the red line", "w + b n d 4 <= limit",
            limit_tokens.value_or(std::nullopt),
            "One tensor of n tokens beside one layer's weights; the plan computes in batches, so "
            "the context costs KV cache and not activations.");
  add_count("n at which a exceeds w", "b n d 4 > w", within_range([&] {
              return textbook_crossover_tokens(layer_weights_, scenario_.n_seq, spec->n_embd);
            }),
            "From here on the formula's activation is the larger half of a layer; a plan in "
            "batches never gets there.");
}

void Rows::add_device() {
  add(
      "available memory", "M_total - M_os", [&] { return limit_.total - limit_.os; },
      limit_.available, "The same subtraction on both sides.");
  add(
      "safety margin", "R = ratio x M_available", [&] { return limit_.margin; }, limit_.margin,
      "The same share on both sides; the ratio is a setting.");
  add(
      "red line", "M_available - R", [&] { return limit_.available - limit_.margin; }, limit_.limit,
      "The plan's limit may be lower where the system sets one per app, and is the budget where "
      "one is given.");
}

void Rows::add_kv_cache() {
  const TransformerSpec* spec = scenario_.model.transformer();
  if (spec == nullptr) return;
  add(
      "KV cache per token", "2 L n_head_kv head_dim x bytes per element",
      [&] { return textbook_kv_per_token(*spec, scenario_.type_k, scenario_.type_v); },
      kv_bytes_per_token(scenario_.model, scenario_.type_k, scenario_.type_v),
      "The founding totals leave the KV cache out; per token the two differ only by the scales and "
      "padding of quantized cache types.");
}

}  // namespace

std::vector<TextbookRow> textbook_rows(const Scenario& scenario, const MemoryPlan& plan,
                                       const DeviceLimit& limit) {
  return Rows(scenario, plan, limit).make();
}

}  // namespace tidemark

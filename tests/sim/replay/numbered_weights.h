// The same numbers for the same part of two models that lay it out in different ways, and the
// logits of a run with them: they must be equal to the bit.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "sim/kernels/half.h"
#include "sim/kernels/rows.h"
#include "sim/replay/replay_input.h"
#include "tiny.h"

namespace tidemark::testing {

// Logits of all passes, one behind the other.
class LogitsOf : public RunObserver {
 public:
  explicit LogitsOf(std::vector<std::byte>& logits) : logits_(logits) {}
  bool on_logits(std::span<const std::byte> logits) override {
    logits_.insert(logits_.end(), logits.begin(), logits.end());
    return true;
  }

 private:
  std::vector<std::byte>& logits_;
};

struct Numbering {
  int64_t values = 1000;        // of each stored head; those behind them are zeros
  bool keys_as_values = false;  // V has the numbers of K
};

// A number for each element of each matrix, whatever else the model has: of its part ("q"), head,
// row and column. Of a fused product, q's rows are followed by those of k and v.
class NumberedWeights : public WeightSource {
 public:
  NumberedWeights(const Scenario& scenario, Numbering numbering)
      : numbering_(numbering), model_(scenario.model.transformer()) {}
  std::string describe() const override { return "numbered"; }
  void begin(const WeightTensor& tensor, WeightId /*id*/) override {
    tensor_ = &tensor;
    row_ = 0;
  }
  void next_row(std::span<std::byte> row) override {
    if (tensor_->dtype == DType::kF32) {
      for (size_t at = 0; at < row.size(); at += sizeof(float)) {
        const float gain = 1.0F;
        std::memcpy(&row[at], &gain, sizeof gain);
      }
      return;
    }
    for (size_t column = 0; column + 2 < row.size(); ++column) {
      row[column] = static_cast<std::byte>(value(static_cast<int64_t>(column)));
    }
    store_u16(row.last(2), 0, float_to_half(1.0F / 400));
    ++row_;
  }

 private:
  // The same for a row of a head, whatever the head's size.
  static int64_t by_head(int64_t index, int64_t head_dim) {
    return index / head_dim * 100 + index % head_dim;
  }

  int8_t value(int64_t column) const {
    const auto layer = static_cast<size_t>(std::max<int64_t>(tensor_->layer, 0));
    const AttentionSpec* spec = model_->layers.at(layer).attention();
    std::string part = tensor_->name;
    int64_t row = row_;
    if (tensor_->role == WeightRole::kQkv) part = part_of_fused(*spec, row);
    if (tensor_->role == WeightRole::kQuery) part = "q";
    if (tensor_->role == WeightRole::kKey) part = "k";
    if (tensor_->role == WeightRole::kValue) part = "v";
    if (part == "v" && row % spec->value_dim() >= numbering_.values) return 0;
    if (part == "k") row = by_head(row, spec->head_dim);
    if (part == "v") row = by_head(row, spec->value_dim());
    if (part == "v" && numbering_.keys_as_values) part = "k";
    if (tensor_->role == WeightRole::kAttentionOutput) column = by_head(column, spec->value_dim());
    const uint64_t name = std::hash<std::string>()(part);
    Generator generator = Generator::of(name, static_cast<uint64_t>(row * 10'000 + column));
    return static_cast<int8_t>(generator.below(255) - 127);
  }

  static std::string part_of_fused(const AttentionSpec& spec, int64_t& row) {
    const int64_t queries = spec.n_head * spec.head_dim * (spec.output_gate ? 2 : 1);
    const int64_t keys = spec.n_head_kv * spec.head_dim;
    if (row < queries) return "q";
    row -= queries;
    if (row < keys) return "k";
    row -= keys;
    return "v";
  }

  Numbering numbering_;
  const TransformerSpec* model_;
  const WeightTensor* tensor_ = nullptr;
  int64_t row_ = 0;
};

inline std::vector<std::byte> logits_of(const Scenario& scenario, Numbering numbering = {}) {
  const MemoryPlan plan = plan_of(scenario);
  EXPECT_EQ(to_string(unsupported(scenario, plan)), "");
  const Passes passes = passes_of(scenario, plan);
  const Itinerary itinerary = itinerary_of(plan, passes);
  const UnitLayout layout(plan);
  NumberedWeights source(scenario, numbering);
  const WeightFile weights(plan.weights, source, ::testing::TempDir(), nullptr);
  const ArenaLayout arena = planned_layout(plan);
  const TensorMemory memory(plan, arena, Fault::kOnTouch);
  const auto loader = make_unit_loader(
      scenario, plan, {.weights = weights, .layout = layout, .itinerary = itinerary});
  std::vector<std::byte> logits;
  LogitsOf observer(logits);
  const TransformerSpec& model = *scenario.model.transformer();
  const std::vector<int32_t> prompt = made_up_prompt(3, passes.prompt_tokens, model.n_vocab);
  run_model({.model = model,
             .plan = plan,
             .passes = passes,
             .layout = layout,
             .memory = memory,
             .loader = *loader,
             .observer = observer},
            prompt);
  return logits;
}

}  // namespace tidemark::testing

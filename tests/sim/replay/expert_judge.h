// The ops of experts in a run against plain loops in double, from the very bytes that they read:
// which experts, which of their matrices and biases, which token's row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/kernels/rows.h"
#include "sim/replay/expert_ops.h"
#include "tiny.h"

namespace tidemark::testing {

// What a run's routers chose: by layer, for each token of each pass its experts.
using Choices = std::map<int64_t, std::vector<std::vector<int32_t>>>;

class ExpertJudge : public RunObserver {
 public:
  ExpertJudge(const Bench& bench, std::set<ExpertOp>& judged, Choices& choices)
      : bench_(bench), judged_(judged), choices_(choices) {}

  bool on_pass(const PassMemory& memory) override {
    memory_.emplace(memory);
    const Graph& graph = memory.phase().graph;
    scales_ = activation_scales(graph, bench_.plan.weights, bench_.scenario.model.n_layer());
    kinds_ = expert_ops(graph, bench_.plan.weights);
    return true;
  }

  bool before_op(const Op& op) override {
    inputs_.clear();
    if (kinds_[op.id.index()] == ExpertOp::kNone) return true;
    for (const TensorId id : op.inputs) inputs_.push_back(values_of(id));
    return true;
  }

  bool after_op(const Op& op, StepIndex /*step*/, Duration /*wall*/) override {
    const ExpertOp kind = kinds_[op.id.index()];
    if (kind == ExpertOp::kNone) return true;
    judged_.insert(kind);
    if (kind == ExpertOp::kChoice) note_choice(op);
    const std::vector<double> wanted = expected(kind, op);
    const TensorId id = op.outputs.front();
    const std::vector<double> got = values_of(id);
    const double step = double{scales_[id.index()]};
    EXPECT_EQ(wanted.size(), got.size()) << op.name;
    for (size_t i = 0; i < std::min(wanted.size(), got.size()); ++i) {
      const double low = -128.0 * step + zero_of(id);
      EXPECT_NEAR(got[i], std::clamp(wanted[i], low, low + 255.0 * step), 1.01 * step)
          << op.name << " [" << i << "]";
    }
    return !::testing::Test::HasFailure();
  }

 private:
  using Values = std::vector<double>;

  const Tensor& tensor(TensorId id) const { return memory_->phase().graph.tensor(id); }
  size_t width(TensorId id) const { return static_cast<size_t>(tensor(id).shape[0]); }

  // Shares are stored less 128 steps.
  double zero_of(TensorId id) const {
    const Graph& graph = memory_->phase().graph;
    const auto producer = graph.producer(id);
    if (!producer) return 0.0;
    const OpKind kind = graph.op(*producer).kind;
    const bool is_share =
        kind == OpKind::kSoftmax || kind == OpKind::kSigmoid || kind == OpKind::kTopK;
    return is_share ? 128.0 * double{scales_[id.index()]} : 0.0;
  }

  std::vector<int32_t> integers(TensorId id) const {
    std::vector<int32_t> values(memory_->used(id).size() / sizeof(int32_t));
    std::memcpy(values.data(), memory_->used(id).data(), values.size() * sizeof(int32_t));
    return values;
  }

  Values values_of(TensorId id) const {
    Values values;
    if (tensor(id).dtype == DType::kI32) {
      for (const int32_t value : integers(id)) values.push_back(value);
      return values;
    }
    for (const std::byte byte : memory_->used(id)) {
      values.push_back(static_cast<int8_t>(byte) * double{scales_[id.index()]} + zero_of(id));
    }
    return values;
  }

  // Row `row` of all rows of a weight, expert after expert.
  Values weight_row(WeightId id, size_t row) const {
    const WeightTensor& stored = bench_.plan.weights.tensors.at(id.index());
    const WeightPlace& place = bench_.layout.place(id);
    const auto columns = static_cast<size_t>(stored.columns);
    const bool is_float = stored.dtype == DType::kF32;
    std::vector<std::byte> bytes(is_float ? columns * 4 : columns + 2);
    const auto offset = static_cast<int64_t>(place.offset + row * bytes.size());
    bench_.weights.file().read(bench_.layout.extent(place.unit).lower.count() + offset, bytes);
    Values values;
    for (size_t i = 0; i < columns; ++i) {
      values.push_back(is_float ? double{load_f32(bytes, i)}
                                : stored_values(bytes)[i] * double{stored_scale(bytes)});
    }
    return values;
  }

  static double dot(const Values& row, const Values& x, size_t from) {
    return std::inner_product(row.begin(), row.end(), x.begin() + static_cast<ptrdiff_t>(from),
                              0.0);
  }

  void note_choice(const Op& op) {
    const std::vector<int32_t> chosen = integers(op.outputs.at(1));
    const size_t used = width(op.outputs.front());
    for (size_t at = 0; at < chosen.size(); at += used) {
      const auto first = chosen.begin() + static_cast<ptrdiff_t>(at);
      choices_[op.layer].emplace_back(first, first + static_cast<ptrdiff_t>(used));
    }
  }

  Values expected(ExpertOp kind, const Op& op) const {
    switch (kind) {
      case ExpertOp::kNone:
        break;
      case ExpertOp::kFloatProduct:
        return multiplied(op, [](size_t) { return 0; });
      case ExpertOp::kProbabilities:
        return probabilities(op);
      case ExpertOp::kChoice:
        return shares(op);
      case ExpertOp::kProduct:
        return multiplied(op, [&](size_t row) { return static_cast<size_t>(inputs_[1][row]); });
      case ExpertOp::kBias:
        return shifted(op);
      case ExpertOp::kWeigh:
        return weighed();
      case ExpertOp::kSum:
        return summed(op);
    }
    return {};
  }

  // Each row of the output by the matrix that `matrix_of` says; a row of x may have several.
  Values multiplied(const Op& op, const std::function<size_t(size_t)>& matrix_of) const {
    const size_t rows = width(op.outputs.front());
    const size_t columns = width(op.inputs.front());
    const size_t made = memory_->used(op.outputs.front()).size() / rows;
    const size_t of_one = made / (inputs_.front().size() / columns);
    Values values;
    for (size_t r = 0; r < made; ++r) {
      for (size_t m = 0; m < rows; ++m) {
        const Values row = weight_row(op.weights.front(), matrix_of(r) * rows + m);
        values.push_back(dot(row, inputs_.front(), r / of_one * columns));
      }
    }
    return values;
  }

  Values probabilities(const Op& op) const {
    Values values = inputs_.front();
    const size_t experts = width(op.inputs.front());
    for (size_t at = 0; at < values.size(); at += experts) {
      double sum = 0.0;
      for (size_t i = 0; i < experts; ++i) sum += values[at + i] = std::exp(values[at + i]);
      for (size_t i = 0; i < experts; ++i) values[at + i] /= sum;
    }
    return values;
  }

  // Also that the chosen are the largest, and in order.
  Values shares(const Op& op) const {
    const std::vector<int32_t> chosen = integers(op.outputs.at(1));
    const size_t experts = width(op.inputs.front());
    const size_t used = width(op.outputs.front());
    const Values bias = op.weights.empty() ? Values(experts) : weight_row(op.weights.front(), 0);
    Values values;
    for (size_t t = 0; t < chosen.size() / used; ++t) {
      const auto p = [&](int64_t e) { return inputs_.front()[t * experts + size_t(e)]; };
      std::vector<int64_t> order(experts);
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, std::greater(),
                               [&](int64_t e) { return p(e) + bias[size_t(e)]; });
      double sum = 0.0;
      for (size_t u = 0; u < used; ++u) sum += p(order[u]);
      for (size_t u = 0; u < used; ++u) {
        EXPECT_EQ(chosen[t * used + u], order[u]) << op.name << " of token " << t;
        // Their scale makes up for how many they are (value_ranges.cpp).
        values.push_back(p(order[u]) / sum * std::sqrt(static_cast<double>(used)));
      }
    }
    return values;
  }

  Values shifted(const Op& op) const {
    Values values = inputs_.front();
    const size_t columns = width(op.outputs.front());
    for (size_t row = 0; row < values.size() / columns; ++row) {
      const Values bias = weight_row(op.weights.front(), static_cast<size_t>(inputs_[1][row]));
      for (size_t i = 0; i < columns; ++i) values[row * columns + i] += bias[i];
    }
    return values;
  }

  Values weighed() const {
    Values values = inputs_.front();
    const size_t columns = values.size() / inputs_[1].size();
    for (size_t i = 0; i < values.size(); ++i) values[i] *= inputs_[1][i / columns];
    return values;
  }

  Values summed(const Op& op) const {
    const size_t columns = width(op.outputs.front());
    const auto used = static_cast<size_t>(tensor(op.inputs.front()).shape[1]);
    Values values(inputs_.front().size() / used);
    for (size_t i = 0; i < inputs_.front().size(); ++i) {
      values[i / columns / used * columns + i % columns] += inputs_.front()[i];
    }
    return values;
  }

  const Bench& bench_;
  std::set<ExpertOp>& judged_;
  Choices& choices_;
  std::optional<PassMemory> memory_{};
  std::vector<float> scales_{};
  std::vector<ExpertOp> kinds_{};
  std::vector<Values> inputs_{};
};

}  // namespace tidemark::testing

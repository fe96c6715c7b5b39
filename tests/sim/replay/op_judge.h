// Every op of a run against plain loops in double, from the very bytes that it read: which part of
// a tensor a view is, which weights and which scales an op takes. Products of experts, attention
// and the KV cache have judges of their own.
#pragma once

#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/kernels/rows.h"
#include "tiny.h"

namespace tidemark::testing {

class OpJudge : public RunObserver {
 public:
  // `judged` gets the kinds that were looked at.
  OpJudge(const Bench& bench, std::set<OpKind>& judged) : bench_(bench), judged_(judged) {}

  bool on_pass(const PassMemory& memory) override {
    memory_.emplace(memory);
    scales_ = activation_scales(memory.phase().graph, bench_.plan.weights,
                                bench_.scenario.model.n_layer());
    return true;
  }

  bool before_op(const Op& op) override {
    inputs_.clear();
    for (const TensorId id : op.inputs) inputs_.push_back(values_of(id));
    return true;
  }

  bool after_op(const Op& op, StepIndex /*step*/, Duration /*wall*/) override {
    const std::vector<double> wanted = expected(op);
    if (wanted.empty()) return true;
    judged_.insert(op.kind);
    const TensorId id = op.outputs.front();
    const std::vector<double> got = values_of(id);
    const double step = tensor(id).dtype == DType::kInt8 ? double{scales_[id.index()]} : 1e-3;
    const double most = 127.0 * step + zero_of(id);
    EXPECT_EQ(wanted.size(), got.size()) << op.name;
    for (size_t i = 0; i < std::min(wanted.size(), got.size()); ++i) {
      const double clamped = tensor(id).dtype == DType::kInt8
                                 ? std::clamp(wanted[i], -128.0 * step + zero_of(id), most)
                                 : wanted[i];
      EXPECT_NEAR(got[i], clamped, 1.01 * step) << op.name << " [" << i << "]";
    }
    return !::testing::Test::HasFailure();
  }

 private:
  const Tensor& tensor(TensorId id) const { return memory_->phase().graph.tensor(id); }

  const LayerSpec& layer(const Op& op) const {
    return bench_.scenario.model.transformer()->layers.at(static_cast<size_t>(op.layer));
  }
  size_t tensor_size(TensorId id) const { return memory_->used(id).size(); }

  // Shares of 0 to 1 are stored less 128/256.
  double zero_of(TensorId id) const {
    const auto producer = memory_->phase().graph.producer(id);
    const bool is_share = producer && memory_->phase().graph.op(*producer).kind == OpKind::kSigmoid;
    return is_share ? 0.5 : 0.0;
  }

  std::vector<double> values_of(TensorId id) const {
    const std::span<const std::byte> bytes = memory_->used(id);
    std::vector<double> values;
    if (tensor(id).dtype == DType::kI32) {
      for (size_t i = 0; i < bytes.size() / 4; ++i) {
        int32_t value = 0;
        std::memcpy(&value, &bytes[4 * i], sizeof value);
        values.push_back(value);
      }
    } else if (tensor(id).dtype == DType::kF32) {
      for (size_t i = 0; i < bytes.size() / 4; ++i) values.push_back(load_f32(bytes, i));
    } else if (tensor(id).kind != TensorKind::kState) {
      for (const std::byte byte : bytes) {
        values.push_back(static_cast<int8_t>(byte) * double{scales_[id.index()]} + zero_of(id));
      }
    }
    return values;
  }

  // All values of a weight, row after row.
  std::vector<double> weight(WeightId id) const {
    const WeightTensor& stored = bench_.plan.weights.tensors.at(id.index());
    const WeightPlace& place = bench_.layout.place(id);
    std::vector<std::byte> bytes(place.bytes);
    const auto offset = static_cast<int64_t>(place.offset);
    bench_.weights.file().read(bench_.layout.extent(place.unit).lower.count() + offset, bytes);
    std::vector<double> values;
    if (stored.dtype == DType::kF32) {
      for (size_t i = 0; i < bytes.size() / 4; ++i) values.push_back(load_f32(bytes, i));
      return values;
    }
    const int64_t row_bytes = stored_row_bytes(stored.columns);
    for (int64_t row = 0; row < std::ssize(bytes) / row_bytes; ++row) {
      const auto stored_row = row_of(std::span<const std::byte>(bytes), row, row_bytes);
      for (const int8_t value : stored_values(stored_row)) {
        values.push_back(value * double{stored_scale(stored_row)});
      }
    }
    return values;
  }

  // The rows that an op reads of its first input: [q, k, v] side by side, or [q, gate].
  std::vector<double> rows_read(const Op& op) const {
    const auto read = static_cast<size_t>(tensor(op.outputs.front()).shape[0]);
    const auto whole = static_cast<size_t>(tensor(op.inputs.front()).shape[0]);
    if (read == whole || op.kind == OpKind::kGlu) return inputs_.front();
    const AttentionSpec& spec = *layer(op).attention();
    size_t first = 0;
    if (op.name.find(".k_") != std::string::npos) {
      first = static_cast<size_t>(spec.n_head * spec.head_dim);
    } else if (op.name.find("gate") != std::string::npos) {
      first = whole / 2;
    }
    std::vector<double> values;
    for (size_t row = 0; row < inputs_.front().size() / whole; ++row) {
      for (size_t i = 0; i < read; ++i) values.push_back(inputs_.front()[row * whole + first + i]);
    }
    return values;
  }

  // Empty = not judged here.
  std::vector<double> expected(const Op& op) const {
    switch (op.kind) {
      case OpKind::kEmbed:
        return embedded(op);
      case OpKind::kMatMul:
        return multiplied(op);
      case OpKind::kRmsNorm:
      case OpKind::kLayerNorm:
        return normed(op);
      case OpKind::kRope:
        return turned(op);
      case OpKind::kAddBias:
        return op.inputs.size() == 1 ? shifted_by_bias(op) : std::vector<double>{};
      case OpKind::kAdd:
      case OpKind::kMul:
        return combined(op);
      case OpKind::kGlu:
        return gated(op);
      case OpKind::kSilu:
      case OpKind::kActivation:
      case OpKind::kSigmoid:
      case OpKind::kMix:
        return looked_up(op);
      default:
        return {};
    }
  }

  std::vector<double> embedded(const Op& op) const {
    const std::vector<double> table = weight(op.weights.front());
    const auto width = static_cast<size_t>(tensor(op.outputs.front()).shape[0]);
    std::vector<double> made;
    for (const double id : inputs_.front()) {
      for (size_t i = 0; i < width; ++i) made.push_back(table[static_cast<size_t>(id) * width + i]);
    }
    return made;
  }

  std::vector<double> multiplied(const Op& op) const {
    const std::vector<double> matrix = weight(op.weights.front());
    const std::vector<double> bias =
        op.weights.size() > 1 ? weight(op.weights[1]) : std::vector<double>{};
    const auto columns =
        static_cast<size_t>(bench_.plan.weights.tensors.at(op.weights.front().index()).columns);
    const size_t rows = matrix.size() / columns;
    std::vector<double> made;
    for (size_t t = 0; t < inputs_.front().size() / columns; ++t) {
      for (size_t n = 0; n < rows; ++n) {
        double sum = bias.empty() ? 0.0 : bias[n];
        for (size_t k = 0; k < columns; ++k) {
          sum += inputs_.front()[t * columns + k] * matrix[n * columns + k];
        }
        made.push_back(sum);
      }
    }
    return made;
  }

  std::vector<double> normed(const Op& op) const {
    std::vector<double> made = rows_read(op);
    const std::vector<double> gain =
        op.weights.empty()
            ? std::vector<double>(static_cast<size_t>(tensor(op.outputs.front()).shape[0]), 1.0)
            : weight(op.weights.front());
    const std::vector<double> shift =
        op.weights.size() > 1 ? weight(op.weights[1]) : std::vector<double>(gain.size());
    for (size_t row = 0; row < made.size(); row += gain.size()) {
      double mean = 0.0;
      for (size_t i = 0; i < gain.size(); ++i) mean += made[row + i];
      mean = op.kind == OpKind::kLayerNorm ? mean / static_cast<double>(gain.size()) : 0.0;
      double squares = 0.0;
      for (size_t i = 0; i < gain.size(); ++i) squares += std::pow(made[row + i] - mean, 2);
      const double root = std::sqrt(squares / static_cast<double>(gain.size()) + 1e-5);
      for (size_t i = 0; i < gain.size(); ++i) {
        made[row + i] = (made[row + i] - mean) / root * gain[i] + shift[i];
      }
    }
    return made;
  }

  std::vector<double> turned(const Op& op) const {
    const std::vector<double> x = rows_read(op);
    std::vector<double> made(x.size());
    const auto width = static_cast<size_t>(tensor(op.outputs.front()).shape[0]);
    const auto dim = static_cast<size_t>(bench_.scenario.model.transformer()
                                             ->layers.at(static_cast<size_t>(op.layer))
                                             .attention()
                                             ->head_dim);
    for (size_t at = 0; at < x.size(); at += dim) {
      for (size_t i = 0; i < dim / 2; ++i) {
        const double power = 2.0 * static_cast<double>(i) / static_cast<double>(dim);
        const double angle = inputs_.at(1)[at / width] * std::pow(10'000.0, -power);
        const double a = x[at + i];
        const double b = x[at + i + dim / 2];
        made[at + i] = a * std::cos(angle) - b * std::sin(angle);
        made[at + i + dim / 2] = b * std::cos(angle) + a * std::sin(angle);
      }
    }
    return made;
  }

  std::vector<double> shifted_by_bias(const Op& op) const {
    std::vector<double> made = inputs_.front();
    const std::vector<double> bias = weight(op.weights.front());
    const auto width = static_cast<size_t>(tensor(op.outputs.front()).shape[0]);
    for (size_t i = 0; i < made.size(); ++i) made[i] += bias[i % width];
    return made;
  }

  // b, c and x side by side: b times x, or another times c.
  std::vector<double> multiplied_parts(const Op& op) const {
    const auto width = static_cast<size_t>(tensor(op.outputs.front()).shape[0]);
    const std::vector<double>& parts = inputs_.back();
    std::vector<double> made;
    for (size_t row = 0; row < parts.size() / (3 * width); ++row) {
      for (size_t i = 0; i < width; ++i) {
        const double* first = &parts[3 * width * row + i];
        made.push_back(inputs_.size() == 1 ? first[0] * first[2 * width]
                                           : inputs_.front()[width * row + i] * first[width]);
      }
    }
    return made;
  }

  std::vector<double> combined(const Op& op) const {
    if (op.kind == OpKind::kMul && std::get_if<ShortConvSpec>(&layer(op).mixer) != nullptr &&
        inputs_.back().size() > tensor_size(op.outputs.front())) {
      return multiplied_parts(op);
    }
    if (inputs_.size() != 2 || inputs_[0].size() != inputs_[1].size()) return {};
    std::vector<double> made = inputs_[0];
    for (size_t i = 0; i < made.size(); ++i) {
      made[i] = op.kind == OpKind::kAdd ? made[i] + inputs_[1][i] : made[i] * inputs_[1][i];
    }
    return made;
  }

  static double silu(double x) { return x / (1.0 + std::exp(-x)); }

  // The gated half is stored before it is multiplied.
  std::vector<double> gated(const Op& op) const {
    const auto width = static_cast<size_t>(tensor(op.outputs.front()).shape[0]);
    const double step = double{scales_[op.outputs.front().index()]};
    std::vector<double> made;
    for (size_t row = 0; row < inputs_.front().size(); row += 2 * width) {
      for (size_t i = 0; i < width; ++i) {
        const double gate = silu(inputs_.front()[row + i]);
        const double stored = std::clamp(std::round(gate / step), -128.0, 127.0) * step;
        made.push_back(stored * inputs_.front()[row + width + i]);
      }
    }
    return made;
  }

  std::vector<double> looked_up(const Op& op) const {
    std::vector<double> made = rows_read(op);
    for (double& x : made) {
      if (op.kind == OpKind::kSilu) x = silu(x);
      if (op.kind == OpKind::kSigmoid) x = 1.0 / (1.0 + std::exp(-x));
      if (op.kind == OpKind::kActivation) {
        x *= (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x))) / 2.0;
      }
    }
    return made;
  }

  const Bench& bench_;
  std::set<OpKind>& judged_;
  std::optional<PassMemory> memory_{};
  std::vector<float> scales_{};
  std::vector<std::vector<double>> inputs_{};
};

}  // namespace tidemark::testing

#include "sim/replay/value_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tidemark {
namespace {

constexpr double kSizeOfInt8 = 73.3;    // of values uniform in [-127, 127]: 127 / sqrt(3)
constexpr double kSizeOfGatedUp = 0.6;  // of silu(gate) x up, both of size 1
constexpr float kFive = 5.0F / 127.0F;  // a size of 1 with room for five of it
constexpr float kResidual = 8.0F / 127.0F;
constexpr float kAttended =
    3.0F / 127.0F;  // an average over cells is smaller than what it averages
constexpr uint64_t kPromptStream = UINT64_MAX;

bool is_branch_end(WeightRole role) {
  return role == WeightRole::kAttentionOutput || role == WeightRole::kDown;
}

float product_scale(const WeightTensor& weight, int64_t layers) {
  return is_branch_end(weight.role) ? static_cast<float>(branch_size(layers)) * kFive : kFive;
}

uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

}  // namespace

double branch_size(int64_t layers) {
  return std::max(1.0 / std::sqrt(2.0 * static_cast<double>(layers)), 0.05);
}

float weight_scale(const WeightTensor& tensor, int64_t layers) {
  double size = 1.0;
  if (tensor.role != WeightRole::kTokenEmbedding) {
    double gain = is_branch_end(tensor.role) ? branch_size(layers) : 1.0;
    if (tensor.role == WeightRole::kDown) gain /= kSizeOfGatedUp;
    size = gain / std::sqrt(static_cast<double>(tensor.columns));
  }
  return static_cast<float>(size / kSizeOfInt8);
}

std::vector<float> activation_scales(const Graph& graph, const WeightsInventory& weights,
                                     int64_t layers) {
  std::vector<float> scales(graph.tensors().size(), 1.0F);
  for (const Op& op : graph.ops()) {
    float scale = kFive;
    switch (op.kind) {
      case OpKind::kEmbed:
      case OpKind::kAdd:
        scale = kResidual;
        break;
      case OpKind::kMatMul:
        scale = product_scale(weights.tensors.at(op.weights.front().index()), layers);
        break;
      case OpKind::kRope:
      case OpKind::kSelectRows:
        scale = scales[op.inputs.front().index()];  // they only move values
        break;
      case OpKind::kFlashAttention:
      case OpKind::kContext:
        scale = kAttended;
        break;
      case OpKind::kSoftmax:
        scale = 0x1p-8F;  // fixed
        break;
      default:
        break;
    }
    for (const TensorId output : op.outputs) {
      if (graph.tensor(output).kind == TensorKind::kActivation) scales[output.index()] = scale;
    }
  }
  return scales;
}

// splitmix64: a counter, well mixed.
Generator Generator::of(uint64_t seed, uint64_t stream) {
  return Generator(mixed(mixed(seed + 0x9E3779B97F4A7C15U) ^ (stream * 0xD1342543DE82EF95U)));
}

uint64_t Generator::next() {
  state_ += 0x9E3779B97F4A7C15U;
  return mixed(state_);
}

int64_t Generator::below(int64_t bound) {
  return static_cast<int64_t>((next() >> 1) % static_cast<uint64_t>(bound));
}

float Generator::between(float least, float most) {
  return least + (most - least) * (static_cast<float>(next() >> 40) * 0x1p-24F);
}

void Generator::fill(std::span<std::byte> bytes) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = next();
    const size_t count = std::min(sizeof word, bytes.size() - at);
    std::memcpy(&bytes[at], &word, count);
  }
  for (std::byte& byte : bytes) {
    if (byte == std::byte{0x80}) byte = std::byte{0x81};  // -128 would lean to one side
  }
}

std::vector<int32_t> made_up_prompt(uint64_t seed, int64_t tokens, int64_t n_vocab) {
  Generator generator = Generator::of(seed, kPromptStream);
  std::vector<int32_t> prompt;
  for (int64_t i = 0; i < tokens; ++i)
    prompt.push_back(static_cast<int32_t>(generator.below(n_vocab)));
  return prompt;
}

}  // namespace tidemark

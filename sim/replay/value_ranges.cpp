#include "sim/replay/value_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/replay/expert_ops.h"

namespace tidemark {
namespace {

constexpr double kSizeOfInt8 = 73.3;    // of values uniform in [-127, 127]: 127 / sqrt(3)
constexpr double kSizeOfGatedUp = 0.6;  // of silu(gate) x up, both of size 1
constexpr float kFive = 5.0F / 127.0F;  // a size of 1 with room for five of it
constexpr float kResidual = 8.0F / 127.0F;
constexpr float kAttended =
    3.0F / 127.0F;  // an average over cells is smaller than what it averages
constexpr uint64_t kPromptStream = UINT64_MAX;

bool is_down(WeightRole role) {
  return role == WeightRole::kDown || role == WeightRole::kExpertDown ||
         role == WeightRole::kSharedDown;
}

bool is_branch_end(WeightRole role) {
  return role == WeightRole::kAttentionOutput || role == WeightRole::kStateOut || is_down(role);
}

// The norm of what a branch adds.
bool is_branch_norm(WeightRole role) {
  return role == WeightRole::kAttentionPostNorm || role == WeightRole::kFeedForwardPostNorm;
}

float scale_behind(const WeightTensor& weight, int64_t layers) {
  const bool is_small = is_branch_end(weight.role) || is_branch_norm(weight.role);
  return is_small ? static_cast<float>(branch_size(layers)) * kFive : kFive;
}

// Of the residual stream, or of two branches that are added before they join it.
float sum_scale(float a, float b) {
  const float larger = std::max(a, b);
  return larger < kFive ? larger * std::sqrt(2.0F) : kResidual;
}

// U experts of about 1/U each add up to a size of 1/sqrt(U); their weights make up for it, as those
// of models with a scaling factor do.
float share_scale(int64_t used) { return std::sqrt(static_cast<float>(used)) * 0x1p-8F; }

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
    if (is_down(tensor.role)) gain /= kSizeOfGatedUp;
    size = gain / std::sqrt(static_cast<double>(tensor.columns));
  }
  return static_cast<float>(size / kSizeOfInt8);
}

FloatRange float_range(const WeightTensor& tensor, int64_t layers) {
  if (tensor.role == WeightRole::kBalanceBias) {  // about half of what experts have on average
    const float most = 0.5F / static_cast<float>(tensor.columns);
    return {-most, most};
  }
  if (tensor.is_bias) return {-0.1F, 0.1F};
  if (tensor.role == WeightRole::kRouter || tensor.role == WeightRole::kSharedRouter ||
      tensor.role == WeightRole::kStateConv) {
    const float most = std::sqrt(3.0F / static_cast<float>(tensor.columns));
    return {-most, most};
  }
  if (tensor.role == WeightRole::kPositionEmbedding || tensor.role == WeightRole::kTokenTypes) {
    return {-0.5F, 0.5F};
  }
  const float size = is_branch_norm(tensor.role) ? static_cast<float>(branch_size(layers)) : 1.0F;
  return {0.75F * size, 1.25F * size};
}

std::vector<float> activation_scales(const Graph& graph, const WeightsInventory& weights,
                                     int64_t layers) {
  std::vector<float> scales(graph.tensors().size(), 1.0F);
  for (const Op& op : graph.ops()) {
    float scale = kFive;
    switch (op.kind) {
      case OpKind::kEmbed:
        scale = kResidual;
        break;
      case OpKind::kAdd:
        scale = sum_scale(scales[op.inputs.front().index()], scales[op.inputs.back().index()]);
        break;
      case OpKind::kMatMul:
      case OpKind::kExpertMatMul:
      case OpKind::kRmsNorm:
      case OpKind::kLayerNorm:
        if (op.weights.empty()) break;
        scale = scale_behind(weights.tensors.at(op.weights.front().index()), layers);
        break;
      case OpKind::kRope:
      case OpKind::kSelectRows:
      case OpKind::kMix:
      case OpKind::kExtra:
        scale = scales[op.inputs.front().index()];  // they only move values
        break;
      case OpKind::kAddBias:
        scale = scales[op.inputs.front().index()];  // biases are small
        break;
      case OpKind::kMul:
        if (weighs_rows(graph, op)) scale = scales[op.inputs.front().index()];
        break;
      case OpKind::kTopK:
        scale = share_scale(graph.tensor(op.outputs.front()).shape[0]);
        break;
      case OpKind::kSumRows:
        scale = scales[op.inputs.front().index()];
        break;
      case OpKind::kFlashAttention:
      case OpKind::kContext:
        scale = kAttended;
        break;
      case OpKind::kSoftmax:
      case OpKind::kSigmoid:
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

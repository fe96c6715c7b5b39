// Made-up weights and static activation scales that keep a made-up model alive: no tensor dies to
// zeros, none saturates, whatever the width and the depth.
//
//   weights        uniform, standard deviation gain / sqrt(columns), so a product of values of size
//   1 has size gain gain 1         query, key, value, gate, up, head gain 1/sqrt(2 x layers), at
//   least 0.05
//                  attention output, and (over 0.6, the size of silu(gate) x up) down: what 2 x
//                  layers residual sums add to the embedding is as large as the embedding itself
//   routers        f32, gain 1, so that a token's experts differ from another's; of a choice's bias
//                  about half of what an expert has on average
//   experts' sum   U experts of 1/U each would add up to 1/sqrt(U); weights count sqrt(U)/256, as
//                  those of models with a scaling factor do
//   embedding      standard deviation 1 an element, whether or not it is the head as well
//   norm gains     around 1
//   scales         a value of about five standard deviations is 127; the residual stream has room
//   for eight
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/graph/graph.h"
#include "planner/model/weights.h"

namespace tidemark {

// Of the residual branches; layers >= 1.
double branch_size(int64_t layers);

// What a stored row's int8 counts, so that values uniform in [-127, 127] have the wished size.
float weight_scale(const WeightTensor& tensor, int64_t layers);

// Of what an int8 model keeps in f32: gains around 1 (around the size of a branch behind one),
// biases and tables of positions around 0.
struct FloatRange {
  float least = 0.0F;
  float most = 0.0F;
};
FloatRange float_range(const WeightTensor& tensor, int64_t layers);

// By TensorId; 1 for what is no int8 activation.
std::vector<float> activation_scales(const Graph& graph, const WeightsInventory& weights,
                                     int64_t layers);

// The same numbers for the same seed, on every machine.
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}
  // A stream of its own for each `stream` of one seed.
  static Generator of(uint64_t seed, uint64_t stream);
  uint64_t next();
  int64_t below(int64_t bound);
  float between(float least, float most);
  // Uniform in [-127, 127] but for one value that is twice as likely.
  void fill(std::span<std::byte> bytes);

 private:
  uint64_t state_ = 0;
};

std::vector<int32_t> made_up_prompt(uint64_t seed, int64_t tokens, int64_t n_vocab);

}  // namespace tidemark

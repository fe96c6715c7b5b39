#include "sim/kernels/experts/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "planner/base/check.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

struct Candidate {
  double value = 0.0;
  size_t expert = 0;

  bool precedes(const Candidate& other) const {
    return value > other.value || (value == other.value && expert < other.expert);
  }
};

Candidate candidate(std::span<const int8_t> probabilities, std::span<const std::byte> bias,
                    size_t expert) {
  double value = (probabilities[expert] + 128) / 256.0;
  if (!bias.empty()) value += double{load_f32(bias, expert)};
  return {std::isnan(value) ? -std::numeric_limits<double>::infinity() : value, expert};
}

// The first of those behind `last`.
Candidate next(std::span<const int8_t> probabilities, std::span<const std::byte> bias,
               const std::optional<Candidate>& last) {
  std::optional<Candidate> best;
  for (size_t expert = 0; expert < probabilities.size(); ++expert) {
    const Candidate one = candidate(probabilities, bias, expert);
    if (last && !last->precedes(one)) continue;
    if (!best || one.precedes(*best)) best = one;
  }
  check(best.has_value(), "no more experts are used than there are");
  return *best;
}

// `weights` holds the probabilities of the chosen.
void share(std::span<int8_t> weights) {
  int64_t sum = 0;
  for (const int8_t weight : weights) sum += weight + 128;
  const int64_t all = sum == 0 ? std::ssize(weights) : sum;
  for (int8_t& weight : weights) {
    const int64_t part = sum == 0 ? 1 : weight + 128;
    const int64_t steps = (512 * part + all) / (2 * all);
    weight = static_cast<int8_t>(std::min<int64_t>(steps, 255) - 128);
  }
}

}  // namespace

void top_k(TopKShape shape, std::span<const int8_t> probabilities, std::span<const std::byte> bias,
           std::span<int8_t> weights, std::span<int32_t> chosen) {
  check(shape.used >= 1 && shape.used <= shape.experts, "some experts are used, at most all");
  check(std::ssize(probabilities) % shape.experts == 0, "probabilities are [T, N]");
  const int64_t tokens = std::ssize(probabilities) / shape.experts;
  check_shape(weights.size(), {tokens, shape.used}, "weights are [T, U]");
  check_shape(chosen.size(), {tokens, shape.used}, "the chosen are [T, U]");
  if (!bias.empty()) check_shape(bias.size(), {shape.experts, 4}, "the bias is N floats");
  for (int64_t t = 0; t < tokens; ++t) {
    const auto row = row_of(probabilities, t, shape.experts);
    const auto of_token = row_of(weights, t, shape.used);
    std::optional<Candidate> last;
    for (size_t u = 0; u < of_token.size(); ++u) {
      last = next(row, bias, last);
      row_of(chosen, t, shape.used)[u] = static_cast<int32_t>(last->expert);
      of_token[u] = row[last->expert];
    }
    share(of_token);
  }
}

}  // namespace tidemark

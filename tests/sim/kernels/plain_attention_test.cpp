#include "sim/kernels/attention/plain_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "attention_inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

using testing::AttentionCase;
using ::testing::Each;
using ::testing::ElementsAre;

AttentionCase any_case(testing::Inputs& inputs) {
  const KvType type = inputs.between(0, 1) == 0 ? KvType::kInt8 : KvType::kF16;
  return testing::random_attention(inputs, type);
}

size_t score_count(const AttentionCase& c) {
  return static_cast<size_t>(c.cells_per_sequence * c.tokens() * c.n_head);
}

TEST(PlainAttentionTest, TwoEqualCells) {
  // D = 1, q = 0: both scores 0. v = {10, 30} at 1.
  AttentionCase c;
  c.shape = {KvType::kInt8, 1, 1};
  c.positions = {1};
  c.first_cells = {0};
  c.keys = {std::byte{5}, std::byte{0}, std::byte{0x3C},
            std::byte{9}, std::byte{0}, std::byte{0x3C}};
  c.values = {std::byte{10}, std::byte{0}, std::byte{0x3C},
              std::byte{30}, std::byte{0}, std::byte{0x3C}};
  c.q = {0};
  std::vector<int8_t> scores(3, 99);
  attention_scores(c.input(), {.cells = 3}, c.q, {}, scores);
  EXPECT_THAT(scores, ElementsAre(0, 0, -128));  // the third cell is masked
  softmax_s8({.cells = 3}, {.positions = c.positions}, scores, 1.0F, scores);
  EXPECT_THAT(scores, ElementsAre(0, 0, -128));  // 128/256 twice, 0
  std::vector<int8_t> context(1);
  attention_context(c.input(), {.cells = 3}, scores, 1.0F, context);
  EXPECT_THAT(context, ElementsAre(20));
}

TEST(SoftmaxTest, ByHand) {
  // Scale ln 2: weights 1, 1/2, 1/4, 1/4, so 128, 64, 32, 32 of 256.
  std::vector<int8_t> scores{3, 2, 1, 1, 100};
  const std::vector<int32_t> positions{3};
  softmax_s8({.cells = 5}, {.positions = positions}, scores, 0.693147181F, scores);
  EXPECT_THAT(scores, ElementsAre(0, -64, -96, -96, -128));
}

TEST(SoftmaxTest, ACertainCellIs255Of256) {
  std::vector<int8_t> scores{-128, 127};
  softmax_s8({.cells = 2}, {.positions = std::vector<int32_t>{1}}, scores, 1.0F, scores);
  EXPECT_THAT(scores, ElementsAre(-128, 127));
}

TEST(SoftmaxTest, MoreThan512EqualCellsVanish) {
  std::vector<int8_t> scores(513, 0);
  softmax_s8({.cells = 513}, {.positions = std::vector<int32_t>{512}}, scores, 1.0F, scores);
  EXPECT_THAT(scores, Each(-128));
  std::vector<int8_t> fewer(512, 0);
  softmax_s8({.cells = 512}, {.positions = std::vector<int32_t>{511}}, fewer, 1.0F, fewer);
  EXPECT_THAT(fewer, Each(-127));  // 1/512 is half a step: away from zero
}

TEST(SoftmaxTest, LawSumsToOneWithinItsRoundingAndEqualsTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t cells = inputs.between(1, 100);
    auto scores = inputs.values(cells);
    const std::vector<int32_t> positions{static_cast<int32_t>(cells - 1)};
    const float scale = inputs.scale();
    std::vector<int8_t> out(scores.size());
    softmax_s8({cells}, {.positions = positions}, scores, scale, out);
    std::vector<double> real(scores.begin(), scores.end());
    for (double& score : real) score *= double{scale};
    real = testing::softmax_by_definition(real);
    double sum = 0.0;
    for (size_t i = 0; i < out.size(); ++i) {
      sum += out[i] + 128;
      RC_ASSERT(std::abs(out[i] - std::fmin(127.0, real[i] * 256 - 128)) <= 0.5001);
    }
    RC_ASSERT(std::abs(sum - 256) <= 1.0 + 0.5 * static_cast<double>(cells));
    softmax_s8({cells}, {.positions = positions}, scores, scale, scores);
    RC_ASSERT(scores == out);
  }));
}

TEST(PlainAttentionTest, LawScoresEqualTheDefinitionAndLaterCellsAreMasked) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const AttentionCase c = any_case(inputs);
    const Scales scales{.in = inputs.scale() / 4, .out = 0.25F};
    std::vector<int8_t> scores(score_count(c));
    attention_scores(c.input(), {c.cells_per_sequence}, c.q, scales, scores);
    size_t i = 0;
    for (int64_t h = 0; h < c.n_head; ++h) {
      for (int64_t t = 0; t < c.tokens(); ++t) {
        const auto real = testing::scores_by_definition(c, t, h, scales.in);
        for (size_t cell = 0; cell < static_cast<size_t>(c.cells_per_sequence); ++cell, ++i) {
          const int expected = cell < real.size() ? testing::round_and_clamp(real[cell] * 4) : -128;
          RC_ASSERT(std::abs(scores[i] - expected) <= (cell < real.size() ? 1 : 0));
        }
      }
    }
  }));
}

TEST(PlainAttentionTest, LawContextEqualsTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const AttentionCase c = any_case(inputs);
    const auto stored = inputs.values(static_cast<int64_t>(score_count(c)));
    std::vector<int8_t> context(c.q.size());
    attention_context(c.input(), {c.cells_per_sequence}, stored, 2.0F, context);
    size_t i = 0;
    for (int64_t t = 0; t < c.tokens(); ++t) {
      for (int64_t h = 0; h < c.n_head; ++h) {
        const auto row = row_of(std::span(stored), h * c.tokens() + t, c.cells_per_sequence);
        std::vector<double> p;
        const auto attended = static_cast<size_t>(c.positions[static_cast<size_t>(t)] + 1);
        for (const int8_t value : row.first(attended)) p.push_back((value + 128) / 256.0);
        for (int64_t d = 0; d < c.shape.head_dim; ++d, ++i) {
          const double real = testing::context_by_definition(c, p, t, h, d) / 2;
          RC_ASSERT(std::abs(context[i] - std::fmax(-128.0, std::fmin(127.0, real))) < 0.51);
        }
      }
    }
  }));
}

TEST(PlainAttentionTest, LawOneCellReturnsItsValueWithinTheLargestProbability) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    AttentionCase c = any_case(inputs);
    c.positions = {0, 0, 0};
    std::vector<int8_t> scores(score_count(c));
    std::vector<int8_t> context(c.q.size());
    std::vector<int8_t> flash(c.q.size());
    std::vector<float> scratch(
        static_cast<size_t>(flash_attention_scratch_floats(c.shape.head_dim)));
    attention_scores(c.input(), {c.cells_per_sequence}, c.q, {0.1F, 0.25F}, scores);
    softmax_s8({c.cells_per_sequence}, {.positions = c.positions}, scores, 0.25F, scores);
    attention_context(c.input(), {c.cells_per_sequence}, scores, 1.0F / 32, context);
    flash_attention(c.input(), c.q, {0.1F, 1.0F / 32}, scratch, flash);
    for (size_t i = 0; i < context.size(); ++i) {
      RC_ASSERT(context[i] == testing::round_and_clamp(flash[i] * 255.0 / 256));
    }
  }));
}

TEST(PlainAttentionTest, APositionBeyondTheScoresIsABug) {
  std::vector<int8_t> scores(2);
  EXPECT_THROW(softmax_s8({2}, {.positions = std::vector<int32_t>{2}}, scores, 1.0F, scores),
               InternalError);
  EXPECT_THROW(softmax_s8({2}, {.positions = std::vector<int32_t>{-1}}, scores, 1.0F, scores),
               InternalError);
  EXPECT_THROW(softmax_s8({2}, TokenCells{}, scores, 1.0F, scores), InternalError);
}

}  // namespace
}  // namespace tidemark

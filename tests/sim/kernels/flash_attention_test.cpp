#include "sim/kernels/attention/flash_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention_inputs.h"
#include "planner/base/check.h"
#include "planner/graph/build_graph.h"
#include "sim/kernels/isa.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

using testing::AttentionCase;
using ::testing::ElementsAre;

// Scratch arrives with anything in it.
std::vector<int8_t> attend(const AttentionCase& c, Scales scales,
                           float garbage = std::numeric_limits<float>::quiet_NaN()) {
  std::vector<float> scratch(static_cast<size_t>(flash_attention_scratch_floats(c.shape.head_dim)),
                             garbage);
  std::vector<int8_t> context(c.q.size());
  flash_attention(c.input(), c.q, scales, scratch, context);
  return context;
}

AttentionCase any_case(testing::Inputs& inputs) {
  const KvType type = inputs.between(0, 1) == 0 ? KvType::kInt8 : KvType::kF16;
  return testing::random_attention(inputs, type);
}

TEST(FlashAttentionTest, ScratchAndTileAreThePlanners) {
  EXPECT_EQ(kScoreTile, kFlashTile);
  EXPECT_EQ(flash_attention_scratch_floats(64) * 4, flash_attention_scratch(64).count());
}

TEST(FlashAttentionTest, TwoCellsByHand) {
  // D = 1, q = 1 at scale ln 3, k = {0, 1}: scores 0 and ln 3, weights 1/4 and 3/4; v = {0, 4}.
  AttentionCase c;
  c.shape = {KvType::kInt8, 1, 1};
  c.positions = {1, 0};
  c.first_cells = {0, 0};
  c.keys = {std::byte{0}, std::byte{0}, std::byte{0x3C},
            std::byte{1}, std::byte{0}, std::byte{0x3C}};
  c.values = {std::byte{0}, std::byte{0}, std::byte{0x3C},
              std::byte{4}, std::byte{0}, std::byte{0x3C}};
  c.q = {1, 1};
  EXPECT_THAT(attend(c, {.in = std::log(3.0F), .out = 0.25F}), ElementsAre(12, 0));
}

TEST(FlashAttentionTest, LawOneCellReturnsItsValue) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    AttentionCase c = any_case(inputs);
    c.positions = {0, 0, 0};
    const auto context = attend(c, {.in = 1.0F, .out = 1.0F / 32});
    const int64_t elements = c.n_head * c.shape.head_dim;
    for (size_t i = 0; i < context.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      const int64_t head_kv = index % elements / c.shape.head_dim * c.shape.n_head_kv / c.n_head;
      const double v =
          testing::kv_element(c.shape, c.values, c.first_cells[i / static_cast<size_t>(elements)],
                              head_kv * c.shape.head_dim + index % c.shape.head_dim);
      RC_ASSERT(context[i] == v * 32);
    }
  }));
}

TEST(FlashAttentionTest, LawIsWithinOneStepOfTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const AttentionCase c = any_case(inputs);
    const Scales scales{.in = inputs.scale() / 4, .out = 1.0F / 32};
    const auto context = attend(c, scales);
    size_t i = 0;
    for (int64_t t = 0; t < c.tokens(); ++t) {
      for (int64_t h = 0; h < c.n_head; ++h) {
        const auto p =
            testing::softmax_by_definition(testing::scores_by_definition(c, t, h, scales.in));
        for (int64_t d = 0; d < c.shape.head_dim; ++d, ++i) {
          const double real = testing::context_by_definition(c, p, t, h, d) * 32;
          RC_ASSERT(std::abs(context[i] - real) < 0.55);
        }
      }
    }
  }));
}

TEST(FlashAttentionTest, LawSharedHeadsEqualRepeatedOnes) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const AttentionCase shared = testing::random_attention(inputs, KvType::kInt8);
    AttentionCase repeated = shared;
    repeated.shape.n_head_kv = shared.n_head;
    const int64_t row_bytes = kv_row_bytes(shared.shape);
    const int64_t dim = shared.shape.head_dim;
    const auto repeat = [&](std::span<const std::byte> cache) {
      std::vector<std::byte> result;
      for (int64_t cell = 0; cell < 2 * shared.cells_per_sequence; ++cell) {
        const auto row = row_of(cache, cell, row_bytes);
        for (int64_t h = 0; h < shared.n_head; ++h) {
          const auto head =
              row_of(row.first(row.size() - 2), h * shared.shape.n_head_kv / shared.n_head, dim);
          result.insert(result.end(), head.begin(), head.end());
        }
        result.insert(result.end(), row.end() - 2, row.end());
      }
      return result;
    };
    repeated.keys = repeat(shared.keys);
    repeated.values = repeat(shared.values);
    RC_ASSERT(attend(shared, {0.05F, 0.03F}) == attend(repeated, {0.05F, 0.03F}));
  }));
}

TEST(FlashAttentionTest, LawLaterCellsAndOtherSequencesDoNotMatter) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    AttentionCase c = any_case(inputs);
    c.positions.resize(1);
    c.first_cells.resize(1);
    c.q.resize(static_cast<size_t>(c.n_head * c.shape.head_dim));
    const auto before = attend(c, {0.05F, 0.03F});
    const int64_t row_bytes = kv_row_bytes(c.shape);
    for (int64_t cell = 0; cell < 2 * c.cells_per_sequence; ++cell) {
      const bool own = cell >= c.first_cells[0] && cell <= c.first_cells[0] + c.positions[0];
      if (own) continue;
      std::ranges::fill(row_of(std::span(c.keys), cell, row_bytes), std::byte{0x55});
      std::ranges::fill(row_of(std::span(c.values), cell, row_bytes), std::byte{0xAA});
    }
    RC_ASSERT(attend(c, {0.05F, 0.03F}) == before);
  }));
}

// The header's recurrence, one head after the other and one cell after the other.
std::vector<int8_t> one_by_one(const AttentionCase& c, Scales scales) {
  const auto dim = static_cast<size_t>(c.shape.head_dim);
  const float factor = scales.in / std::sqrt(static_cast<float>(c.shape.head_dim));
  std::vector<int8_t> context;
  for (size_t i = 0; i < c.q.size(); i += dim) {
    const auto head = static_cast<int64_t>(i / dim) % c.n_head;
    const size_t token = i / dim / static_cast<size_t>(c.n_head);
    const int64_t head_kv = head / (c.n_head / c.shape.n_head_kv);
    const int64_t end = c.positions[token] + 1;
    std::vector<float> sums(dim);
    float m = -std::numeric_limits<float>::infinity();
    float l = 0.0F;
    for (int64_t first = 0; first < end; first += 32) {
      std::vector<float> scores;
      const auto row = [&](const std::vector<std::byte>& cache, int64_t j) {
        return kv_row(c.shape, cache, c.first_cells[token] + j);
      };
      for (int64_t j = first; j < std::min(first + 32, end); ++j) {
        const auto q = std::span(c.q).subspan(i, dim);
        scores.push_back(factor * kv_dot(c.shape, row(c.keys, j), head_kv, q));
      }
      const float before = m;
      for (const float score : scores) m = std::fmax(m, score);
      const float correction = std::exp(before - m);
      l *= correction;
      for (float& sum : sums) sum *= correction;
      for (size_t j = 0; j < scores.size(); ++j) {
        const float weight = std::exp(scores[j] - m);
        l += weight;
        kv_accumulate(c.shape, row(c.values, first + static_cast<int64_t>(j)),
                      head_kv * c.shape.head_dim, weight, sums);
      }
    }
    for (const float sum : sums) context.push_back(round_to_s8(sum / l / scales.out));
  }
  return context;
}

TEST(FlashAttentionTest, LawIsTheRecurrenceToTheBitAtEveryLevel) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    AttentionCase c = any_case(inputs);
    const int64_t sharing = inputs.between(1, 10);  // groups of heads that are not all alike
    c.n_head = c.shape.n_head_kv * sharing;
    c.q = inputs.values(c.tokens() * c.n_head * c.shape.head_dim);
    const Scales scales{0.05F, 0.03F};
    const auto expected = one_by_one(c, scales);
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      RC_ASSERT(attend(c, scales) == expected);
    }
  }));
}

TEST(FlashAttentionTest, AHeadTooLongForTheStackGoesAlone) {
  testing::Inputs inputs(3);
  AttentionCase c;
  c.shape = {KvType::kInt8, 2, 2049};
  c.n_head = 2;
  c.positions = {1};
  c.first_cells = {0};
  const std::vector<int32_t> both{0, 1};
  c.keys.resize(static_cast<size_t>(2 * kv_row_bytes(c.shape)));
  c.values.resize(c.keys.size());
  store_kv(c.shape, inputs.values(2 * 2 * 2049), 0.03F, {.positions = both}, c.keys);
  store_kv(c.shape, inputs.values(2 * 2 * 2049), 0.03F, {.positions = both}, c.values);
  c.q = inputs.values(2 * 2049);
  EXPECT_EQ(attend(c, {0.001F, 0.03F}), one_by_one(c, {0.001F, 0.03F}));
}

TEST(FlashAttentionTest, LawScratchContentsDoNotMatter) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const AttentionCase c = any_case(inputs);
    RC_ASSERT(attend(c, {0.05F, 0.03F}) == attend(c, {0.05F, 0.03F}, 1e30F));
  }));
}

TEST(FlashAttentionTest, HugeScoresDoNotOverflow) {
  testing::Inputs inputs(1);
  AttentionCase c = testing::random_attention(inputs, KvType::kInt8);
  EXPECT_EQ(attend(c, {1e4F, 0.03F}).size(), c.q.size());  // e^(1e7) would be infinity
}

TEST(FlashAttentionTest, AWrongShapeIsABug) {
  testing::Inputs inputs(1);
  AttentionCase c = testing::random_attention(inputs, KvType::kF16);
  std::vector<float> scratch(
      static_cast<size_t>(flash_attention_scratch_floats(c.shape.head_dim) - 1));
  std::vector<int8_t> context(c.q.size());
  EXPECT_THROW(flash_attention(c.input(), c.q, {}, scratch, context), InternalError);
  AttentionCase other = c;
  other.shape.n_head_kv = 2;
  other.n_head = 3;
  EXPECT_THROW(heads_per_kv(other.input()), InternalError);
}

}  // namespace
}  // namespace tidemark

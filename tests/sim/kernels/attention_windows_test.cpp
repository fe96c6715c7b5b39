// Attention that does not see everything, in rings of cells; sinks; views; values of a width of
// their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "planner/base/check.h"
#include "sim/kernels/attention/plain_attention.h"
#include "sim/kernels/isa.h"
#include "sim/kernels/rows.h"
#include "windowed_pass.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using testing::kStored;
using testing::random_pass;
using testing::score_by_definition;
using testing::value_by_definition;
using testing::Weights;
using testing::weights_by_definition;
using testing::WindowedPass;

std::vector<int8_t> attend(const WindowedPass& pass, Scales scales, bool in_ring) {
  std::vector<float> scratch(
      static_cast<size_t>(flash_attention_scratch_floats(pass.values.head_dim)),
      std::numeric_limits<float>::quiet_NaN());
  std::vector<int8_t> context(
      static_cast<size_t>(pass.tokens() * pass.n_head * pass.values.head_dim));
  flash_attention(pass.input(in_ring), pass.q, scales, scratch, context);
  return context;
}

TEST(AttentionWindowsTest, LawFlashAttentionIsWithinOneStepOfTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const WindowedPass pass = random_pass(inputs);
    const Scales scales{.in = inputs.scale() / 4, .out = kStored};
    const auto context = attend(pass, scales, true);
    size_t i = 0;
    for (int64_t t = 0; t < pass.tokens(); ++t) {
      for (int64_t h = 0; h < pass.n_head; ++h) {
        const Weights weights = weights_by_definition(pass, t, h, double{scales.in});
        for (int64_t d = 0; d < pass.values.head_dim; ++d, ++i) {
          const double real = value_by_definition(pass, weights.of_positions, h, d);
          RC_ASSERT(std::abs(context[i] - real / weights.total * 32) < 0.55);
        }
      }
    }
  }));
}

TEST(AttentionWindowsTest, LawARingGivesTheBitsOfACacheOfAllCellsAtEveryLevel) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const WindowedPass pass = random_pass(inputs);
    const Scales scales{.in = 0.05F, .out = 0.03F};
    const auto expected = attend(pass, scales, false);
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      RC_ASSERT(attend(pass, scales, true) == expected);
    }
  }));
}

TEST(AttentionWindowsTest, LawScoresAreThoseOfTheDefinitionAtTheirCells) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const WindowedPass pass = random_pass(inputs);
    const Scales scales{.in = inputs.scale() / 4, .out = 0.25F};
    std::vector<int8_t> scores(static_cast<size_t>(pass.ring * pass.tokens() * pass.n_head), 99);
    attention_scores(pass.input(true), {pass.ring}, pass.q, scales, scores);
    for (int64_t r = 0; r < pass.n_head * pass.tokens(); ++r) {
      const int64_t t = r % pass.tokens();
      const auto row = row_of(std::span(scores), r, pass.ring);
      std::vector<bool> attended(row.size());
      for (int64_t p = 0; p < pass.all_cells(); ++p) {
        if (!pass.attends(t, p)) continue;
        const auto cell = static_cast<size_t>(p % pass.ring);
        const double real = score_by_definition(pass, t, r / pass.tokens(), p, double{scales.in});
        attended[cell] = true;
        RC_ASSERT(std::abs(row[cell] - testing::round_and_clamp(real * 4)) <= 1);
      }
      for (size_t cell = 0; cell < row.size(); ++cell)
        RC_ASSERT(attended[cell] || row[cell] == -128);
    }
  }));
}

TEST(AttentionWindowsTest, LawSoftmaxIsThatOfTheDefinitionWithTheSink) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const WindowedPass pass = random_pass(inputs);
    const TokenCells cells = pass.input(true).cells;
    const auto scores = inputs.values(pass.ring * pass.tokens() * pass.n_head);
    const float scale = inputs.scale();
    std::vector<int8_t> out = scores;
    softmax_s8({pass.ring}, cells, out, scale, out, pass.input(true).sinks);
    for (int64_t r = 0; r < pass.n_head * pass.tokens(); ++r) {
      const auto row = row_of(std::span(scores), r, pass.ring);
      const auto made = row_of(std::span(out), r, pass.ring);
      std::vector<double> weights(row.size());
      double total = pass.sinks.empty()
                         ? 0.0
                         : std::exp(double{pass.sinks[static_cast<size_t>(r / pass.tokens())]});
      for (int64_t p = 0; p < pass.all_cells(); ++p) {
        if (!pass.attends(r % pass.tokens(), p)) continue;
        const auto cell = static_cast<size_t>(p % pass.ring);
        weights[cell] = std::exp(row[cell] * double{scale});
        total += weights[cell];
      }
      for (size_t cell = 0; cell < row.size(); ++cell) {
        const double real = std::fmin(127.0, weights[cell] / total * 256 - 128);
        RC_ASSERT(std::abs(made[cell] - real) <= (weights[cell] > 0.0 ? 0.5001 : 0.0));
      }
    }
  }));
}

TEST(AttentionWindowsTest, LawContextIsThatOfTheDefinitionFromTheRing) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const WindowedPass pass = random_pass(inputs);
    const auto stored = inputs.values(pass.ring * pass.tokens() * pass.n_head);
    std::vector<int8_t> context(
        static_cast<size_t>(pass.tokens() * pass.n_head * pass.values.head_dim));
    attention_context(pass.input(true), {pass.ring}, stored, 2.0F, context);
    size_t i = 0;
    for (int64_t t = 0; t < pass.tokens(); ++t) {
      for (int64_t h = 0; h < pass.n_head; ++h) {
        const auto row = row_of(std::span(stored), h * pass.tokens() + t, pass.ring);
        std::vector<double> weights;
        for (int64_t p = 0; p < pass.all_cells(); ++p) {
          const double steps = row[static_cast<size_t>(p % pass.ring)] + 128.0;
          weights.push_back(pass.attends(t, p) ? steps / 256 : 0.0);
        }
        for (int64_t d = 0; d < pass.values.head_dim; ++d, ++i) {
          const double real = value_by_definition(pass, weights, h, d) / 2;
          RC_ASSERT(std::abs(context[i] - std::fmax(-128.0, std::fmin(127.0, real))) < 0.51);
        }
      }
    }
  }));
}

// A head without a sink, and one whose sink is no number, begin with nothing.
TEST(AttentionWindowsTest, ASinkThatIsNoNumberIsNone) {
  const float values[] = {2.5F, std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity()};
  const auto bytes = std::as_bytes(std::span(values));
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(sink_of(bytes, 0), 2.5F);
  EXPECT_EQ(sink_of(bytes, 1), kNone);
  EXPECT_EQ(sink_of(bytes, 2), kNone);
  EXPECT_EQ(sink_of({}, 0), kNone);
}

// D = 1, two cells of keys {0, 1} and values {0, 4}, q = 1 at scale ln 3: scores 0 and ln 3.
WindowedPass two_cells() {
  const auto cells = [](int8_t second) {
    return std::vector<std::byte>{std::byte{0},    std::byte{0},
                                  std::byte{0x3C}, static_cast<std::byte>(second),
                                  std::byte{0},    std::byte{0x3C}};
  };
  WindowedPass pass{.keys = {KvType::kInt8, 1, 1}, .values = {KvType::kInt8, 1, 1}};
  pass.positions = {1};
  pass.q = {1};
  pass.all_keys = cells(1);
  pass.all_values = cells(4);
  pass.sink_bytes.resize(1);
  return pass;
}

void set_sink(WindowedPass& pass, float sink) {
  pass.sink_bytes.resize(1 + sizeof sink);
  std::memcpy(&pass.sink_bytes[1], &sink, sizeof sink);
}

TEST(FlashAttentionTest, ASinkByHand) {
  // 1, 3 and 4 of 8: 4 x 3/8 = 1.5.
  WindowedPass pass = two_cells();
  set_sink(pass, std::log(4.0F));
  EXPECT_THAT(attend(pass, {.in = std::log(3.0F), .out = 0.25F}, false), ElementsAre(6));
  set_sink(pass, 1e30F);
  EXPECT_THAT(attend(pass, {.in = std::log(3.0F), .out = 0.25F}, false), ElementsAre(0));
  set_sink(pass, -1e30F);
  EXPECT_THAT(attend(pass, {.in = std::log(3.0F), .out = 0.25F}, false), ElementsAre(12));
}

TEST(PlainAttentionTest, ARingAndASinkByHand) {
  // Window 2 in a ring of 3, position 3: cells 2 and 0; 1/3 is 85.3 of 256.
  const std::vector<int32_t> positions{3};
  const TokenCells cells{.positions = positions, .ring = 3, .window = 2};
  std::vector<int8_t> scores{0, 77, 0};
  softmax_s8({.cells = 3}, cells, scores, 1.0F, scores);
  EXPECT_THAT(scores, ElementsAre(0, -128, 0));
  const float sink = 0.0F;
  scores = {0, 77, 0};
  softmax_s8({.cells = 3}, cells, scores, 1.0F, scores, std::as_bytes(std::span(&sink, 1)));
  EXPECT_THAT(scores, ElementsAre(-43, -128, -43));
}

TEST(AttentionWindowsTest, ARingThatIsTooSmallIsABug) {
  WindowedPass pass = two_cells();
  pass.ring = 1;
  pass.ring_keys = pass.all_keys;
  pass.ring_values = pass.all_values;
  EXPECT_THROW(attend(pass, {}, true), InternalError);
}

TEST(AttentionWindowsTest, AnotherNumberOfSinksThanHeadsIsABug) {
  WindowedPass pass = two_cells();
  pass.sink_bytes.resize(9);
  EXPECT_THROW(attend(pass, {}, false), InternalError);
  std::vector<int8_t> scores{0, 0};
  EXPECT_THROW(softmax_s8({2}, pass.input(false).cells, scores, 1.0F, scores,
                          std::span(pass.sink_bytes).first(8)),
               InternalError);
}

}  // namespace
}  // namespace tidemark

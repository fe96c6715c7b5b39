// Whole files, from their bytes to the report.
#include "sim/quant/quantize_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "plain.h"
#include "support/golden.h"
#include "weights_file.h"

namespace tidemark {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using testing::f32_entry;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QuantizeFileTest : public ::testing::Test {
 protected:
  // What is said of a file of these tensors.
  Result<QuantizeOutcome> quantized(const std::vector<testing::FileEntry>& entries,
                                    const QuantRequest& request,
                                    const QuantizeOptions& options = {}) {
    const std::filesystem::path path = folder_.path() / "m.safetensors";
    testing::write_safetensors_file(path, entries);
    const Result<TensorFile> file = read_tensor_file(path);
    EXPECT_TRUE(file.ok()) << to_string(file.diagnostics());
    return quantize_file("m.safetensors", *file, *read_quant_request(request), options);
  }

  QuantReport report(const std::vector<testing::FileEntry>& entries, const QuantRequest& request) {
    Result<QuantizeOutcome> outcome = quantized(entries, request);
    EXPECT_TRUE(outcome.ok()) << to_string(outcome.diagnostics());
    return outcome.ok() ? std::move(outcome).value().report : QuantReport{};
  }

  testing::TemporaryFolder folder_{};
};

std::vector<float> drawn(int64_t count) { return testing::random_values(3, count, 1.0F); }

// w: 2 rows of 64 as f32 are 512 B; int8 2 x (64 + 2) = 132 B, Q4_0 2 x 2 blocks x 18 = 72 B. v has
// rows of 33, which fill no blocks: int8 3 x 35 = 105 B, and 396 B as stored. b is a vector of 8 B.
TEST_F(QuantizeFileTest, SizesByHand) {
  const QuantReport made = report({f32_entry("w", {2, 64}, drawn(128)),
                                   f32_entry("v", {3, 33}, drawn(99)), f32_entry("b", {2}, {1, 2})},
                                  {.to = "int8,q4_0"});
  EXPECT_THAT(made.formats, ElementsAre("int8", "Q4_0"));
  ASSERT_EQ(made.tensors.size(), 2U);
  EXPECT_EQ(made.tensors[0].bytes, 512_B);
  EXPECT_EQ(made.tensors[0].outcomes[0].bytes, 132_B);
  EXPECT_EQ(made.tensors[0].outcomes[1].bytes, 72_B);
  EXPECT_EQ(made.tensors[1].outcomes[0].bytes, 105_B);
  EXPECT_FALSE(made.tensors[1].outcomes[0].as_stored);
  EXPECT_EQ(made.tensors[1].outcomes[1].bytes, 396_B);
  EXPECT_TRUE(made.tensors[1].outcomes[1].as_stored);
  ASSERT_EQ(made.kept.size(), 1U);
  EXPECT_EQ(made.kept[0].reason, "vectors");
  EXPECT_EQ(made.stored, 916_B);
  EXPECT_EQ(made.totals[0].bytes, 245_B);
  EXPECT_EQ(made.totals[1].bytes, 476_B);
}

// 127 steps of 0.02 of a step's rounding: well above 40 dB; fewer bits lose more.
TEST_F(QuantizeFileTest, MoreBitsLoseLess) {
  const QuantReport made = report({f32_entry("w", {4, 64}, drawn(256))}, {});
  const std::vector<QuantOutcome>& outcomes = made.tensors.at(0).outcomes;
  EXPECT_GT(outcomes[0].sqnr_db, outcomes[1].sqnr_db + 20);  // int8, int4: 24 dB apart in theory
  EXPECT_GT(outcomes[2].sqnr_db, outcomes[3].sqnr_db + 20);  // Q8_0, Q4_0
  for (const QuantOutcome& outcome : outcomes) {
    EXPECT_GT(outcome.cosine.value_or(0), 0.98);
    EXPECT_LE(outcome.rms_error, outcome.largest_error);
  }
}

// 1, -2 and 0.5 with 127 as the largest are whole steps or not by the format, but f16 holds all.
TEST_F(QuantizeFileTest, NoErrorIsInfinite) {
  const QuantReport made =
      report({f32_entry("w", {2, 2}, {127, 1, -2, 127}), f32_entry("z", {2, 2}, {0, 0, 0, 0})},
             {.to = "int8,f16"});
  for (const QuantTensor& tensor : made.tensors) {
    for (const QuantOutcome& outcome : tensor.outcomes) {
      EXPECT_TRUE(std::isinf(outcome.sqnr_db)) << tensor.name;
    }
  }
  EXPECT_EQ(made.tensors[1].outcomes[0].cosine, std::nullopt);
  EXPECT_EQ(made.totals[0].exact, 2);
  EXPECT_EQ(made.totals[0].mean_sqnr_db, std::nullopt);
}

TEST_F(QuantizeFileTest, WhatIsNotFiniteIsKeptAndNamed) {
  const QuantReport made = report(
      {f32_entry("w", {2, 2}, {1, NAN, INFINITY, 2}), f32_entry("v", {2, 2}, {1, 2, 3, 4})}, {});
  ASSERT_EQ(made.kept.size(), 1U);
  EXPECT_EQ(made.kept[0].reason, "NaN or infinite values");
  EXPECT_THAT(made.notes,
              ElementsAre(HasSubstr("w has 2 NaN or infinite values and was not measured")));
  EXPECT_EQ(made.tensors.size(), 1U);
}

TEST_F(QuantizeFileTest, OneThatIsNotFiniteIsOneValue) {
  const QuantReport made =
      report({f32_entry("w", {2, 2}, {1, NAN, 3, 2}), f32_entry("v", {2, 2}, {1, 2, 3, 4})}, {});
  EXPECT_THAT(made.notes, ElementsAre("w has 1 NaN or infinite value and was not measured."));
}

TEST_F(QuantizeFileTest, APatternPicksTensors) {
  const std::vector<testing::FileEntry> entries{f32_entry("L.0.Attn.weight", {2, 2}, {1, 2, 3, 4}),
                                                f32_entry("L.0.mlp.weight", {2, 2}, {1, 2, 3, 4})};
  const QuantReport made = report(entries, {.to = "int8", .tensors = "ATTN"});
  EXPECT_EQ(made.tensors.size(), 1U);
  EXPECT_EQ(made.left_out, 1);
  EXPECT_EQ(made.stored, 16_B);
  const Result<QuantizeOutcome> none = quantized(entries, {.tensors = "conv"});
  EXPECT_THAT(to_string(none.diagnostics()),
              HasSubstr("error: --tensors: \"conv\" finds none of the 2 tensors"));
}

TEST_F(QuantizeFileTest, AFileWithoutMatrices) {
  const QuantReport made = report({f32_entry("b", {2}, {1, 2})}, {.to = "int8"});
  EXPECT_THAT(made.tensors, IsEmpty());
  EXPECT_EQ(made.totals.at(0).bytes, 8_B);
  EXPECT_THAT(made.notes, ElementsAre("No matrix here can be quantized."));
  EXPECT_THAT(to_text(report({}, {})), HasSubstr("0 tensors"));
}

// All threads at once, in whichever order: the same bytes.
TEST_F(QuantizeFileTest, ThreadsChangeNothing) {
  std::vector<testing::FileEntry> entries;
  for (int i = 0; i < 12; ++i) {
    entries.push_back(f32_entry("w" + std::to_string(i), {3, 64},
                                testing::random_values(static_cast<uint64_t>(i), 192, 1.0F)));
  }
  int64_t last = 0;
  const QuantizeOptions options{.run_all =
                                    [](std::span<const std::function<void()>> tasks) {
                                      std::vector<std::jthread> threads;
                                      for (size_t i = tasks.size(); i-- > 0;)
                                        threads.emplace_back(tasks[i]);
                                    },
                                .progress =
                                    [&last](int64_t done, int64_t total) {
                                      EXPECT_GT(done, last);
                                      EXPECT_EQ(total, 12 * 768);
                                      last = done;
                                    }};
  const Result<QuantizeOutcome> threaded = quantized(entries, {.range = "mse"}, options);
  EXPECT_EQ(last, 12 * 768);
  EXPECT_EQ(to_json(threaded->report), to_json(report(entries, {.range = "mse"})));
}

// Three rows of 2^18 floats are three pieces of 1 MiB; one scale for all of them takes two looks.
TEST_F(QuantizeFileTest, ProgressIsToldPieceByPiece) {
  const size_t row = size_t{1} << 18;
  const auto told = [&](const std::string& to) {
    std::vector<int64_t> mebibytes;
    const Result<QuantizeOutcome> outcome =
        quantized({f32_entry("w", {3, static_cast<int64_t>(row)}, std::vector<float>(3 * row, 1))},
                  {.to = to}, {.progress = [&](int64_t done, int64_t total) {
                    mebibytes.push_back(done >> 20);
                    EXPECT_EQ(total >> 20, to == "int8" ? 3 : 6);
                  }});
    EXPECT_TRUE(outcome.ok());
    return mebibytes;
  };
  EXPECT_THAT(told("int8"), ElementsAre(1, 2, 3));
  EXPECT_THAT(told("int8_tensor,int8"), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(QuantizeFileTest, AnInterruptedRunHasNoReport) {
  const Result<QuantizeOutcome> outcome =
      quantized({f32_entry("w", {2, 2}, {1, 2, 3, 4})}, {}, {.stop = [] { return true; }});
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->interrupted);
  EXPECT_THAT(outcome->report.tensors, IsEmpty());
}

TEST_F(QuantizeFileTest, ValuesThatCannotBeReadEndTheRun) {
  const std::filesystem::path path = folder_.path() / "m.safetensors";
  testing::write_safetensors_file(path, {f32_entry("w", {2, 2}, {1, 2, 3, 4})});
  const Result<TensorFile> file = read_tensor_file(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
  const Result<QuantizeOutcome> outcome =
      quantize_file("m", *file, *read_quant_request({.to = "int8"}), {});
  EXPECT_THAT(to_string(outcome.diagnostics()), HasSubstr("w: byte "));
}

}  // namespace
}  // namespace tidemark

// ollama's planned graphs against what it printed in public: cases PL002, PL006, PL007, PL036 and
// PL053 of the public logs.
#include "planner/compare/ollama_graph.h"

#include <gtest/gtest.h>

#include "known_models.h"

namespace tidemark {
namespace {

constexpr int64_t month(int64_t year, int64_t number) { return year * 12 + number - 1; }

double mib(std::optional<int64_t> bytes) {
  return bytes ? static_cast<double>(*bytes) / 1048576 : -1;
}

TEST(OllamaGraphTest, WorkedInTheHeader) {
  const OllamaGraph graph =
      ollama_graph(known_model("llama-3-8b"), {.n_ctx = 8192, .month = month(2025, 7)});
  EXPECT_EQ(graph.full, 4 * 512 * (1 + 4 * 4096 + 8192 * 33));
  EXPECT_EQ(graph.partial,
            4 * 512 * 4096 + 4 * 512 * (4096 + 128256) + int64_t{4096} * 128256 * 105 / 128);
  EXPECT_NEAR(mib(graph.full), 560.0, 0.05);     // PL007
  EXPECT_NEAR(mib(graph.partial), 677.5, 0.05);  // PL006, PL007
}

// PL006, July 2024, context 2,048: 4 x 512 x (1 + 16,384 + 67,584) = 164.0 MiB, and not the logits'
// 4 x 512 x 132,352 = 258.5 MiB, which count from August 2024 on.
TEST(OllamaGraphTest, LogitsCountFromAugust2024) {
  const ModelSpec model = known_model("llama-3-8b");
  const auto full = [&](std::optional<int64_t> when) {
    return ollama_graph(model, {.n_ctx = 2048, .month = when});
  };
  EXPECT_NEAR(mib(full(month(2024, 7)).full), 164.0, 0.05);
  EXPECT_NEAR(mib(full(month(2024, 9)).full), 258.5, 0.05);
  EXPECT_FALSE(full(month(2024, 8)).full.has_value());
  EXPECT_FALSE(full(std::nullopt).full.has_value());
  EXPECT_NE(full(std::nullopt).reason, "");
}

// PL002: 70B, context 64,000 on four cards: 16 MiB + 4 x 512 x (1 + 8,192 + 64,000) + 8,192^2 x 9 /
// 16 + 4 x 64,000 x (512 x 64 + 128 x 8) B = 8.2 GiB, printed for both.
TEST(OllamaGraphTest, SeveralCardsTakeThePartialGraph) {
  const OllamaGraph graph = ollama_graph(known_model("llama-3.1-70b"),
                                         {.n_ctx = 64000, .month = month(2025, 2), .cards = 4});
  EXPECT_EQ(graph.full, graph.partial);
  EXPECT_NEAR(mib(graph.partial) / 1024, 8.2, 0.05);
}

// PL036: Gemma-3-12B, context 8,192: the logits in f32 and the head's matrix on top.
// The built-in model has the checkpoint's 262,208 tokens, the file had 262,144: 0.125 MiB.
TEST(OllamaGraphTest, Gemma3) {
  const OllamaGraph graph =
      ollama_graph(known_model("gemma-3-12b"), {.n_ctx = 8192, .month = month(2025, 8)});
  EXPECT_NEAR(mib(graph.full), 519.5 + 0.125, 0.05);
  EXPECT_NEAR(mib(graph.partial) / 1024, 1.3, 0.05);
}

// PL053: 12 heads share what it takes for one of keys: 12 x 24 MiB / 6 = 48 MiB.
TEST(OllamaGraphTest, OthersTakeAShareOfTheCache) {
  ModelSpec model = known_model("qwen3-8b");  // 32 heads, 8 of keys
  const OllamaGraph graph = ollama_graph(model, {.n_ctx = 8192, .kv = 24 * 1048576});
  EXPECT_EQ(graph.full, 4 * 24 * 1048576 / 6);
  EXPECT_EQ(graph.partial, graph.full);
  EXPECT_FALSE(ollama_graph(model, {.n_ctx = 8192}).full.has_value());
}

TEST(OllamaGraphTest, MetalHasOneGraph) {
  const OllamaGraph graph = ollama_graph(known_model("llama-3-8b"),
                                         {.n_ctx = 8192, .month = month(2025, 7), .metal = true});
  EXPECT_EQ(graph.partial, graph.full);
}

TEST(OllamaGraphTest, WhatItDoesNotKnowHasAReason) {
  EXPECT_NE(ollama_graph(known_model("mixtral-8x7b"), {.n_ctx = 8192}).reason, "");
  EXPECT_NE(ollama_graph(known_model("deepseek-v2-lite"), {.n_ctx = 8192}).reason, "");
  EXPECT_NE(ollama_graph(known_model("llama-3-8b"), {}).reason, "");
  EXPECT_NE(ollama_graph(known_model("llama-3-8b"), {.n_ctx = int64_t{1} << 40}).reason, "");
}

}  // namespace
}  // namespace tidemark

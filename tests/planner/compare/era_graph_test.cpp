#include "planner/compare/era_graph.h"

#include <gtest/gtest.h>

#include "planner/engine/ggml_alloc.h"

namespace tidemark {
namespace {

using literals::operator""_B;

// Leaves inp_embd (read by nobody), index and mask; SET_ROWS into a cache, then FLASH_ATTN_EXT.
GgmlGraph today() {
  GgmlGraph graph;
  add(graph,
      {.name = "inp_embd", .ne = {64, 1, 1, 1}, .bytes = 256_B, .leaf = true, .input = true});
  const TensorId index = add(graph, {.name = "leaf_1",
                                     .type = "i64",
                                     .ne = {4, 1, 1, 1},
                                     .bytes = 32_B,
                                     .leaf = true,
                                     .input = true});
  const TensorId mask = add(graph, {.name = "attn_inp_kq_mask",
                                    .type = "f16",
                                    .ne = {64, 1, 1, 1},
                                    .bytes = 128_B,
                                    .leaf = true,
                                    .input = true});
  const TensorId cache = add(graph, {.name = "cache_k_l0",
                                     .type = "f16",
                                     .ne = {64, 1, 1, 1},
                                     .bytes = 128_B,
                                     .leaf = true,
                                     .external = true});
  const TensorId q =
      add(graph, {.name = "q", .ne = {16, 1, 1, 1}, .bytes = 64_B, .leaf = true, .input = true});
  GgmlTensor stored = view_of(graph, cache, "VIEW", {64, 1, 1, 1});
  stored.op = "SET_ROWS";
  stored.external = true;
  stored.sources = {q, index, cache};
  add(graph, stored);
  add(graph, {.name = "out",
              .op = "FLASH_ATTN_EXT",
              .ne = {16, 1, 1, 1},
              .bytes = 64_B,
              .sources = {q, cache, cache, mask}});
  return graph;
}

int64_t bytes_of_leaves(const GgmlGraph& graph) {
  int64_t sum = 0;
  for (const GgmlTensor& tensor : graph.tensors) {
    if (tensor.leaf && !tensor.external) sum += tensor.bytes.count();
  }
  return sum;
}

TEST(EraGraphTest, WorkedInTheHeader) {
  const LlamaEra july_2025{.unused_embeddings = false, .indexed_rows = false, .wide_mask = true};
  const GgmlGraph graph = as_of(today(), july_2025);
  EXPECT_EQ(bytes_of_leaves(graph), 256 + 64);  // a mask of 4-byte values, and q
  const GgmlTensor& narrow = graph.tensors[graph.tensors.size() - 2];
  EXPECT_EQ(narrow.op, "CPY");
  EXPECT_EQ(narrow.type, "f16");
  EXPECT_EQ(narrow.bytes, 128_B);
  const GgmlTensor& reader = graph.tensors.back();
  EXPECT_EQ(graph[reader.sources[3]].op, "CPY");
}

TEST(EraGraphTest, TodaysGraphIsLeftAsItIs) {
  const GgmlGraph graph = as_of(today(), {});
  ASSERT_EQ(graph.tensors.size(), today().tensors.size());
  EXPECT_EQ(reserve(graph).reserved, reserve(today()).reserved);
}

TEST(EraGraphTest, EachChangeAlone) {
  EXPECT_EQ(bytes_of_leaves(as_of(today(), {})), 256 + 32 + 128 + 64);
  EXPECT_EQ(bytes_of_leaves(as_of(today(), {.unused_embeddings = false})), 32 + 128 + 64);
  EXPECT_EQ(bytes_of_leaves(as_of(today(), {.indexed_rows = false})), 256 + 128 + 64);
  EXPECT_EQ(bytes_of_leaves(as_of(today(), {.wide_mask = true})), 256 + 32 + 256 + 64);
}

TEST(LlamaEraTest, WorkedInTheHeader) {
  const LlamaEra august = era_of({.build = 6209});
  EXPECT_TRUE(august.indexed_rows);
  EXPECT_TRUE(august.wide_mask);
  EXPECT_FALSE(august.unused_embeddings);
  const LlamaEra older = era_of({.wording = LlamaWording::k2024});
  EXPECT_FALSE(older.indexed_rows);
  EXPECT_FALSE(older.unused_embeddings);
  EXPECT_FALSE(older.window_cache);
  EXPECT_TRUE(older.one_cache);
}

TEST(LlamaEraTest, ABuildNumberGoesBeforeTheWording) {
  EXPECT_EQ(era_of({.wording = LlamaWording::k2024, .build = 10'573}), LlamaEra{});
  EXPECT_EQ(era_of({.wording = LlamaWording::kUnknown}), LlamaEra{});
}

TEST(LlamaEraTest, WhatTheLogSaysCounts) {
  LoggedRun run{.wording = LlamaWording::kSummer2025};
  EXPECT_TRUE(era_of(run).indexed_rows);
  run.settings.words["set_rows"] = "off";
  EXPECT_FALSE(era_of(run).indexed_rows);
  LoggedRun late{.wording = LlamaWording::k2026};
  EXPECT_TRUE(era_of(late).wide_mask);
  late.settings.numbers["n_outputs_max"] = {1};
  EXPECT_FALSE(era_of(late).wide_mask);
}

}  // namespace
}  // namespace tidemark

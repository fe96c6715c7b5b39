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

// Q, K and V of 4 tokens in one product: rows of 48 values, Q the first 16, V the last 16. Q is
// seen again in another shape, V goes into a cache. Older builds copied the parts.
GgmlGraph fused_product() {
  GgmlGraph graph;
  const TensorId all =
      add(graph,
          {.name = "wqkv-0", .op = "MUL_MAT", .ne = {48, 4, 1, 1}, .bytes = 768_B, .sources = {}});
  const auto part = [&](int64_t first) {
    GgmlTensor seen = view_of(graph, all, "VIEW", {16, 4, 1, 1});
    seen.contiguous = false;
    seen.bytes = Bytes::of(3 * 48 * 4 + 16 * 4);  // from its first value to its last
    seen.offset_in_owner = Bytes::of(first * 4);
    return add(graph, std::move(seen));
  };
  const TensorId q = part(0);
  const TensorId v = part(32);
  GgmlTensor shaped = view_of(graph, q, "RESHAPE", {8, 2, 4, 1});
  shaped.bytes = graph[q].bytes;
  const TensorId heads = add(graph, std::move(shaped));
  GgmlTensor half = view_of(graph, heads, "VIEW", {4, 2, 4, 1});
  half.bytes = Bytes::of(3 * 48 * 4 + 12 * 4);
  half.offset_in_owner = Bytes::of(16);
  add(graph, {.op = "ROPE", .ne = {4, 2, 4, 1}, .bytes = 128_B, .sources = {add(graph, half)}});
  const TensorId cache = add(
      graph,
      {.name = "cache_v_l0", .ne = {64, 1, 1, 1}, .bytes = 256_B, .leaf = true, .external = true});
  GgmlTensor stored = view_of(graph, cache, "VIEW", {64, 1, 1, 1});
  stored.op = "CPY";
  stored.external = true;
  stored.sources = {v, cache};
  add(graph, std::move(stored));
  return graph;
}

TEST(EraGraphTest, ViewsOfAPartMoveIntoItsCopy) {
  const GgmlGraph graph = as_of(fused_product(), {.copied_parts = true});
  // Two copies of 16 x 4 values, and the product itself.
  int64_t copies = 0;
  for (const GgmlTensor& tensor : graph.tensors) {
    if (tensor.op == "CONT") {
      EXPECT_EQ(tensor.bytes, 256_B);
      ++copies;
    }
    if (tensor.op != "RESHAPE" && tensor.ne[0] != 4) continue;
    if (tensor.owner) {
      EXPECT_EQ(graph[*tensor.owner].op, "CONT");
    }
  }
  EXPECT_EQ(copies, 2);
  // What is written into the cache still is.
  EXPECT_EQ(graph[*graph.tensors.back().owner].name, "cache_v_l0");
  EXPECT_GT(reserve(graph).reserved, 0_B);
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

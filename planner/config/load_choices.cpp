#include "planner/config/load_choices.h"

#include <fmt/core.h>

namespace tidemark {
namespace {

using literals::operator""_B;

constexpr int64_t kMostChunkLayers = 10'000;
constexpr int64_t kMostChunkParts = 1'000;
constexpr int64_t kMostPrefetch = 10'000;
constexpr int64_t kMostBlock = 1 << 20;
constexpr int64_t kMostDepth = 1'024;

// "4" layers, or "1/2": halves of a layer.
void read_chunk(SettingReader& read, bool is_layer_list, LoadChoices& load) {
  const SettingText* stated = read.stated("chunk");
  if (stated == nullptr) return;
  read.record("chunk", stated->text, stated->origin);
  std::string_view text = stated->text;
  const bool in_parts = text.starts_with("1/");
  if (in_parts) text.remove_prefix(2);
  const Parsed<int64_t> parsed = parse_integer(text);
  const auto* count = std::get_if<int64_t>(&parsed);
  const int64_t most = in_parts ? kMostChunkParts : kMostChunkLayers;
  if (count == nullptr || *count < 1 || *count > most) {
    read.problem("chunk", fmt::format("{} is not a size of a chunk", in_quotes(stated->text)),
                 "a number of layers, such as 4, or parts of one, such as 1/2");
    return;
  }
  if (in_parts && is_layer_list) {
    read.problem("chunk", "a list of layers has no tensors to part", "give a number of layers");
  }
  (in_parts ? load.chunk_parts : load.chunk_layers) = *count;
}

}  // namespace

void read_load_choices(SettingReader& read, bool is_layer_list, LoadChoices& load) {
  read_chunk(read, is_layer_list, load);
  load.read_size = read.size("read_size", 1_B).value_or(0_B);
  if (read.stated("read_depth") != nullptr) {
    load.read_depth = read.number("read_depth", {.least = 1, .most = kMostDepth, .fallback = 1});
  }
  if (read.stated("read_order") != nullptr) {
    const std::string order = read.choice("read_order", {"sequential", "random"}, "sequential");
    load.read_order = parse_read_order(order).value_or(ReadOrder::kSequential);
  }
  load.initialise = read.bandwidth("initialise").value_or(BytesPerSecond{});
  if (read.stated("load_overlap") != nullptr) load.overlaps = read.is_on("load_overlap");
  if (read.stated("prefetch") != nullptr) {
    load.prefetch = read.number("prefetch", {.least = 0, .most = kMostPrefetch, .fallback = 0});
  }
  if (read.stated("page_cache") != nullptr) {
    load.is_cached = read.choice("page_cache", {"cold", "warm"}, "cold") == "warm";
  }
}

void read_kv_growth(SettingReader& read, Scenario& scenario) {
  if (scenario.engine.kv_block > 1) scenario.kv_block = scenario.engine.kv_block;
  if (read.stated("kv_growth") != nullptr) {
    scenario.kv_in_blocks = read.choice("kv_growth", {"whole", "blocks"}, "whole") == "blocks";
  }
  if (read.stated("kv_block") != nullptr) {
    scenario.kv_block =
        read.number("kv_block", {.least = 1, .most = kMostBlock, .fallback = scenario.kv_block});
  }
}

}  // namespace tidemark

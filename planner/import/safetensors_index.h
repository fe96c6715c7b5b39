// The index of a checkpoint in shards (model.safetensors.index.json, pytorch_model.bin.index.json):
// which tensor lies in which file.
//
//   {"metadata": {"total_size": 24}, "weight_map": {"a": "m-00001-of-00002.safetensors", "b": ...}}
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/result.h"
#include "planner/import/safetensors_header.h"

namespace tidemark {

struct CheckpointIndex {
  std::string file{};
  // Bytes of all tensors as the writer counted them; tied tensors may be counted twice. Written as
  // an integer or as a floating-point number; absent when missing or no whole number.
  std::optional<Bytes> total_size{};
  std::map<std::string, std::string, std::less<>> weight_map{};  // tensor -> name of its file
  bool operator==(const CheckpointIndex&) const = default;

  std::vector<std::string> shards() const;  // the files, each once, sorted
};

// `text` is the whole file, `file` its name in messages. Errors name the byte. File names in it
// stand beside the index: one with a folder in it is an error.
Result<CheckpointIndex> parse_checkpoint_index(const std::string& file, std::string_view text);
Result<CheckpointIndex> read_checkpoint_index(const std::filesystem::path& path);

// Which shards are no regular file in `folder`.
std::vector<std::string> missing_shards(const CheckpointIndex& index,
                                        const std::filesystem::path& folder);

// All shards of the index at `path` as one table, parts in the order of CheckpointIndex::shards().
// Errors: missing shards, each by its name; a tensor in two shards, or in another one than the
// index says, or in none; shards that are not safetensors.
Result<SafetensorsHeader> read_safetensors_shards(const std::filesystem::path& path);

}  // namespace tidemark

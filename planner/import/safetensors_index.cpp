#include "planner/import/safetensors_index.h"

#include <fmt/core.h>

#include <cmath>
#include <set>
#include <system_error>
#include <utility>

#include "planner/base/files.h"
#include "planner/import/json_events.h"
#include "planner/import/problems.h"

namespace tidemark {
namespace {

constexpr Bytes kMostIndexBytes = Bytes::of(100'000'000);
constexpr std::string_view kShardEnding = ".safetensors";

// A whole number of bytes, however written; 2^63 and more is none.
std::optional<Bytes> size_from(const JsonEvent& event) {
  if (event.kind == JsonKind::kInteger && event.integer >= 0) return Bytes::of(event.integer);
  const double real = event.real;
  const bool whole =
      event.kind == JsonKind::kReal && real >= 0 && real < 0x1p63 && std::floor(real) == real;
  return whole ? std::optional(Bytes::of(static_cast<int64_t>(real))) : std::nullopt;
}

class IndexHandler : public JsonHandler {
 public:
  IndexHandler(CheckpointIndex& index, Problems& problems) : index_(index), problems_(problems) {}

  void on(const JsonEvent& event, const JsonPath& path) override {
    const bool begins_object = event.kind == JsonKind::kBeginObject;
    if (event.kind == JsonKind::kEndObject || event.kind == JsonKind::kEndArray) return;
    if (path.empty()) {
      if (!begins_object) problems_.add("", event.byte, "the index must be an object");
    } else if (path.size() == 1 && path[0] == "weight_map") {
      has_map = true;
      if (!begins_object) problems_.add(path[0], event.byte, "must be an object of file names");
    } else if (path.size() == 2 && path[0] == "weight_map") {
      on_weight(event, path[1]);
    } else if (path.size() == 2 && path[0] == "metadata" && path[1] == "total_size") {
      on_total(event);
    }
  }

  bool has_map = false;

 private:
  void on_weight(const JsonEvent& event, const std::string& tensor) {
    const std::string_view file = event.text;
    if (event.kind != JsonKind::kText) {
      problems_.add(tensor, event.byte, "must be the name of a file");
    } else if (file.empty() || file == "." || file == ".." ||
               file.find_first_of(std::string_view("/\\\0", 3)) != std::string_view::npos) {
      problems_.add(tensor, event.byte,
                    fmt::format("\"{}\" is no name of a file beside the index", printable(file)));
    } else {
      index_.weight_map.insert_or_assign(tensor, std::string(file));
    }
  }

  void on_total(const JsonEvent& event) {
    const bool is_number = event.kind == JsonKind::kInteger || event.kind == JsonKind::kReal;
    const bool negative = event.integer < 0 || event.real < 0;
    if (!is_number || negative) {
      problems_.add("metadata.total_size", event.byte, "must be a number of bytes");
    }
    index_.total_size = size_from(event);
  }

  CheckpointIndex& index_;
  Problems& problems_;
};

// Reads the shards of one index into one table.
class ShardReader {
 public:
  ShardReader(const CheckpointIndex& index, std::filesystem::path folder)
      : index_(index), folder_(std::move(folder)), problems_(index.file) {}

  Result<SafetensorsHeader> read() {
    for (const std::string& shard : missing_shards(index_, folder_)) {
      problems_.add("weight_map", fmt::format("the shard {} is missing", printable(shard)),
                    "put all shards beside the index");
    }
    const std::vector<std::string> shards = index_.shards();
    for (size_t i = 0; problems_.empty() && i < shards.size(); ++i) {
      if (!shards[i].ends_with(kShardEnding)) {
        problems_.add("weight_map", fmt::format("{} is no safetensors file", printable(shards[i])),
                      "only shards in the safetensors format can be read: convert them");
      }
    }
    for (const std::string& shard : shards) {
      if (!problems_.empty()) break;
      read_shard(shard);
    }
    for (const auto& [tensor, shard] : index_.weight_map) {
      if (!problems_.empty()) break;
      if (!found_.contains(tensor)) {
        problems_.add(tensor, fmt::format("the shard {} has no such tensor", printable(shard)));
      }
    }
    if (!problems_.empty()) return problems_.take();
    return std::move(whole_);
  }

 private:
  void read_shard(const std::string& shard);

  const CheckpointIndex& index_;
  std::filesystem::path folder_;
  Problems problems_;
  SafetensorsHeader whole_{};
  std::set<std::string> found_{};
};

void ShardReader::read_shard(const std::string& shard) {
  Result<SafetensorsHeader> read = read_safetensors(folder_ / shard);
  if (!read) return problems_.append(read.diagnostics());
  SafetensorsHeader part = std::move(read).value();
  for (SafetensorsTensor& tensor : part.tensors) {
    const auto where = index_.weight_map.find(tensor.name);
    if (where == index_.weight_map.end()) {
      problems_.add(tensor.name, fmt::format("{} has it, the index does not", printable(shard)));
    } else if (where->second != shard) {
      problems_.add(tensor.name, fmt::format("{} has it, but the index says {}", printable(shard),
                                             printable(where->second)));
    }
    found_.insert(tensor.name);
    tensor.part = static_cast<int64_t>(whole_.parts.size());
    whole_.tensors.push_back(std::move(tensor));
  }
  if (whole_.parts.empty()) whole_.metadata = std::move(part.metadata);
  whole_.parts.push_back(std::move(part.parts.front()));
}

}  // namespace

std::vector<std::string> CheckpointIndex::shards() const {
  std::set<std::string> files;
  for (const auto& [tensor, shard] : weight_map) files.insert(shard);
  return {files.begin(), files.end()};
}

Result<CheckpointIndex> parse_checkpoint_index(const std::string& file, std::string_view text) {
  Problems problems(file);
  CheckpointIndex index{.file = file};
  IndexHandler handler(index, problems);
  if (parse_json(text, 0, handler, problems) && problems.empty() && !handler.has_map) {
    problems.add("weight_map", "the key is missing");
  }
  if (!problems.empty()) return problems.take();
  return index;
}

Result<CheckpointIndex> read_checkpoint_index(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path, kMostIndexBytes);
  if (!text) return text.diagnostics();
  return parse_checkpoint_index(path.string(), *text);
}

std::vector<std::string> missing_shards(const CheckpointIndex& index,
                                        const std::filesystem::path& folder) {
  std::vector<std::string> missing;
  for (std::string& shard : index.shards()) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(folder / shard, error)) {
      missing.push_back(std::move(shard));
    }
  }
  return missing;
}

Result<SafetensorsHeader> read_safetensors_shards(const std::filesystem::path& path) {
  const Result<CheckpointIndex> index = read_checkpoint_index(path);
  if (!index) return index.diagnostics();
  return ShardReader(*index, path.parent_path()).read();
}

}  // namespace tidemark

// What llama.cpp reported for models of real dimensions: llamacpp/models.yaml, weights.csv and
// measured.csv of the folder that TIDEMARK_TEST_DATA names. The headers are put together here as
// llama.cpp's converters do it, independently of the planner's writer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "planner/import/gguf_header.h"
#include "planner/model/dtype.h"

namespace tidemark::testing {

using CsvRow = std::map<std::string, std::string>;
std::vector<CsvRow> read_csv(const std::filesystem::path& path);

// One model of models.yaml; a list is kept as it stands: "[0, 8]".
using YamlModel = std::map<std::string, std::string>;
std::map<std::string, YamlModel> read_yaml_models(const std::filesystem::path& path);

// A number of the model, or `absent`.
int64_t number(const YamlModel& model, const std::string& key, int64_t absent = 0);

// Keys and tensors of the file that a converter makes of the model called `name` in
// support/gguf_tensors.h, every tensor at f32.
GgufHeader converted_header(const std::string& name, const YamlModel& model);

// What is asked for.
struct ContextRequest {
  int64_t n_ctx = 0;  // 0 = as trained
  int64_t n_ctx_train = 0;
  int64_t n_batch = 0;
  int64_t n_ubatch = 0;  // 0 = n_batch
  int64_t n_seq = 1;
  bool unified = false;
};

// What comes of it.
struct ContextShape {
  int64_t n_ctx = 0;
  int64_t n_ctx_seq = 0;
  int64_t n_batch = 0;
  int64_t n_ubatch = 0;
  bool operator==(const ContextShape&) const = default;
};

// Contexts become multiples of 256, after the batches were cut to them.
//   n_ctx 1000, 3 sequences, apart: 1000 -> 1024; 1024 / 3 = 341 -> 512 each, 1536 in all.
// Source: llama.cpp src/llama-context.cpp, the constructor.
ContextShape rounded_context(const ContextRequest& request);

}  // namespace tidemark::testing

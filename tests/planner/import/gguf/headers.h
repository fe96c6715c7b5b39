// Headers of GGUF files put together in a line or two, and read.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "planner/import/gguf/gguf_model.h"
#include "planner/import/gguf_reader.h"
#include "planner/import/gguf_writer.h"
#include "support/sparse_source.h"

namespace tidemark::testing {

using Numbers = std::vector<std::pair<std::string, int64_t>>;
using Shapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

inline GgufValue text_value(const std::string& text) {
  return {.type = GgufType::kString, .element_type = GgufType::kString, .elements = {text}};
}

inline GgufValue number_value(int64_t value) { return {.elements = {value}}; }

// Every tensor at f32.
inline GgufHeader header_of(const std::string& architecture, const Numbers& keys,
                            const Shapes& tensors) {
  GgufHeader header;
  header.parts = {{.file = "x.gguf"}};
  header.keys["general.architecture"] = text_value(architecture);
  for (const auto& [key, value] : keys) {
    header.keys[architecture + "." + key] = number_value(value);
  }
  for (const auto& [name, dims] : tensors) {
    header.tensors.push_back({.name = name, .dims = dims});
  }
  return header;
}

// Written and read again, as a file would be.
inline Result<GgufHeader> through_bytes(const GgufHeader& header) {
  const Result<GgufHeader> laid_out = lay_out_gguf("x.gguf", header);
  if (!laid_out) return laid_out;
  SparseSource source(encode_gguf_header(*laid_out), laid_out->parts.front().file_bytes.count());
  return parse_gguf_header("x.gguf", source);
}

inline Result<ImportedModel> model_of(const GgufHeader& header, bool assume_dense = false) {
  return model_of_gguf(header, {.assume_dense = assume_dense});
}

}  // namespace tidemark::testing

// GGUF file types (general.file_type), as llama-quantize names them. Most are mixes: gguf_recipe.h
// says which tensor gets what.
// Source: llama.cpp include/llama.h (ids), src/llama-quant.cpp (base types), tools/quantize
// (names).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "planner/model/dtype.h"

namespace tidemark {

enum class FileType {
  kF32,
  kF16,
  kBf16,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2K,
  kQ2KS,
  kQ3KS,
  kQ3KM,
  kQ3KL,
  kQ4KS,
  kQ4KM,
  kQ5KS,
  kQ5KM,
  kQ6K,
  kIq1S,
  kIq1M,
  kIq2Xxs,
  kIq2Xs,
  kIq2S,
  kIq2M,
  kIq3Xxs,
  kIq3Xs,
  kIq3S,
  kIq3M,
  kIq4Nl,
  kIq4Xs,
  kTq1_0,
  kTq2_0,
  kMxfp4Moe,
  kQ1_0,
  kQ2_0
};

struct FileTypeInfo {
  FileType type = FileType::kF32;
  std::string_view name{};   // "Q4_K_M"
  int32_t id = 0;            // general.file_type
  DType base = DType::kF32;  // what a tensor gets that no rule picks out
  int32_t centibits = 0;     // hundredths of a bit per weight for Llama-3.1-8B, for display
};

std::span<const FileTypeInfo> file_types();  // in the order of FileType
const FileTypeInfo& file_type_of(FileType type);

// By name, ignoring case. Q3_K, Q4_K and Q5_K are llama-quantize's short names of the _M types.
std::optional<FileType> parse_file_type(std::string_view name);

// By general.file_type; retired and unknown ids are none.
std::optional<FileType> file_type_of_id(int64_t id);

}  // namespace tidemark

// Every tensor type of ggml by its number in a GGUF file, with its block: a row of `ne0` values is
// ne0 / block_elements whole blocks of block_bytes.
//
//   Q4_K (12), row of 4,096: 4,096 / 256 = 16 blocks x 144 B = 2,304 B.
//   Checked by GgmlTypesTest.RowsByHand.
// Source: ggml's table of type traits (ggml.c) and its block structs (ggml-common.h), 0.21.0.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tidemark {

struct GgmlType {
  uint32_t id = 0;
  std::string_view name{};     // as ggml spells it: "F32", "Q4_K", "IQ2_XXS"
  int64_t block_elements = 1;  // 0: retired, no file may use it any more
  int64_t block_bytes = 4;
  bool operator==(const GgmlType&) const = default;
};

// All types in the order of their ids, the retired ones as well.
std::span<const GgmlType> ggml_types();

// nullptr: no such type.
const GgmlType* find_ggml_type(uint32_t id);
const GgmlType* find_ggml_type(std::string_view name);

inline bool is_retired(const GgmlType& type) { return type.block_elements == 0; }

}  // namespace tidemark

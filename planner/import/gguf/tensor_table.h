// The tensor table of a file, asked for by the names this project uses.
//
//   bert, block 3: find("post_attention_norm.weight") -> "blk.3.attn_output_norm.weight"
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "planner/import/gguf/architecture.h"
#include "planner/import/gguf_header.h"
#include "planner/model/model_spec.h"

namespace tidemark {

// `header` and `architecture` must outlive the table.
class TensorTable {
 public:
  TensorTable(const GgufHeader& header, const GgufArchitecture& architecture);

  const StoredTensor* find(std::string_view file_name) const;
  const std::vector<StoredTensor>& tensors() const { return tensors_; }  // in file order
  const GgufArchitecture& architecture() const { return architecture_; }
  // Known extras with this prefix ("blk.3." or ""), by name, and named without it.
  std::vector<ExtraWeight> extras(std::string_view prefix) const;

 private:
  const GgufArchitecture& architecture_;
  std::vector<StoredTensor> tensors_{};
  std::map<std::string, size_t, std::less<>> by_name_{};
};

// One layer of the table, or with an empty prefix what stands outside the layers.
class TensorBlock {
 public:
  TensorBlock(const TensorTable& table, std::string prefix)
      : table_(table), prefix_(std::move(prefix)) {}

  const std::string& prefix() const { return prefix_; }
  const StoredTensor* find(std::string_view ours) const;  // "ffn_norm.weight"
  bool has(std::string_view ours) const { return find(ours) != nullptr; }
  // Extent of a tensor; 0 when it is not there.
  int64_t columns(std::string_view ours) const;
  int64_t rows(std::string_view ours) const;
  // By what is stored of it: kScale, kScaleAndShift, or `absent`.
  NormKind norm(std::string_view stem, NormKind absent = NormKind::kNone) const;
  std::vector<ExtraWeight> extras() const { return table_.extras(prefix_); }
  const GgufArchitecture& architecture() const { return table_.architecture(); }

 private:
  const TensorTable& table_;
  std::string prefix_;
};

}  // namespace tidemark

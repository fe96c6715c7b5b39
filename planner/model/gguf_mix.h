// The rules of the mixes, one tensor after the other in the quantizer's order. Behind choose_types.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "planner/model/gguf_names.h"
#include "planner/model/gguf_recipe.h"

namespace tidemark {

class GgufMix {
 public:
  GgufMix(const RecipeModel& model, std::span<const RecipeTensor> tensors,
          const RecipeChoice& choice);

  // The type of the next tensor, before its shape is looked at. Counts it. None: the rule needs the
  // layer's number and the name has none.
  std::optional<DType> next(const RecipeTensor& tensor);

 private:
  DType output(const RecipeTensor& tensor) const;
  DType embedding() const;
  DType low_bits(TensorKindByName kind);
  DType value();
  DType key_or_query(TensorKindByName kind) const;
  DType down(int64_t layer) const;
  DType attention_output() const;
  DType gate_or_up(int64_t layer) const;
  std::optional<int64_t> layer(const RecipeTensor& tensor, int64_t counted) const;
  bool is_one_of(std::initializer_list<FileType> types) const;
  bool gets_more_bits(int64_t i, int64_t n) const;

  FileType type_ = FileType::kF16;
  DType base_ = DType::kF16;
  bool importance_ = false;
  bool falcon_ = false;
  bool seventy_billion_ = false;
  bool tied_ = true;
  int64_t n_layer_ = 0;
  int64_t n_expert_ = 0;
  int64_t gqa_ = 0;      // query heads per KV head of layer 0
  int64_t n_value_ = 0;  // value-like tensors in the model
  int64_t i_value_ = 0;  // ... visited so far
  int64_t i_down_ = 0;
  int64_t i_gate_ = 0;
  int64_t i_up_ = 0;
};

// The type that replaces one whose blocks the row does not fill; none = the quantizer refuses.
std::optional<DType> fallback_type(DType dtype);

}  // namespace tidemark

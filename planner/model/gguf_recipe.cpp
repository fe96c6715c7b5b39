#include "planner/model/gguf_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "planner/base/check.h"
#include "planner/model/gguf_mix.h"
#include "planner/model/gguf_names.h"

namespace tidemark {
namespace {

bool is_plain(FileType type) {
  return type == FileType::kF32 || type == FileType::kF16 || type == FileType::kBf16;
}

std::vector<size_t> visiting_order(std::span<const RecipeTensor> tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return visited_before(tensors[a].name, tensors[b].name); });
  return order;
}

std::optional<DType> overridden(std::string_view name, std::span<const TypeOverride> overrides) {
  const auto found = std::ranges::find_if(
      overrides, [&](const TypeOverride& entry) { return entry.pattern.found_in(name); });
  return found == overrides.end() ? std::nullopt : std::optional(found->dtype);
}

Diagnostic no_fallback(const RecipeTensor& tensor, DType dtype) {
  return {.path = std::string(tensor.name),
          .message = fmt::format("{} columns do not fill the blocks of {}, which are of {}",
                                 tensor.columns, name_of(dtype), format_of(dtype).block_elements),
          .hint =
              "the quantizer refuses this file: it has a fallback only from types with longer "
              "blocks; choose such a file type (Q4_K_M) or another type for this tensor"};
}

Diagnostic no_layer(const RecipeTensor& tensor, int64_t n_layer) {
  return {.path = std::string(tensor.name),
          .message = fmt::format("the name states no layer below {}", n_layer),
          .hint =
              "the feed-forward tensors of a mixture of experts are mixed by the layer in their "
              "names: blk.0.ffn_down_exps.weight"};
}

// A model repeats a bad tensor in every layer; the first few say it all.
Diagnostics shortened(Diagnostics refused) {
  constexpr size_t kShown = 8;
  if (refused.size() <= kShown) return refused;
  const size_t more = refused.size() - kShown;
  refused.resize(kShown);
  refused.push_back({.path = "tensors", .message = fmt::format("and {} more", more)});
  return refused;
}

}  // namespace

std::optional<DType> fallback_type(DType dtype) {
  switch (dtype) {
    case DType::kIq1S:
    case DType::kIq1M:
    case DType::kIq2Xxs:
    case DType::kIq2Xs:
    case DType::kIq2S:
    case DType::kIq3Xxs:
    case DType::kIq3S:
    case DType::kIq4Xs:
      return DType::kIq4Nl;
    case DType::kQ2_0:
    case DType::kQ2K:
    case DType::kQ3K:
    case DType::kTq1_0:
    case DType::kTq2_0:
      return DType::kQ4_0;
    case DType::kQ4K:
      return DType::kQ5_0;
    case DType::kQ5K:
      return DType::kQ5_1;
    case DType::kQ6K:
      return DType::kQ8_0;
    default:
      return std::nullopt;
  }
}

bool is_quantizable(const RecipeTensor& tensor) {
  return (tensor.rows > 1 || tensor.count > 1) && !is_kept_by_name(tensor.name);
}

DType converted_type(const RecipeTensor& tensor, DType wide) {
  const bool is_vector = tensor.rows <= 1 && tensor.count <= 1;
  return is_vector || is_f32_by_name(tensor.name) ? DType::kF32 : wide;
}

bool wants_importance_matrix(std::string_view name, DType dtype, FileType type) {
  const TensorKindByName kind = kind_by_name(name);
  if (kind == TensorKindByName::kEmbedding || kind == TensorKindByName::kOutput) return false;
  switch (dtype) {
    case DType::kIq1S:
    case DType::kIq1M:
    case DType::kIq2Xxs:
    case DType::kIq2Xs:
    case DType::kIq2S:
    case DType::kIq3Xxs:
      return true;
    case DType::kQ2K:
      return type == FileType::kQ2KS;
    default:
      return false;
  }
}

Result<std::vector<DType>> choose_types(const RecipeModel& model,
                                        std::span<const RecipeTensor> tensors,
                                        const RecipeChoice& choice) {
  const DType base = file_type_of(choice.type).base;
  const DType wide = is_plain(choice.type) ? base : DType::kF16;
  std::vector<DType> types(tensors.size(), base);
  GgufMix mix(model, tensors, choice);
  Diagnostics refused;
  for (const size_t index : visiting_order(tensors)) {
    const RecipeTensor& tensor = tensors[index];
    if (is_plain(choice.type) || !is_quantizable(tensor)) {
      types[index] = converted_type(tensor, wide);
      continue;
    }
    // A tensor with an override is not counted by the mix either.
    std::optional<DType> dtype = overridden(tensor.name, choice.overrides);
    if (!dtype) dtype = choice.pure ? base : mix.next(tensor);
    if (!dtype) {
      refused.push_back(no_layer(tensor, model.n_layer));
      continue;
    }
    if (!divides(*dtype, tensor.columns)) {
      const std::optional<DType> fallback = fallback_type(*dtype);
      if (!fallback) refused.push_back(no_fallback(tensor, *dtype));
      dtype = fallback && divides(*fallback, tensor.columns) ? *fallback : DType::kF16;
    }
    types[index] = *dtype;
  }
  if (!refused.empty()) return shortened(std::move(refused));
  return types;
}

}  // namespace tidemark

#include "sim/quant/quant_scheme.h"

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

constexpr QuantScheme integers(DType dtype, int bits, bool asymmetric, Granularity granularity,
                               int64_t group = 0) {
  return {.dtype = dtype,
          .integer = {.bits = bits, .asymmetric = asymmetric},
          .granularity = granularity,
          .group = group};
}

constexpr QuantScheme other(DType dtype, QuantScheme::Method method) {
  return {.dtype = dtype, .method = method};
}

using enum Granularity;

// In the order of DType.
constexpr std::array kSchemes = {
    other(DType::kF16, QuantScheme::Method::kCast),
    other(DType::kBf16, QuantScheme::Method::kCast),
    integers(DType::kInt8, 8, false, kChannel),
    integers(DType::kInt4, 4, false, kChannel),
    other(DType::kQ8_0, QuantScheme::Method::kBlocks),
    other(DType::kQ4_0, QuantScheme::Method::kBlocks),
    integers(DType::kInt8Tensor, 8, false, kTensor),
    integers(DType::kInt8G32, 8, false, kGroup, 32),
    integers(DType::kInt8G64, 8, false, kGroup, 64),
    integers(DType::kInt8G128, 8, false, kGroup, 128),
    integers(DType::kInt8TensorZp, 8, true, kTensor),
    integers(DType::kInt8ChannelZp, 8, true, kChannel),
    integers(DType::kInt8G32Zp, 8, true, kGroup, 32),
    integers(DType::kInt8G64Zp, 8, true, kGroup, 64),
    integers(DType::kInt8G128Zp, 8, true, kGroup, 128),
    integers(DType::kInt4Tensor, 4, false, kTensor),
    integers(DType::kInt4G32, 4, false, kGroup, 32),
    integers(DType::kInt4G64, 4, false, kGroup, 64),
    integers(DType::kInt4G128, 4, false, kGroup, 128),
    integers(DType::kInt4TensorZp, 4, true, kTensor),
    integers(DType::kInt4ChannelZp, 4, true, kChannel),
    integers(DType::kInt4G32Zp, 4, true, kGroup, 32),
    integers(DType::kInt4G64Zp, 4, true, kGroup, 64),
    integers(DType::kInt4G128Zp, 4, true, kGroup, 128),
};

}  // namespace

bool is_per_tensor(const QuantScheme& scheme) {
  return scheme.method == QuantScheme::Method::kInteger &&
         scheme.granularity == Granularity::kTensor;
}

std::optional<QuantScheme> quant_scheme(DType dtype) {
  const auto found = std::ranges::find(kSchemes, dtype, &QuantScheme::dtype);
  return found == kSchemes.end() ? std::nullopt : std::optional(*found);
}

std::optional<DType> integer_dtype(IntegerFormat format, Granularity granularity, int64_t group) {
  const auto found = std::ranges::find_if(kSchemes, [&](const QuantScheme& scheme) {
    return scheme.method == QuantScheme::Method::kInteger && scheme.integer == format &&
           scheme.granularity == granularity && (granularity != kGroup || scheme.group == group);
  });
  return found == kSchemes.end() ? std::nullopt : std::optional(found->dtype);
}

std::vector<std::string> measurable_formats() {
  std::vector<std::string> names;
  for (const QuantScheme& scheme : kSchemes) names.emplace_back(name_of(scheme.dtype));
  return names;
}

bool takes_rows_of(DType dtype, int64_t columns) {
  return ggml_id_of(dtype) < 0 || divides(dtype, columns);
}

}  // namespace tidemark

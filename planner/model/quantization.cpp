#include "planner/model/quantization.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "planner/base/check.h"
#include "planner/model/gguf_mix.h"
#include "planner/model/gguf_names.h"

namespace tidemark {
namespace {

constexpr std::string_view kAsStored = "as-stored";

// What becomes of the tensors that a format's own tool leaves alone.
struct FormatRule {
  DType first = DType::kF32;  // the formats from here ...
  DType last = DType::kF32;   // ... to here, in the order of DType
  DType small = DType::kF32;  // vectors, norms, routers, small recurrent tensors
  DType wide = DType::kF16;   // matrices that are left alone, or do not fit
  bool embedding = true;      // is an embedding of its own quantized?
  bool head = true;           // is the output matrix (tied or not) quantized?
  std::string_view summary{};
};

// Sources. fp8: DeepSeek-V3's checkpoint notes (embedding, head, routers and norms in bf16).
// GPTQ, AWQ: AutoGPTQ and AutoAWQ replace the linear layers inside the blocks only, in an fp16
// model. bitsandbytes: transformers' get_keys_to_not_convert keeps the head (and what is tied to
// it), embeddings are no linear layers. MLC: quantize_embedding and quantize_final_fc of its
// registry, routers excepted. MNN: its LLM guide (a tied matrix is the quantized head, else
// embeddings_bf16.bin); f32 vectors not verified. TFLite: its int8 specification, int32 biases.
// gpt-oss: its checkpoint keeps everything but the experts
// in bf16. BitNet: the published 2B4T GGUF (f16 embedding, f32 norms). MLX: nn.quantize takes
// linear layers and embeddings whose columns the group divides; routers at f16 not verified.
constexpr std::array<FormatRule, 10> kRules = {{
    {.first = DType::kMxfp4,
     .last = DType::kMxfp4,
     .small = DType::kBf16,
     .wide = DType::kBf16,
     .embedding = false,
     .head = false,
     .summary = "the experts, bf16 elsewhere; without experts all inside the layers"},
    {.first = DType::kF32, .last = DType::kQ2_0, .summary = "one GGML type for all matrices"},
    {.first = DType::kFp8E4m3,
     .last = DType::kFp8E4m3B128,
     .small = DType::kBf16,
     .wide = DType::kBf16,
     .embedding = false,
     .head = false,
     .summary = "fp8 inside the layers, bf16 elsewhere"},
    {.first = DType::kInt8Tensor,
     .last = DType::kInt4G128Zp,
     .summary = "integers with fp16 scales for all matrices"},
    {.first = DType::kGptq2G32,
     .last = DType::kAwq4G128,
     .small = DType::kF16,
     .embedding = false,
     .head = false,
     .summary = "packed integers inside the layers, f16 elsewhere"},
    {.first = DType::kBnbInt8,
     .last = DType::kBnbFp4Dq,
     .small = DType::kF16,
     .embedding = false,
     .head = false,
     .summary = "bitsandbytes inside the layers, f16 elsewhere"},
    {.first = DType::kMlcQ3f16,
     .last = DType::kMlcQ4f16_1,
     .small = DType::kF16,
     .summary = "MLC groups for all matrices"},
    {.first = DType::kMnnInt4,
     .last = DType::kMnnInt8B128,
     .wide = DType::kBf16,
     .embedding = false,
     .summary = "MNN blocks; an embedding of its own in bf16"},
    {.first = DType::kTfliteInt8,
     .last = DType::kTfliteInt8,
     .summary = "TFLite int8 per output channel for all matrices"},
    {.first = DType::kBitnetI2S,
     .last = DType::kBitnetI2S,
     .embedding = false,
     .head = false,
     .summary = "ternary inside the layers, f16 elsewhere"},
}};

constexpr FormatRule kMlxRule = {.first = DType::kMlx2G32,
                                 .last = DType::kMlx8G128,
                                 .small = DType::kF16,
                                 .summary = "MLX groups for all matrices"};

const FormatRule& rule_of(DType dtype) {
  const auto found = std::ranges::find_if(
      kRules, [&](const FormatRule& rule) { return rule.first <= dtype && dtype <= rule.last; });
  return found == kRules.end() ? kMlxRule : *found;
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Formats that stand under their own name: no file type is called so, and a model can be in it.
bool is_offered(const Format& format) {
  const bool is_for_activations = format.dtype == DType::kQ8_1 || format.dtype == DType::kQ8K;
  return format.quantized && !is_for_activations && !parse_file_type(format.name);
}

std::string_view summary_of(DType format) {
  if (format == DType::kInt8 || format == DType::kInt4) {
    return "symmetric, one fp16 scale a row, for all matrices";
  }
  return rule_of(format).summary;
}

std::vector<QuantizationInfo> make_table() {
  std::vector<QuantizationInfo> table;
  table.push_back({.name = std::string(kAsStored), .summary = "as the model file holds it"});
  for (const FileTypeInfo& type : file_types()) {
    const bool is_mix = format_of(type.base).quantized;
    table.push_back({.name = std::string(type.name),
                     .kind = QuantKind::kFileType,
                     .bits_per_weight = type.centibits / 100.0,
                     .summary = fmt::format("GGUF file type, {}{}",
                                            is_mix ? "mostly " : "matrices ", name_of(type.base))});
  }
  for (const Format& format : formats()) {
    if (!is_offered(format)) continue;
    table.push_back({.name = std::string(format.name),
                     .kind = QuantKind::kFormat,
                     .bits_per_weight = bits_per_weight(format.dtype),
                     .summary = std::string(summary_of(format.dtype))});
  }
  return table;
}

// What decides for all tensors of a model alike.
struct ModelTraits {
  bool tied = false;
  bool has_experts = false;
};

DType under_format(const RecipeTensor& tensor, DType format, const ModelTraits& model) {
  const FormatRule& rule = rule_of(format);
  if (!is_quantizable(tensor)) return rule.small;
  if (format == DType::kMxfp4 && model.has_experts && tensor.count <= 1) return rule.wide;
  const TensorKindByName kind = kind_by_name(tensor.name);
  const bool is_head =
      kind == TensorKindByName::kOutput || (model.tied && tensor.name == "token_embd.weight");
  if (is_head && !rule.head) return rule.wide;
  if (!is_head && kind == TensorKindByName::kEmbedding && !rule.embedding) return rule.wide;
  if (ggml_id_of(format) < 0) return fits(format, tensor.columns, tensor.rows) ? format : rule.wide;
  while (!divides(format, tensor.columns)) format = fallback_type(format).value_or(rule.wide);
  return format;
}

std::vector<DType> without_recipe(std::span<const RecipeTensor> tensors,
                                  std::span<const DType> stored, const Quantization& quantization) {
  const auto is_head = [](const RecipeTensor& tensor) { return tensor.name == "output.weight"; };
  const auto is_expert = [](const RecipeTensor& tensor) {
    return tensor.name.ends_with("_exps.weight");
  };
  const ModelTraits model{.tied = std::ranges::none_of(tensors, is_head),
                          .has_experts = std::ranges::any_of(tensors, is_expert)};
  std::vector<DType> types(stored.begin(), stored.end());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (quantization.kind == QuantKind::kFormat) {
      types[i] = under_format(tensors[i], quantization.format, model);
    }
    if (!is_quantizable(tensors[i])) continue;
    for (const TypeOverride& entry : quantization.overrides) {
      if (!entry.pattern.found_in(tensors[i].name)) continue;
      types[i] = entry.dtype;
      while (!divides(types[i], tensors[i].columns)) {
        types[i] = fallback_type(types[i]).value_or(DType::kF16);
      }
      break;
    }
  }
  return types;
}

Result<TypeOverride> parse_override(std::string_view text) {
  const size_t sign = text.rfind('=');
  if (sign == std::string_view::npos || sign == 0 || sign + 1 == text.size()) {
    return one_error(in_quotes(text), "is not PATTERN=TYPE", "for example: attn_v=Q6_K");
  }
  const std::string_view name = text.substr(sign + 1);
  const std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || ggml_id_of(*dtype) < 0) {
    return one_error(in_quotes(text), in_quotes(name) + " is not a GGML tensor type",
                     "for example: f16, Q8_0, Q4_K, IQ4_NL");
  }
  const Result<TensorPattern> pattern = TensorPattern::parse(text.substr(0, sign));
  if (!pattern) return pattern.diagnostics();
  return TypeOverride{.pattern = *pattern, .dtype = *dtype};
}

}  // namespace

std::span<const QuantizationInfo> quantizations() {
  static const std::vector<QuantizationInfo> table = make_table();
  return table;
}

std::vector<std::string> quantization_names() {
  std::vector<std::string> names;
  for (const QuantizationInfo& info : quantizations()) names.push_back(info.name);
  return names;
}

std::optional<Quantization> parse_quantization(std::string_view name) {
  if (same_ignoring_case(name, kAsStored)) return Quantization{};
  std::optional<FileType> type = parse_file_type(name);
  const std::optional<DType> dtype = parse_dtype(name);
  if (!type && dtype) type = parse_file_type(name_of(*dtype));  // fp16, float32
  if (type) return Quantization{.kind = QuantKind::kFileType, .file_type = *type};
  if (!dtype || !is_offered(format_of(*dtype))) return std::nullopt;
  return Quantization{.kind = QuantKind::kFormat, .format = *dtype};
}

std::string_view name_of(const Quantization& quantization) {
  switch (quantization.kind) {
    case QuantKind::kFileType:
      return file_type_of(quantization.file_type).name;
    case QuantKind::kFormat:
      return name_of(quantization.format);
    case QuantKind::kAsStored:
      break;
  }
  return kAsStored;
}

Result<std::vector<TypeOverride>> parse_overrides(std::string_view text) {
  std::vector<TypeOverride> overrides;
  Diagnostics problems;
  while (true) {
    const size_t end = std::min(text.find(','), text.size());
    const Result<TypeOverride> entry = parse_override(text.substr(0, end));
    if (entry) {
      overrides.push_back(*entry);
    } else {
      problems.insert(problems.end(), entry.diagnostics().begin(), entry.diagnostics().end());
    }
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  if (!problems.empty()) return problems;
  return overrides;
}

Result<std::vector<DType>> tensor_types(const RecipeModel& model,
                                        std::span<const RecipeTensor> tensors,
                                        std::span<const DType> stored,
                                        const Quantization& quantization) {
  check(stored.size() == tensors.size(), "every tensor states the type it is stored in");
  if (quantization.kind != QuantKind::kFileType) {
    return without_recipe(tensors, stored, quantization);
  }
  return choose_types(model, tensors,
                      {.type = quantization.file_type,
                       .pure = quantization.pure,
                       .importance_matrix = quantization.importance_matrix,
                       .overrides = quantization.overrides});
}

}  // namespace tidemark

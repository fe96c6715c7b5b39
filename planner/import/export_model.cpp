#include "planner/import/export_model.h"

#include <fmt/core.h>

#include "planner/import/gguf/gguf_metadata.h"
#include "planner/import/gguf_writer.h"
#include "planner/import/safetensors_writer.h"
#include "planner/model/quantized_weights.h"

namespace tidemark {
namespace {

Result<ExportedFile> write_as_gguf(const ModelSpec& model, const Quantization& quantization,
                                   const WeightsInventory& weights,
                                   const std::filesystem::path& path) {
  std::vector<DType> types;
  for (const WeightTensor& tensor : weights.tensors) {
    if (ggml_id_of(tensor.dtype) < 0) {
      return one_error("--quant", fmt::format("GGUF has no tensors of {}", name_of(tensor.dtype)),
                       "name a GGUF file type, such as Q4_K_M");
    }
    types.push_back(tensor.dtype);
  }
  const bool is_named = quantization.kind == QuantKind::kFileType;
  const auto file_type = is_named ? std::optional(quantization.file_type) : std::nullopt;
  const Result<GgufHeader> header = gguf_of_model(model, types, file_type);
  if (!header) return header.diagnostics();
  const Result<GgufHeader> written = write_gguf(path, *header);
  if (!written) return written.diagnostics();
  return ExportedFile{.tensors = static_cast<int64_t>(written->tensors.size()),
                      .header_bytes = written->data_offset(),
                      .file_bytes = written->parts.front().file_bytes};
}

std::optional<SafetensorsDType> safetensors_type(DType dtype) {
  if (dtype == DType::kF32) return SafetensorsDType::kF32;
  if (dtype == DType::kF16) return SafetensorsDType::kF16;
  if (dtype == DType::kBf16) return SafetensorsDType::kBf16;
  return std::nullopt;
}

Result<ExportedFile> write_as_safetensors(const WeightsInventory& weights,
                                          const std::filesystem::path& path) {
  SafetensorsHeader header;
  for (const WeightTensor& tensor : weights.tensors) {
    const std::optional<SafetensorsDType> type = safetensors_type(tensor.dtype);
    if (!type) {
      return one_error("--quant", fmt::format("safetensors has no {}", name_of(tensor.dtype)),
                       "there are f32, f16 and bf16; the quantized formats are GGUF's");
    }
    std::vector<int64_t> shape = {tensor.rows, tensor.columns};
    if (tensor.count > 1) shape.insert(shape.begin(), tensor.count);
    if (tensor.rows == 1 && tensor.count == 1) shape = {tensor.columns};
    header.tensors.push_back({.name = tensor.name, .dtype = *type, .shape = std::move(shape)});
  }
  const Result<SafetensorsHeader> written = write_safetensors(path, header);
  if (!written) return written.diagnostics();
  return ExportedFile{.tensors = static_cast<int64_t>(written->tensors.size()),
                      .header_bytes = written->parts.front().data_offset,
                      .file_bytes = written->parts.front().file_bytes};
}

}  // namespace

Result<ExportedFile> export_model(const ModelSpec& model, std::string_view quant,
                                  const std::filesystem::path& path) {
  const std::optional<Quantization> quantization = parse_quantization(quant);
  if (!quantization) {
    return one_error("--quant", fmt::format("{} is not a weight format", in_quotes(quant)),
                     "`tidemark list quants` shows all");
  }
  if (model.layer_list() != nullptr) {
    return one_error("model", fmt::format("{} states sizes, which make no tensors", model.name),
                     "name a model with dimensions");
  }
  const Result<WeightsInventory> weights = quantized_weights(model, *quantization);
  if (!weights) return weights.diagnostics();
  // A checkpoint has one type for all; only GGUF files keep norms in f32.
  const bool is_whole = quantization->kind == QuantKind::kFileType &&
                        !format_of(file_type_of(quantization->file_type).base).quantized;
  if (path.extension() == ".safetensors" && is_whole) {
    const DType dtype = file_type_of(quantization->file_type).base;
    return write_as_safetensors(weights_inventory(model, dtype), path);
  }
  if (path.extension() == ".gguf") return write_as_gguf(model, *quantization, *weights, path);
  if (path.extension() == ".safetensors") return write_as_safetensors(*weights, path);
  return one_error("--output",
                   fmt::format("{} is no kind of file that is written here",
                               in_quotes(path.extension().string())),
                   "end the name in .gguf or .safetensors");
}

}  // namespace tidemark

#include "sim/quant/tensor_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "planner/base/units.h"
#include "planner/import/ggml_types.h"
#include "planner/import/gguf_reader.h"
#include "planner/import/problems.h"
#include "planner/import/safetensors_header.h"
#include "planner/import/safetensors_index.h"
#include "planner/model/gguf_names.h"
#include "sim/kernels/half.h"
#include "sim/kernels/matmul/block_rows.h"

namespace tidemark {
namespace {

StoredValues values_of(SafetensorsDType dtype) {
  if (dtype == SafetensorsDType::kF32) return StoredValues::kF32;
  if (dtype == SafetensorsDType::kF16) return StoredValues::kF16;
  return dtype == SafetensorsDType::kBf16 ? StoredValues::kBf16 : StoredValues::kOther;
}

StoredValues values_of(std::string_view ggml_name) {
  if (ggml_name == "F32") return StoredValues::kF32;
  if (ggml_name == "F16") return StoredValues::kF16;
  if (ggml_name == "BF16") return StoredValues::kBf16;
  if (ggml_name == "Q8_0") return StoredValues::kQ8_0;
  return ggml_name == "Q4_0" ? StoredValues::kQ4_0 : StoredValues::kOther;
}

// Bytes of a row of a type that can be read.
int64_t bytes_of_row(StoredValues values, int64_t columns) {
  switch (values) {
    case StoredValues::kF32:
      return checked_mul(columns, 4);
    case StoredValues::kF16:
    case StoredValues::kBf16:
      return checked_mul(columns, 2);
    case StoredValues::kQ8_0:
      return row_format_bytes(RowFormat::kQ8_0, columns);
    case StoredValues::kQ4_0:
      return row_format_bytes(RowFormat::kQ4_0, columns);
    case StoredValues::kOther:
      break;
  }
  check(false, "only rows of floats are read");
  return 0;
}

uint16_t u16_at(std::span<const std::byte> bytes, size_t index) {
  return static_cast<uint16_t>(std::to_integer<unsigned>(bytes[2 * index]) |
                               std::to_integer<unsigned>(bytes[2 * index + 1]) << 8);
}

// A block whose scale is not finite holds no numbers; to the kernels it is zeros, which would hide
// it.
void dequantize_blocks(RowFormat format, std::span<const std::byte> bytes,
                       std::span<float> values) {
  dequantize_row(format, bytes, values);
  const auto block = static_cast<size_t>(row_format_bytes(format, kBlockValues));
  constexpr auto kValues = static_cast<size_t>(kBlockValues);
  for (size_t i = 0; i * kValues < values.size(); ++i) {
    if (std::isfinite(half_to_float(u16_at(bytes.subspan(i * block), 0)))) continue;
    const auto broken = values.subspan(i * kValues, std::min(kValues, values.size() - i * kValues));
    std::ranges::fill(broken, std::numeric_limits<float>::quiet_NaN());
  }
}

void decode_row(StoredValues type, std::span<const std::byte> bytes, std::span<float> values) {
  switch (type) {
    case StoredValues::kF32:
      static_assert(std::endian::native == std::endian::little);
      std::memcpy(values.data(), bytes.data(), bytes.size());
      return;
    case StoredValues::kF16:
      for (size_t i = 0; i < values.size(); ++i) values[i] = half_to_float(u16_at(bytes, i));
      return;
    case StoredValues::kBf16:
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = std::bit_cast<float>(static_cast<uint32_t>(u16_at(bytes, i)) << 16);
      }
      return;
    case StoredValues::kQ8_0:
      return dequantize_blocks(RowFormat::kQ8_0, bytes, values);
    case StoredValues::kQ4_0:
      return dequantize_blocks(RowFormat::kQ4_0, bytes, values);
    case StoredValues::kOther:
      return;
  }
}

Result<TensorFile> from_safetensors(const Result<SafetensorsHeader>& header) {
  if (!header) return header.diagnostics();
  TensorFile file{.format = "safetensors"};
  for (const SafetensorsPart& part : header->parts) file.parts.push_back(part.file);
  for (const SafetensorsTensor& tensor : header->tensors) {
    const SafetensorsPart& part = header->parts[static_cast<size_t>(tensor.part)];
    file.tensors.push_back({.name = tensor.name,
                            .shape = tensor.shape,
                            .type = std::string(name_of(tensor.dtype)),
                            .values = values_of(tensor.dtype),
                            .begin = part.data_offset + tensor.begin,
                            .bytes = tensor.bytes(),
                            .part = tensor.part});
  }
  return file;
}

Result<TensorFile> from_gguf(const Result<GgufHeader>& header) {
  if (!header) return header.diagnostics();
  TensorFile file{.format = fmt::format("GGUF v{}", header->version)};
  for (const GgufPart& part : header->parts) file.parts.push_back(part.file);
  Problems problems(file.parts.front());
  for (const GgufTensor& tensor : header->tensors) {
    const GgufPart& part = header->parts[static_cast<size_t>(tensor.part)];
    const std::string_view type = find_ggml_type(tensor.type_id)->name;
    FileTensor stored{.name = tensor.name,
                      .shape = {tensor.dims.rbegin(), tensor.dims.rend()},
                      .type = std::string(type),
                      .values = values_of(type),
                      .begin = part.data_offset + tensor.offset,
                      .bytes = tensor.bytes,
                      .part = tensor.part};
    if (stored.begin + stored.bytes > part.file_bytes) {
      problems.add(tensor.name,
                   fmt::format("its data reaches to byte {}, the file ends at {}",
                               (stored.begin + stored.bytes).count(), part.file_bytes.count()),
                   "the file was cut off: fetch it again");
    }
    file.tensors.push_back(std::move(stored));
  }
  if (!problems.empty()) return problems.take();
  return file;
}

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool contains_any(std::string_view name, std::span<const std::string_view> marks) {
  return std::ranges::any_of(
      marks, [&](std::string_view mark) { return name.find(mark) != std::string_view::npos; });
}

// Under the names of Hugging Face checkpoints: what becomes one of the tensors that GGUF's
// quantizer leaves alone.
bool is_kept_in_checkpoints(std::string_view name) {
  constexpr std::string_view kMarks[] = {"norm",       "router", "position",   "wpe.weight",
                                         "token_type", "conv1d", "patch_embed"};
  return contains_any(name, kMarks) || name.ends_with(".gate.weight") || name.ends_with("bias");
}

}  // namespace

int64_t FileTensor::rows() const {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) rows = checked_mul(rows, shape[i]);
  return rows;
}

Result<TensorFile> read_tensor_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    for (const char* name : {"model.safetensors.index.json", "model.safetensors"}) {
      if (is_file(path / name)) return read_tensor_file(path / name);
    }
    return one_error(path.string(), "no model.safetensors and no index of one in this folder",
                     "name the file itself");
  }
  if (std::filesystem::status(path, ignored).type() == std::filesystem::file_type::not_found) {
    if (path.empty()) return one_error("FILE", "\"\" names no file");
    return Diagnostics{{.where = {.file = path.string()}, .message = "cannot open: no such file"}};
  }
  const std::string extension = path.extension().string();
  if (extension == ".gguf") return from_gguf(read_gguf(path));
  if (extension == ".safetensors") return from_safetensors(read_safetensors(path));
  if (extension == ".json") return from_safetensors(read_safetensors_shards(path));
  return one_error(path.string(), "its ending says no format that is read here",
                   "name a .safetensors, a model.safetensors.index.json, the folder of one, or a "
                   ".gguf");
}

std::optional<std::string> why_kept(const FileTensor& tensor) {
  const int64_t rows = tensor.rows();
  if (rows == 0) return "without values";
  if (rows == 1 || tensor.columns() == 1) return "vectors";
  if (tensor.values == StoredValues::kOther) return "type " + tensor.type;
  const bool is_weight = tensor.name.ends_with("weight");
  if ((is_weight && is_kept_by_name(tensor.name)) || is_kept_in_checkpoints(tensor.name)) {
    return "norms, routers, positions and the like, by their names";
  }
  if (tensor.columns() > kLongestRow) {
    return fmt::format("rows of more than {} values", format_count(kLongestRow));
  }
  return std::nullopt;
}

std::optional<Diagnostics> RowReader::read(const FileTensor& tensor, int64_t first,
                                           std::span<float> values) {
  const int64_t columns = tensor.columns();
  const int64_t count = std::ssize(values) / columns;
  check(count * columns == std::ssize(values) && first >= 0 && count <= tensor.rows() - first,
        "whole rows of the tensor are read");
  const std::string& name = file_.parts.at(static_cast<size_t>(tensor.part));
  if (part_ != tensor.part) {
    source_.reset();
    Result<FileSource> opened = FileSource::open(name);
    if (!opened) return opened.diagnostics();
    source_.emplace(std::move(opened).value());
    part_ = tensor.part;
  }
  const int64_t row = bytes_of_row(tensor.values, columns);
  bytes_.resize(static_cast<size_t>(row * count));
  const int64_t begin = tensor.begin.count() + row * first;
  if (begin + row * count > source_->size() || !source_->read(begin, bytes_)) {
    Problems problems(name);
    problems.add(tensor.name, begin, "cannot read the values");
    return problems.take();
  }
  for (int64_t i = 0; i < count; ++i) {
    decode_row(tensor.values,
               std::span<const std::byte>(bytes_).subspan(static_cast<size_t>(i * row),
                                                          static_cast<size_t>(row)),
               values.subspan(static_cast<size_t>(i * columns), static_cast<size_t>(columns)));
  }
  return std::nullopt;
}

}  // namespace tidemark

// The tensors of a file of weights, and their rows as floats, a piece at a time.
//
//   model.safetensors {"w": BF16 [2, 3]} -> w, 2 rows of 3 columns, 12 B at its place in the file
//
// Read are safetensors files, the index of a set of them, the folder that holds either, and GGUF
// files. The last dimension (GGUF's first) is a row; all others together count the rows, so experts
// stacked in one tensor are rows below each other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/result.h"
#include "planner/import/byte_source.h"

namespace tidemark {

// What can be read as floats.
enum class StoredValues { kF32, kF16, kBf16, kQ8_0, kQ4_0, kOther };

struct FileTensor {
  std::string name{};
  std::vector<int64_t> shape{};  // outermost first, as in safetensors
  std::string type{};            // as the file calls it: "BF16", "Q8_0", "I64"
  StoredValues values = StoredValues::kOther;
  Bytes begin{};  // from the begin of its part
  Bytes bytes{};
  int64_t part = 0;
  bool operator==(const FileTensor&) const = default;

  int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  int64_t rows() const;  // 0 when a dimension is 0
};

struct TensorFile {
  std::string format{};               // "safetensors", "GGUF v3"
  std::vector<std::string> parts{};   // paths
  std::vector<FileTensor> tensors{};  // in the order of the data, part by part
};

// Errors: what the readers of headers refuse; no such file; an ending that no reader knows; a
// tensor that reaches beyond the end of its file.
Result<TensorFile> read_tensor_file(const std::filesystem::path& path);

// Why a quantizer leaves a tensor as it is, in words; nothing: it is quantized. Kept are vectors
// (one row or one column), what the planner's recipes never quantize and the same things under the
// names of Hugging Face checkpoints (norms, routers, positions, short convolutions), and values
// that are no floats.
std::optional<std::string> why_kept(const FileTensor& tensor);

// Rows longer than this are not read: 64 MiB as floats.
inline constexpr int64_t kLongestRow = int64_t{1} << 24;

// Reads one tensor after another; holds one file open and a buffer of one piece.
class RowReader {
 public:
  explicit RowReader(const TensorFile& file) : file_(file) {}

  // Fills `values` with rows [first, first + values.size() / columns) of a tensor whose values can
  // be read; those of a block whose scale is not finite as NaN. Requires whole rows that are there.
  // Errors: a file that cannot be opened or read.
  std::optional<Diagnostics> read(const FileTensor& tensor, int64_t first, std::span<float> values);

 private:
  const TensorFile& file_;
  int64_t part_ = -1;
  std::optional<FileSource> source_{};
  std::vector<std::byte> bytes_{};
};

}  // namespace tidemark

#include "sim/replay/file_weights.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/kernels/rows.h"
#include "sim/quant/tensor_file.h"

namespace tidemark {
namespace {

constexpr size_t kMostNamed = 10;

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOutsideLayers{
    {{"token_embd.weight", "model.embed_tokens.weight"},
     {"output_norm.weight", "model.norm.weight"},
     {"output.weight", "lm_head.weight"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kInLayers{
    {{"attn_norm.weight", "input_layernorm.weight"},
     {"attn_q.weight", "self_attn.q_proj.weight"},
     {"attn_k.weight", "self_attn.k_proj.weight"},
     {"attn_v.weight", "self_attn.v_proj.weight"},
     {"attn_output.weight", "self_attn.o_proj.weight"},
     {"ffn_norm.weight", "post_attention_layernorm.weight"},
     {"ffn_gate.weight", "mlp.gate_proj.weight"},
     {"ffn_up.weight", "mlp.up_proj.weight"},
     {"ffn_down.weight", "mlp.down_proj.weight"}}};

class FileWeights : public WeightSource {
 public:
  FileWeights(TensorFile file, std::vector<size_t> places, std::string name)
      : file_(std::move(file)),
        places_(std::move(places)),
        name_(std::move(name)),
        reader_(file_) {}

  std::string describe() const override { return fmt::format("{} ({})", name_, file_.format); }

  void begin(const WeightTensor& tensor, WeightId id) override {
    tensor_ = &file_.tensors.at(places_.at(id.index()));
    is_stored_ = tensor.dtype != DType::kF32;
    row_ = 0;
    values_.resize(static_cast<size_t>(tensor.columns));
  }

  void next_row(std::span<std::byte> row) override {
    if (const auto problems = reader_.read(*tensor_, row_++, values_)) {
      throw std::system_error(EIO, std::generic_category(), to_string(*problems));
    }
    if (is_stored_) return quantize_row(values_, row);
    std::memcpy(row.data(), values_.data(), row.size());
  }

 private:
  TensorFile file_;
  std::vector<size_t> places_{};  // in the file's tensors, by WeightId
  std::string name_{};
  RowReader reader_;
  const FileTensor* tensor_ = nullptr;
  bool is_stored_ = false;
  int64_t row_ = 0;
  std::vector<float> values_{};
};

// What is wrong with a tensor of the file as the model's; empty = nothing.
std::string mismatch(const WeightTensor& wanted, const FileTensor& found) {
  if (found.columns() != wanted.columns || found.rows() != wanted.rows) {
    return fmt::format("{} is {} x {} in the file, {} x {} in the model", wanted.name, found.rows(),
                       found.columns(), wanted.rows, wanted.columns);
  }
  if (found.values == StoredValues::kOther) {
    return fmt::format("{} is of the type {}, which is not read here", wanted.name, found.type);
  }
  return {};
}

}  // namespace

std::string checkpoint_name(std::string_view gguf_name) {
  for (const auto& [gguf, checkpoint] : kOutsideLayers) {
    if (gguf == gguf_name) return std::string(checkpoint);
  }
  constexpr std::string_view kBlock = "blk.";
  if (!gguf_name.starts_with(kBlock)) return {};
  gguf_name.remove_prefix(kBlock.size());
  const size_t dot = gguf_name.find('.');
  if (dot == std::string_view::npos) return {};
  for (const auto& [gguf, checkpoint] : kInLayers) {
    if (gguf != gguf_name.substr(dot + 1)) continue;
    return fmt::format("model.layers.{}.{}", gguf_name.substr(0, dot), checkpoint);
  }
  return {};
}

Result<std::shared_ptr<WeightSource>> weights_from_file(const WeightsInventory& weights,
                                                        const std::filesystem::path& path) {
  Result<TensorFile> file = read_tensor_file(path);
  if (!file) return file.diagnostics();
  std::map<std::string_view, size_t> by_name;
  for (size_t i = 0; i < file->tensors.size(); ++i) by_name.emplace(file->tensors[i].name, i);
  Diagnostics problems;
  std::vector<size_t> places;
  for (const WeightTensor& tensor : weights.tensors) {
    auto found = by_name.find(tensor.name);
    if (found == by_name.end()) found = by_name.find(checkpoint_name(tensor.name));
    std::string problem = found == by_name.end()
                              ? fmt::format("the file has no tensor {}", tensor.name)
                              : mismatch(tensor, file->tensors[found->second]);
    if (problem.empty()) {
      places.push_back(found->second);
    } else if (problems.size() < kMostNamed) {
      problems.push_back({.path = "--weights",
                          .message = std::move(problem),
                          .hint = problems.empty() ? "name the file of this very model" : ""});
    }
  }
  if (!problems.empty()) return problems;
  return std::shared_ptr<WeightSource>(std::make_shared<FileWeights>(
      std::move(file).value(), std::move(places), path.filename().string()));
}

}  // namespace tidemark

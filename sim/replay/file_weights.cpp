#include "sim/replay/file_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "planner/base/checked.h"
#include "planner/base/units.h"
#include "sim/quant/tensor_file.h"
#include "sim/replay/weight_format.h"

namespace tidemark {
namespace {

constexpr int64_t kMostNamed = 10;

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOutsideLayers{
    {{"token_embd.weight", "model.embed_tokens.weight"},
     {"output_norm.weight", "model.norm.weight"},
     {"output.weight", "lm_head.weight"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kInLayers{
    {{"attn_norm.weight", "input_layernorm.weight"},
     {"attn_q.weight", "self_attn.q_proj.weight"},
     {"attn_k.weight", "self_attn.k_proj.weight"},
     {"attn_v.weight", "self_attn.v_proj.weight"},
     {"attn_output.weight", "self_attn.o_proj.weight"},
     {"attn_q.bias", "self_attn.q_proj.bias"},
     {"attn_k.bias", "self_attn.k_proj.bias"},
     {"attn_v.bias", "self_attn.v_proj.bias"},
     {"attn_output.bias", "self_attn.o_proj.bias"},
     {"attn_q_norm.weight", "self_attn.q_norm.weight"},
     {"attn_k_norm.weight", "self_attn.k_norm.weight"},
     {"ffn_norm.weight", "post_attention_layernorm.weight"},
     {"ffn_gate.weight", "mlp.gate_proj.weight"},
     {"ffn_up.weight", "mlp.up_proj.weight"},
     {"ffn_down.weight", "mlp.down_proj.weight"}}};

class FileWeights : public WeightSource {
 public:
  FileWeights(TensorFile file, std::vector<size_t> places, std::filesystem::path path)
      : file_(std::move(file)),
        places_(std::move(places)),
        path_(std::move(path)),
        reader_(file_) {}

  std::string describe() const override {
    return fmt::format("{} ({})", path_.filename().string(), file_.format);
  }

  void begin(const WeightTensor& tensor, WeightId id) override {
    note_tensor();
    tensor_ = &file_.tensors.at(places_.at(id.index()));
    stored_as_ = &tensor;
    row_ = 0;
    values_.resize(static_cast<size_t>(tensor.columns));
  }

  void next_row(std::span<std::byte> row) override {
    if (const auto problems = reader_.read(*tensor_, row_++, values_)) {
      throw std::system_error(EIO, std::generic_category(), to_string(*problems));
    }
    not_finite_ +=
        std::ranges::count_if(values_, [](float value) { return !std::isfinite(value); });
    store_row(*stored_as_, values_, row);
  }

  void end() override {
    note_tensor();
    if (bad_tensors_ > std::ssize(problems_)) {
      problems_.push_back({.where = {.file = path_.string()},
                           .message = fmt::format("{} more tensors have NaN or infinite values",
                                                  bad_tensors_ - std::ssize(problems_))});
    }
    if (!problems_.empty()) throw BadWeights(std::move(problems_));
  }

 private:
  // What was found in the tensor whose rows have been read.
  void note_tensor() {
    if (not_finite_ == 0) return;
    if (++bad_tensors_ <= kMostNamed) {
      const int64_t values = checked_mul(tensor_->rows(), tensor_->columns());
      problems_.push_back(
          {.where = {.file = path_.string()},
           .path = tensor_->name,
           .message = fmt::format("{} of {} values {} NaN or infinite", format_count(not_finite_),
                                  format_count(values), not_finite_ == 1 ? "is" : "are"),
           .hint = problems_.empty() ? "a replay of them would prove nothing: name "
                                       "a sound file, or leave --weights out"
                                     : ""});
    }
    not_finite_ = 0;
  }

  TensorFile file_;
  std::vector<size_t> places_{};  // in the file's tensors, by WeightId
  std::filesystem::path path_{};
  RowReader reader_;
  const FileTensor* tensor_ = nullptr;
  const WeightTensor* stored_as_ = nullptr;
  int64_t row_ = 0;
  std::vector<float> values_{};
  int64_t not_finite_ = 0;  // of the tensor being read
  int64_t bad_tensors_ = 0;
  Diagnostics problems_{};  // of the first of them
};

struct Mismatch {
  std::string message{};  // empty = none
  std::string_view hint = "name the file of this very model";
};

// What is wrong with a tensor of the file as the model's.
Mismatch mismatch(const WeightTensor& wanted, const FileTensor* found) {
  if (found == nullptr) return {fmt::format("the file has no tensor {}", wanted.name)};
  const int64_t rows = checked_mul(wanted.rows, wanted.count);  // of all experts
  if (found->columns() != wanted.columns || found->rows() != rows) {
    return {fmt::format("{} is {} x {} in the file, {} x {} in the model", wanted.name,
                        found->rows(), found->columns(), rows, wanted.columns)};
  }
  if (found->values == StoredValues::kOther) {
    return {fmt::format("{} is of the type {}, which is not read here", wanted.name, found->type),
            "name a file in F32, F16, BF16, Q8_0 or Q4_0"};
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
    Mismatch wrong =
        mismatch(tensor, found == by_name.end() ? nullptr : &file->tensors[found->second]);
    if (wrong.message.empty()) {
      places.push_back(found->second);
    } else if (std::ssize(problems) < kMostNamed) {
      problems.push_back({.path = "--weights",
                          .message = std::move(wrong.message),
                          .hint = problems.empty() ? std::string(wrong.hint) : ""});
    }
  }
  if (!problems.empty()) return problems;
  return std::shared_ptr<WeightSource>(
      std::make_shared<FileWeights>(std::move(file).value(), std::move(places), path));
}

}  // namespace tidemark

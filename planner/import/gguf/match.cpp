#include "planner/import/gguf/match.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "planner/base/checked.h"

namespace tidemark {
namespace {

int64_t elements_of(const StoredTensor& tensor) {
  return checked_mul(checked_mul(tensor.columns, tensor.rows), tensor.count);
}

std::string shape_of(int64_t columns, int64_t rows, int64_t count) {
  return count == 1 ? fmt::format("{} x {}", columns, rows)
                    : fmt::format("{} x {} x {}", columns, rows, count);
}

// Vectors may be stored as a table of heads.
bool has_shape_of(const StoredTensor& stored, const WeightTensor& expected) {
  if (elements_of(stored) != expected.elements()) return false;
  return (expected.rows == 1 && expected.count == 1) || stored.columns == expected.columns;
}

// "blk.12." of "blk.12.ffn_norm.weight"; empty outside the layers.
std::string_view block_prefix(std::string_view name) {
  if (!name.starts_with("blk.")) return "";
  const size_t end = name.find('.', 4);
  return end == std::string_view::npos ? "" : name.substr(0, end + 1);
}

std::string draft_name(const GgufArchitecture& architecture, const WeightTensor& tensor,
                       std::string_view rest, int64_t n_main) {
  const std::string block = fmt::format("blk.{}.", n_main + std::max<int64_t>(tensor.layer, 0));
  if (tensor.layer >= 0) {
    const std::string stem = file_stem(architecture, rest.substr(block_prefix(rest).size()));
    return stem.empty() ? "" : block + stem;
  }
  const bool is_norm = tensor.role == WeightRole::kOutputNorm;
  return is_norm ? fmt::format("{}nextn.shared_head_norm{}", block, rest.substr(rest.rfind('.')))
                 : block + std::string(rest);
}

class Matcher {
 public:
  Matcher(const ModelSpec& model, const TensorTable& table)
      : table_(table), n_main_(model.n_layer()) {
    for (const StoredTensor& tensor : table.tensors()) names_.emplace(tensor.name, "");
    int64_t layer = 0;
    for (const LayerSpec& spec : model.transformer()->layers) {
      const AttentionSpec* attention = spec.attention();
      if (attention != nullptr && attention->shares_kv_with >= 0) shares_.insert(layer);
      ++layer;
    }
  }

  GgufMatch match(const ModelSpec& model) && {
    for (const WeightTensor& tensor : weight_tensors(model)) match(tensor);
    for (const StoredTensor& tensor : table_.tensors()) {
      result_.stored.push_back(tensor);
      result_.stored_elements = checked_add(result_.stored_elements, elements_of(tensor));
      const std::string& ours = names_.at(tensor.name);
      if (ours.empty()) result_.unexplained.push_back(tensor.name);
      if (!ours.empty()) result_.stored.back().name = ours;
    }
    return std::move(result_);
  }

 private:
  void match(const WeightTensor& expected) {
    result_.expected_elements = checked_add(result_.expected_elements, expected.elements());
    const std::string name = file_name(table_.architecture(), expected, n_main_);
    const StoredTensor* stored = table_.find(name);
    if (stored == nullptr) return match_parts(expected, name);
    names_[name] = expected.name;
    if (has_shape_of(*stored, expected)) return;
    complain(name, fmt::format("{} in the file, but the keys make it {}",
                               shape_of(stored->columns, stored->rows, stored->count),
                               shape_of(expected.columns, expected.rows, expected.count)));
  }

  // Several tensors of the file for one, or one for two.
  void match_parts(const WeightTensor& expected, const std::string& name) {
    for (const GgufParts& parts : gguf_parts()) {
      if (!name.ends_with(parts.whole)) continue;
      const std::string prefix = name.substr(0, name.size() - parts.whole.size());
      if (take(expected, name, prefix, parts.parts)) return;
    }
    for (const auto* half : {"ffn_gate_exps.", "ffn_up_exps."}) {
      const size_t at = name.find(half);
      if (at == std::string::npos) continue;
      const std::string suffix = name.substr(name.rfind('.'));
      const StoredTensor* both = table_.find(name.substr(0, at) + "ffn_gate_up_exps" + suffix);
      if (both == nullptr) continue;
      names_[both->name] = both->name;
      if (elements_of(*both) == checked_mul(2, expected.elements())) return;
    }
    if (is_optional(expected)) return;
    complain(name, "the file lacks this tensor");
  }

  bool take(const WeightTensor& expected, const std::string& name, const std::string& prefix,
            const std::vector<std::string_view>& parts) {
    int64_t elements = 0;
    for (const std::string_view part : parts) {
      const StoredTensor* stored = table_.find(prefix + std::string(part));
      if (stored == nullptr) return false;
      elements = checked_add(elements, elements_of(*stored));
      names_[stored->name] = stored->name;
    }
    if (elements != expected.elements()) {
      complain(name, fmt::format("its parts have {} elements in the file, but the keys make it {}",
                                 elements, expected.elements()));
    }
    return true;
  }

  // A layer that reads another's cache may come without K and V.
  bool is_optional(const WeightTensor& tensor) const {
    return shares_.contains(tensor.layer) && tensor.stack < 0 &&
           (tensor.role == WeightRole::kKey || tensor.role == WeightRole::kValue ||
            tensor.role == WeightRole::kKeyNorm);
  }

  void complain(const std::string& name, std::string message) {
    result_.contradictions.push_back({.tensor = name, .message = std::move(message)});
  }

  const TensorTable& table_;
  int64_t n_main_;
  std::set<int64_t> shares_{};                               // layers without a cache of their own
  std::map<std::string, std::string, std::less<>> names_{};  // the file's -> ours; empty = unused
  GgufMatch result_{};
};

}  // namespace

std::string file_name(const GgufArchitecture& architecture, const WeightTensor& tensor,
                      int64_t n_main) {
  std::string_view rest = tensor.name;
  if (rest.starts_with("mtp.")) {
    return draft_name(architecture, tensor, rest.substr(4), n_main);
  }
  std::string prefix;
  if (tensor.stack >= 0) {
    const size_t dot = rest.find('.') + 1;
    prefix = rest.substr(0, dot);
    rest = rest.substr(dot);
  } else if (tensor.layer >= 0 || rest.starts_with("output_norm.")) {
    prefix = architecture.main_prefix;
  }
  const std::string_view block = block_prefix(rest);
  const std::string stem = file_stem(architecture, rest.substr(block.size()));
  return stem.empty() ? "" : prefix + std::string(block) + stem;
}

ModelSpec with_all_stacks(ModelSpec model) {
  if (auto* spec = std::get_if<TransformerSpec>(&model.dims)) {
    for (StackSpec& stack : spec->stacks) stack.is_counted = true;
  }
  return model;
}

GgufMatch match_tensors(const ModelSpec& model, const TensorTable& table) {
  return Matcher(model, table).match(with_all_stacks(model));
}

}  // namespace tidemark

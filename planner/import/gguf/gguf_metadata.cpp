#include "planner/import/gguf/gguf_metadata.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "planner/import/gguf/match.h"
#include "planner/import/gguf/model_keys.h"
#include "planner/import/problems.h"
#include "planner/model/gguf_names.h"
#include "planner/model/quantized_weights.h"

namespace tidemark {
namespace {

// A tensor of the file, and the one of the spec it comes from.
struct Planned {
  StoredTensor tensor{};
  size_t index = 0;  // into weight_tensors(model)
};

bool is_tower(const TransformerSpec& spec, const WeightTensor& tensor) {
  if (tensor.stack < 0) return false;
  const StackRole role = spec.stacks.at(static_cast<size_t>(tensor.stack)).role;
  return role == StackRole::kVision || role == StackRole::kAudio;
}

StoredTensor stored_of(const GgufArchitecture& architecture, const WeightTensor& tensor,
                       int64_t n_main) {
  return {.name = file_name(architecture, tensor, n_main),
          .columns = tensor.columns,
          .rows = tensor.rows,
          .count = tensor.count};
}

// Two tensors instead of ssm_ba, each with half its rows.
std::vector<StoredTensor> parts_of(const GgufArchitecture& architecture, StoredTensor tensor) {
  const GgufParts& parts = gguf_parts().front();
  if (!architecture.splits_beta_alpha || !tensor.name.ends_with(parts.whole)) return {tensor};
  const std::string prefix = tensor.name.substr(0, tensor.name.size() - parts.whole.size());
  std::vector<StoredTensor> halves;
  for (const std::string_view part : parts.parts) {
    halves.push_back({.name = prefix + std::string(part),
                      .columns = tensor.columns,
                      .rows = tensor.rows / static_cast<int64_t>(parts.parts.size()),
                      .count = tensor.count});
  }
  return halves;
}

std::vector<Planned> planned_tensors(const GgufArchitecture& architecture, const ModelSpec& model) {
  std::vector<Planned> planned;
  const std::vector<WeightTensor> tensors = weight_tensors(model);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (is_tower(*model.transformer(), tensors[i])) continue;
    for (StoredTensor& part :
         parts_of(architecture, stored_of(architecture, tensors[i], model.n_layer()))) {
      planned.push_back({.tensor = std::move(part), .index = i});
    }
  }
  std::ranges::stable_sort(planned, [](const Planned& a, const Planned& b) {
    return visited_before(a.tensor.name, b.tensor.name);
  });
  return planned;
}

std::vector<int64_t> dims_of(const StoredTensor& tensor) {
  std::vector<int64_t> dims = {tensor.columns, tensor.rows, tensor.count};
  while (dims.size() > 1 && dims.back() == 1) dims.pop_back();
  return dims;
}

Diagnostics refusal(std::string_view path, std::string_view message, std::string_view hint = "") {
  Problems problems("");
  problems.add(path, message, hint);
  return problems.take();
}

const GgufArchitecture* architecture_of(const ModelSpec& model) {
  return model.transformer() == nullptr ? nullptr : find_architecture(model.architecture);
}

Diagnostics unknown_architecture(const ModelSpec& model) {
  return refusal(
      "architecture",
      fmt::format("the GGUF keys of {} are not known here", in_quotes(model.architecture)),
      "a .safetensors holds any model");
}

void write_general(const ModelSpec& model, std::optional<FileType> type, GgufKeyWriter& keys) {
  const TransformerSpec& spec = *model.transformer();
  keys.general_text("general.architecture", model.architecture);
  keys.general_text("general.name", is_utf8(model.name) ? model.name : model.architecture);
  keys.general_text("tokenizer.ggml.model", "no_vocab");
  if (spec.n_token_type > 0) {
    keys.general_number("tokenizer.ggml.token_type_count", spec.n_token_type);
  }
  if (!type) return;
  keys.general_number("general.file_type", file_type_of(*type).id);
  keys.general_number("general.quantization_version", 2);
}

Result<GgufHeader> header_of(const ModelSpec& model, const std::vector<Planned>& planned,
                             std::optional<FileType> type) {
  GgufHeader header;
  Problems problems("");
  GgufKeyWriter keys(header, model.architecture, problems);
  write_general(model, type, keys);
  const TransformerSpec& spec = *model.transformer();
  write_model_keys(*architecture_of(model), spec, keys);
  for (const LayerSpec& layer : spec.layers) {
    if (!std::holds_alternative<LinearAttentionSpec>(layer.mixer)) continue;
    problems.add("", "linear attention of MiniMax's first kind has no GGUF tensors");
    break;
  }
  for (const auto& [tensor, index] : planned) {
    if (tensor.name.empty()) {
      problems.add(weight_tensors(model).at(index).name,
                   "files of this architecture use this name for another tensor");
      break;
    }
    const int32_t id = ggml_id_of(tensor.dtype);
    if (id < 0) {
      problems.add(tensor.name, fmt::format("GGUF has no tensors of {}", name_of(tensor.dtype)));
    }
    header.tensors.push_back({.name = tensor.name,
                              .dims = dims_of(tensor),
                              .type_id = id < 0 ? 0 : static_cast<uint32_t>(id)});
  }
  if (!problems.empty()) return problems.take();
  return header;
}

}  // namespace

Result<GgufHeader> gguf_of_model(const ModelSpec& model, const std::vector<DType>& types,
                                 std::optional<FileType> file_type) {
  const GgufArchitecture* architecture = architecture_of(model);
  if (architecture == nullptr) return unknown_architecture(model);
  std::vector<Planned> planned = planned_tensors(*architecture, model);
  for (auto& [tensor, index] : planned) tensor.dtype = types.at(index);
  ModelSpec counted = model;
  std::erase_if(std::get<TransformerSpec>(counted.dims).stacks,
                [](const StackSpec& stack) { return !stack.is_counted; });
  return header_of(counted, planned, file_type);
}

Result<GgufHeader> gguf_of_model(const ModelSpec& model, const RecipeChoice& choice) {
  const GgufArchitecture* architecture = architecture_of(model);
  if (architecture == nullptr) return unknown_architecture(model);
  const ModelSpec whole = with_all_stacks(model);
  std::vector<Planned> planned = planned_tensors(*architecture, whole);
  std::vector<RecipeTensor> asked;
  for (const auto& [tensor, index] : planned) {
    asked.push_back({tensor.name, tensor.columns, tensor.rows, tensor.count});
  }
  const Result<std::vector<DType>> types = choose_types(recipe_model(whole), asked, choice);
  if (!types) return types.diagnostics();
  for (size_t i = 0; i < planned.size(); ++i) planned[i].tensor.dtype = types->at(i);
  return header_of(whole, planned, choice.type);
}

}  // namespace tidemark

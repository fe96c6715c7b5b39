#include "planner/import/hf/hf_stored.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "planner/base/checked.h"
#include "planner/import/safetensors_header.h"
#include "planner/import/safetensors_index.h"
#include "planner/model/quantized_weights.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

// What the names tell.
struct NameCounts {
  int64_t heads = 0;
  int64_t frequencies = 0;   // rotary buffers
  int64_t masks = 0;         // causal masks
  int64_t mask_values = 0;   // the lone value that a mask fills in
  int64_t positions = 0;     // position_ids
  int64_t format_marks = 0;  // one byte for each matrix of bitsandbytes
  bool has_draft = false;
};

bool is_named(std::string_view tensor, std::string_view last) {
  return tensor == last ||
         (tensor.ends_with(last) && tensor[tensor.size() - last.size() - 1] == '.');
}

bool is_head(std::string_view tensor) {
  constexpr std::array<std::string_view, 5> kHeads = {"lm_head.weight", "output_layer.weight",
                                                      "embed_out.weight", "proj_out.weight",
                                                      "output.weight"};
  // "attention.output.weight" and its like are no heads.
  if (tensor == "output.weight") return true;
  return std::ranges::any_of(kHeads, [&](std::string_view name) {
    return name != "output.weight" && is_named(tensor, name);
  });
}

// "model.layers.61.enorm.weight" -> 61; -1 without a layer.
int64_t layer_of(std::string_view tensor) {
  constexpr std::string_view kLayers = "layers.";
  const size_t at = tensor.find(kLayers);
  if (at == std::string_view::npos) return -1;
  const std::string_view rest = tensor.substr(at + kLayers.size());
  int64_t layer = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
  return error == std::errc() ? layer : -1;
}

NameCounts count_names(const std::vector<std::string>& tensors, const TransformerSpec& spec,
                       bool has_masks) {
  NameCounts counts;
  for (const std::string& name : tensors) {
    if (is_head(name)) ++counts.heads;
    if (name.ends_with("inv_freq")) ++counts.frequencies;
    if (has_masks && (is_named(name, "attn.bias") || is_named(name, "attention.bias"))) {
      ++counts.masks;
    }
    if (is_named(name, "masked_bias")) ++counts.mask_values;
    if (is_named(name, "position_ids")) ++counts.positions;
    if (is_named(name, "weight_format")) ++counts.format_marks;
    if (layer_of(name) >= std::ssize(spec.layers)) counts.has_draft = true;
  }
  return counts;
}

// Matrices as the class of the checkpoint has them: kv_b in one piece, uncounted draft layers only
// where the files hold them.
ModelSpec as_stored(const ModelSpec& model, bool with_draft) {
  ModelSpec copy = model;
  TransformerSpec& spec = std::get<TransformerSpec>(copy.dims);
  const auto join = [](std::vector<LayerSpec>& layers) {
    for (LayerSpec& layer : layers) {
      if (auto* mla = std::get_if<MlaSpec>(&layer.mixer)) mla->split_kv_b = false;
    }
  };
  join(spec.layers);
  for (StackSpec& stack : spec.stacks) {
    join(stack.layers);
    if (stack.role == StackRole::kDraft && with_draft) stack.is_counted = true;
  }
  return copy;
}

// Scales and zero points: what a format stores besides the blocks of its values.
StoredDifference scales_of(const WeightsInventory& weights) {
  StoredDifference scales{.what = "scales of quantized matrices"};
  for (const WeightTensor& tensor : weights.tensors) {
    const Format& format = format_of(tensor.dtype);
    if (!format.quantized || format.ggml_id >= 0) continue;
    const int64_t blocks = ceil_div(tensor.columns, format.block_elements);
    const Bytes values =
        Bytes::of(checked_mul(blocks, format.block_bytes)) * checked_mul(tensor.rows, tensor.count);
    if (tensor.bytes <= values) continue;
    const Bytes rest = tensor.bytes - values;
    scales.bytes += rest;
    scales.elements =
        checked_add(scales.elements, rest.count() / (format.block_elements > 1 ? 2 : 4));
  }
  return scales;
}

// Everything that stands in the files besides the parameters, with the width of its values.
struct Comparison {
  int64_t value_bytes = 4;  // of a value in the model's type
  int64_t frequency_bytes = 4;
  int64_t mask_bytes = 4;
};

void add(StoredSize& stored, std::string what, int64_t elements, int64_t value_bytes) {
  if (elements == 0) return;
  const Bytes bytes = Bytes::of(checked_mul(std::abs(elements), value_bytes));
  stored.elements = checked_add(stored.elements, elements);
  if (elements > 0) {
    stored.bytes += bytes;
  } else {
    stored.bytes = stored.bytes >= bytes ? stored.bytes - bytes : Bytes{};
  }
  stored.differences.push_back({.what = std::move(what), .elements = elements, .bytes = bytes});
}

void add_heads(StoredSize& stored, const TransformerSpec& spec, const NameCounts& counts,
               int64_t value_bytes) {
  const int64_t head = checked_mul(spec.n_vocab, spec.n_embd);
  const bool own_head = spec.has_head && !spec.tied_embeddings;
  if (counts.heads > 0 && !own_head) {
    add(stored, spec.has_head ? "the head, tied and stored again" : "a head that the class lacks",
        head, value_bytes);
  } else if (counts.heads == 0 && own_head) {
    add(stored, "the head, which the files lack", -head, value_bytes);
  }
}

void add_buffers(StoredSize& stored, const TransformerSpec& spec, const NameCounts& counts,
                 int64_t rotary_dim, const Comparison& widths) {
  const int64_t n_ctx = spec.n_ctx_train.count();
  add(stored, "rotary frequencies", checked_mul(counts.frequencies, rotary_dim / 2),
      widths.frequency_bytes);
  const int64_t masks =
      counts.masks == 0 ? 0 : checked_mul(counts.masks, checked_mul(n_ctx, n_ctx));
  add(stored, "causal masks", masks, widths.mask_bytes);
  add(stored, "values of masks", counts.mask_values, widths.value_bytes);
  add(stored, "position numbers", checked_mul(counts.positions, spec.n_position), 8);
  add(stored, "format marks of bitsandbytes", counts.format_marks, 1);
}

struct Sizes {
  WeightsInventory counted{};  // without what only the files hold
  WeightsInventory held{};     // with it
};

StoredSize size_with(const Sizes& sizes, const TransformerSpec& spec, const NameCounts& counts,
                     int64_t rotary_dim, const Comparison& widths) {
  StoredSize stored{.elements = sizes.counted.elements, .bytes = sizes.counted.bytes};
  const int64_t draft = sizes.held.elements - sizes.counted.elements;
  if (draft > 0) {
    const Bytes bytes = sizes.held.bytes - sizes.counted.bytes;
    stored.elements = checked_add(stored.elements, draft);
    stored.bytes += bytes;
    stored.differences.push_back(
        {.what = "draft layers, not in the total", .elements = draft, .bytes = bytes});
  }
  const StoredDifference scales = scales_of(sizes.held);
  if (scales.elements > 0) {
    stored.elements = checked_add(stored.elements, scales.elements);
    stored.differences.push_back(scales);  // their bytes are in those of the matrices
  }
  add_heads(stored, spec, counts, widths.value_bytes);
  add_buffers(stored, spec, counts, rotary_dim, widths);
  return stored;
}

// The first choice of types for the buffers that makes the stated size exact; else the first.
StoredSize best_size(const Sizes& sizes, const TransformerSpec& spec, const NameCounts& counts,
                     int64_t rotary_dim, int64_t value_bytes, std::optional<Bytes> stated) {
  std::optional<StoredSize> first;
  for (const int64_t mask : {value_bytes, int64_t{4}, int64_t{1}}) {
    for (const int64_t frequency : {value_bytes, int64_t{4}}) {
      StoredSize size =
          size_with(sizes, spec, counts, rotary_dim,
                    {.value_bytes = value_bytes, .frequency_bytes = frequency, .mask_bytes = mask});
      size.stated_bytes = stated;
      if (stated && size.bytes == *stated) return size;
      if (!first) first = std::move(size);
    }
  }
  return *first;
}

bool is_fp8(DType dtype) {
  return dtype == DType::kFp8E4m3 || dtype == DType::kFp8E5m2 || dtype == DType::kFp8E4m3B128;
}

// A checkpoint that packs nothing holds every tensor in the model's type, towers and vectors too.
// In fp8 the tables and the joining matrix of draft layers keep 16 bits (DeepSeek-R1's files).
Result<WeightsInventory> stored_weights(const ModelSpec& model) {
  if (model.stored_as.kind == QuantKind::kAsStored) return weights_inventory(model, model.dtype);
  Result<WeightsInventory> packed = quantized_weights(model, model.stored_as);
  if (!packed || !is_fp8(model.stored_as.format)) return packed;
  std::vector<WeightTensor> tensors = std::move(packed).value().tensors;
  for (WeightTensor& tensor : tensors) {
    if (tensor.role == WeightRole::kExtra) tensor.dtype = DType::kBf16;
  }
  return inventory_of(model, std::move(tensors));
}

Result<Sizes> weigh(const ModelSpec& model, bool with_draft) {
  Result<WeightsInventory> counted = stored_weights(as_stored(model, false));
  if (!counted) return counted.diagnostics();
  Result<WeightsInventory> held = stored_weights(as_stored(model, with_draft));
  if (!held) return held.diagnostics();
  return Sizes{.counted = std::move(counted).value(), .held = std::move(held).value()};
}

// A value that no format packs: in the model's type, under a format in 16 bits.
int64_t value_bytes_of(const ModelSpec& model) {
  return model.stored_as.kind == QuantKind::kFormat ? 2 : format_of(model.dtype).block_bytes;
}

}  // namespace

Result<std::optional<CheckpointNames>> read_checkpoint_names(const fs::path& folder) {
  std::error_code error;
  for (const auto* name : {"model.safetensors.index.json", "pytorch_model.bin.index.json"}) {
    if (!fs::exists(folder / name, error)) continue;
    Result<CheckpointIndex> index = read_checkpoint_index(folder / name);
    if (!index) return index.diagnostics();
    CheckpointNames names{.stated = index->total_size};
    for (const auto& entry : index->weight_map) names.tensors.push_back(entry.first);
    return std::optional(std::move(names));
  }
  if (!fs::exists(folder / "model.safetensors", error)) return std::optional<CheckpointNames>();
  const Result<SafetensorsHeader> header = read_safetensors(folder / "model.safetensors");
  if (!header) return header.diagnostics();
  CheckpointNames names{.stated = Bytes{}};
  for (const SafetensorsTensor& tensor : header->tensors) {
    names.tensors.push_back(tensor.name);
    *names.stated += tensor.bytes();
  }
  return std::optional(std::move(names));
}

Diagnostics compare_with_checkpoint(HfImport& import, const CheckpointNames& names) {
  ModelSpec& model = import.imported.model;
  const TransformerSpec& spec = *model.transformer();
  const NameCounts counts = count_names(names.tensors, spec, import.notes.has_masks);
  const auto size_of = [&](const ModelSpec& candidate) -> Result<StoredSize> {
    const Result<Sizes> sizes = weigh(candidate, counts.has_draft);
    if (!sizes) return sizes.diagnostics();
    return best_size(*sizes, spec, counts, import.notes.rotary_dim, value_bytes_of(candidate),
                     names.stated);
  };
  Result<StoredSize> stored = size_of(model);
  if (!stored) return stored.diagnostics();
  if (!import.notes.states_dtype && stored->bytes != names.stated.value_or(stored->bytes)) {
    ModelSpec half = model;
    half.dtype = DType::kF16;
    Result<StoredSize> other = size_of(half);
    if (other && other->bytes == *names.stated) {
      stored = std::move(other);
      model.dtype = DType::kF16;
      for (AppliedDefault& one : import.imported.defaults) {
        if (one.key == "torch_dtype" || one.key == "dtype") {
          one.value = "float16";
          one.why = "the weights beside it are stored in 16 bits";
        }
      }
    }
  }
  if (stored->bytes != names.stated.value_or(stored->bytes)) {
    import.imported.warnings.push_back(
        fmt::format("The weights beside the config state {} bytes; its sizes make {}.",
                    names.stated->count(), stored->bytes.count()));
  }
  import.imported.stored = *stored;
  return {};
}

}  // namespace tidemark

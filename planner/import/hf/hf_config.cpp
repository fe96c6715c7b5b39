#include "planner/import/hf/hf_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>

#include "planner/base/files.h"
#include "planner/import/hf/config_reader.h"
#include "planner/import/hf/config_value.h"
#include "planner/import/hf/families.h"
#include "planner/import/hf/families_other.h"
#include "planner/import/hf/hf_import.h"
#include "planner/import/hf/hf_quantization.h"
#include "planner/import/hf/hf_stored.h"
#include "planner/model/weights.h"

namespace tidemark {
namespace {

// The family by model_type, else by the first architecture; Llama's for one that nobody knows when
// assume_dense says so.
const HfFamily* choose_family(ConfigReader& reader, std::string& type) {
  ConfigNotes& notes = reader.notes();
  type = reader.optional_text({"model_type"}).value_or("");
  const HfFamily* family = find_hf_family(type);
  if (family != nullptr) return family;
  if (type.empty() && !notes.architectures.empty()) {
    type = notes.architectures.front();
    family = find_hf_family_of_class(type);
    if (family != nullptr) {
      reader.record("model_type", std::string(family->model_type), "from architectures[0]");
      return family;
    }
  }
  if (notes.options.assume_dense) {
    reader.warn(fmt::format("{} is unknown and taken for a dense decoder like Llama.",
                            type.empty() ? "The architecture" : in_quotes(type)));
    return find_hf_family("llama");
  }
  reader.refuse("model_type",
                type.empty() ? std::string("is missing, and so is architectures")
                             : fmt::format("unknown model {}", in_quotes(type)),
                "--assume-dense takes it for a dense decoder like Llama");
  return nullptr;
}

DType read_dtype(ConfigReader& reader) {
  constexpr std::string_view kTorch = "torch.";
  std::optional<std::string> name = reader.optional_text({"torch_dtype", "dtype"});
  for (const std::string_view part : {"text_config", "thinker_config"}) {
    if (name || !reader.has({part})) continue;
    std::optional<ConfigReader> nested = reader.object(part);
    if (nested) name = nested->optional_text({"torch_dtype", "dtype"});
  }
  if (!name || *name == "auto") {
    reader.record("torch_dtype", "float32", "PretrainedConfig's default");
    reader.notes().states_dtype = false;
    return DType::kF32;
  }
  const std::string_view bare =
      name->starts_with(kTorch) ? std::string_view(*name).substr(kTorch.size()) : *name;
  if (bare == "float32" || bare == "float") return DType::kF32;
  if (bare == "float16" || bare == "half") return DType::kF16;
  if (bare == "bfloat16") return DType::kBf16;
  if (bare == "float64") return DType::kF64;
  reader.refuse(reader.has({"torch_dtype"}) ? "torch_dtype" : "dtype",
                fmt::format("unknown type {}", in_quotes(*name)),
                "float32, float16, bfloat16 or float64");
  return DType::kF32;
}

std::string name_of_model(ConfigReader& reader, const std::string& type) {
  const std::string stated = reader.optional_text({"_name_or_path", "name_or_path"}).value_or("");
  const size_t slash = stated.find_last_of("/\\");
  const std::string name = slash == std::string::npos ? stated : stated.substr(slash + 1);
  return name.empty() ? type : name;
}

void refuse_overflow(ConfigNotes& notes) {
  notes.problems.push_back(
      {.where = {.file = notes.file}, .message = "the sizes multiply to more than 63 bits hold"});
}

// No family asks for more experts a token than there are.
void refuse_idle_routing(ConfigReader& reader, const TransformerSpec& spec) {
  for (const LayerSpec& layer : spec.layers) {
    if (layer.moe.n_expert_used <= layer.moe.n_expert) continue;
    reader.refuse("num_experts_per_tok",
                  fmt::format("{} of {} experts", layer.moe.n_expert_used, layer.moe.n_expert),
                  "a token cannot use more experts than there are");
    return;
  }
}

// What a model file may not state either, since no attention can be made of it. The keys are the
// usual ones; a family that calls them otherwise is understood as well.
void refuse_odd_heads(ConfigReader& reader, const TransformerSpec& spec) {
  constexpr const char* kTurnsPairs = "rotary position embedding turns pairs of values";
  if (spec.n_position > 0) return;
  for (const LayerSpec& layer : spec.layers) {
    const auto* heads = std::get_if<AttentionSpec>(&layer.mixer);
    if (heads != nullptr && heads->n_bucket == 0 && heads->head_dim % 2 != 0) {
      return reader.refuse("head_dim", fmt::format("{} is odd", heads->head_dim), kTurnsPairs);
    }
    const auto* latent = std::get_if<MlaSpec>(&layer.mixer);
    if (latent != nullptr && latent->qk_rope % 2 != 0) {
      return reader.refuse("qk_rope_head_dim", fmt::format("{} is odd", latent->qk_rope),
                           kTurnsPairs);
    }
  }
}

void refuse_shared_heads_of_towers(ConfigReader& reader, const TransformerSpec& spec) {
  for (const StackSpec& stack : spec.stacks) {
    for (const LayerSpec& layer : stack.layers) {
      const auto* heads = std::get_if<AttentionSpec>(&layer.mixer);
      if (heads == nullptr || heads->n_head_kv == 0) continue;
      if (heads->n_head % heads->n_head_kv == 0) continue;
      return reader.refuse("num_key_value_heads",
                           fmt::format("{} does not divide the {} heads of the {} tower",
                                       heads->n_head_kv, heads->n_head, name_of(stack.role)));
    }
  }
}

// Single sizes are bounded, their products are not. What is counted in 8 bytes a value here can be
// counted in any type later.
void read_dims(ConfigReader& reader, const HfFamily& family, ModelSpec& model) {
  try {
    model.dims = family.read(reader);
    refuse_idle_routing(reader, *model.transformer());
    if (reader.ok()) refuse_odd_heads(reader, *model.transformer());
    if (reader.ok()) refuse_shared_heads_of_towers(reader, *model.transformer());
    if (reader.ok()) weights_inventory(model, DType::kF64);
  } catch (const std::overflow_error&) {
    refuse_overflow(reader.notes());
  }
}

// Embedding models are published with the class of the language model that they were trained from,
// and without its head. The names of the weights would tell; where there are none, the folder's
// name does, or the modules.json that the Sentence Transformers library writes.
void leave_out_head_of_embedding_model(const std::filesystem::path& folder,
                                       ImportedModel& imported) {
  auto* spec = std::get_if<TransformerSpec>(&imported.model.dims);
  if (spec == nullptr || !spec->has_head || spec->tied_embeddings) return;
  std::error_code ignored;
  std::string name = folder.filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool is_named = name.find("embedding") != std::string::npos;
  if (!is_named && !std::filesystem::is_regular_file(folder / "modules.json", ignored)) return;
  spec->has_head = false;
  spec->head_bias = false;
  const std::string why =
      is_named ? "its folder is named after an embedding model" : "a modules.json stands beside it";
  imported.defaults.push_back({.key = "architectures", .value = "no LM head", .why = why});
  imported.warnings.push_back(
      "The LM head is left out, since " + why +
      ": checkpoints of embedding models hold the backbone alone. The weight index, put beside "
      "the config.json, decides.");
}

}  // namespace

Result<HfImport> import_hf_config(const std::string& file, std::string_view text,
                                  const ImportOptions& options) {
  Result<ConfigValue> parsed = parse_config_value(file, text);
  if (!parsed) return parsed.diagnostics();
  HfImport import{.notes = {.file = file, .text = text, .options = options}};
  ConfigNotes& notes = import.notes;
  ConfigReader reader(notes, *parsed, "", "PretrainedConfig");
  notes.architectures = reader.texts("architectures");
  std::string type;
  ModelSpec& model = import.imported.model;
  const bool names_itself = reader.has({"model_type", "architectures"});
  const OtherFormat* other = names_itself ? nullptr : find_other_format(reader);
  const HfFamily* family = other != nullptr ? &other->family : choose_family(reader, type);
  if (other != nullptr) {
    type = other->family.architecture;
    read_other_dtype(reader, *other, model);
  } else {
    model.dtype = read_dtype(reader);
    model.stored_as = read_hf_quantization(reader);
  }
  if (family != nullptr) {
    reader.set_config_class(family->config_class);
    model.architecture = family->architecture;
    read_dims(reader, *family, model);
    refuse_unread_sizes(notes, *parsed);
  }
  model.name = name_of_model(reader, type);
  model.source = file;
  if (!reader.ok()) return std::move(notes.problems);
  import.imported.format = other != nullptr ? other->family.model_type : "config.json";
  import.imported.defaults = notes.defaults;
  import.imported.warnings = notes.warnings;
  return import;
}

Result<ImportedModel> parse_hf_config(const std::string& file, std::string_view text,
                                      const ImportOptions& options) {
  Result<HfImport> import = import_hf_config(file, text, options);
  if (!import) return import.diagnostics();
  return std::move(import).value().imported;
}

Result<ImportedModel> read_hf_config(const std::filesystem::path& path,
                                     const ImportOptions& options) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  const std::filesystem::path file = is_folder ? path / "config.json" : path;
  const Result<std::string> text = read_file(file, Bytes::of(kMostConfigBytes));
  if (!text) return text.diagnostics();
  Result<HfImport> import = import_hf_config(file.string(), *text, options);
  if (!import) return import.diagnostics();
  HfImport done = std::move(import).value();
  const std::filesystem::path folder = std::filesystem::absolute(file, error).parent_path();
  const Result<std::optional<CheckpointNames>> names = read_checkpoint_names(file.parent_path());
  if (!names) return names.diagnostics();
  if (names->has_value()) {
    Diagnostics problems;
    try {
      problems = compare_with_checkpoint(done, **names);
    } catch (const std::overflow_error&) {
      refuse_overflow(done.notes);
      problems = done.notes.problems;
    }
    if (has_errors(problems)) return problems;
  } else {
    leave_out_head_of_embedding_model(folder, done.imported);
  }
  const bool is_usual = file.filename() == "config.json";
  const std::string name = (is_usual ? folder.filename() : file.stem()).string();
  if (!name.empty()) done.imported.model.name = name;
  return std::move(done.imported);
}

}  // namespace tidemark

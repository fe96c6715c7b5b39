#include "planner/config/llama_settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "planner/config/load_any_model.h"
#include "planner/import/gguf_reader.h"

namespace tidemark {
namespace {

constexpr int64_t kMostLayers = int64_t{1} << 24;
constexpr int64_t kMostContext = int64_t{1} << 30;
constexpr int64_t kMostExperts = 10'000;  // layers of which experts may be named; stands for all
constexpr size_t kMostDevices = 16;       // as many as that engine can hold
constexpr float kLargestShare = 1e12F;

std::optional<float> parse_share(std::string_view text) {
  float share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || !std::isfinite(share) || share < 0 || share > kLargestShare) return std::nullopt;
  return share;
}

std::vector<float> read_shares(SettingReader& read) {
  constexpr const char* kHint = "one number for each device, in proportion: 3,1";
  std::vector<float> shares;
  for (const std::string& text : read.list("tensor_split")) {
    const std::optional<float> share = parse_share(text);
    if (!share) {
      read.problem("tensor_split", fmt::format("{} is no share", in_quotes(text)), kHint);
      return {};
    }
    shares.push_back(*share);
  }
  if (shares.empty()) return {};
  if (shares.size() > kMostDevices) {
    read.problem("tensor_split", fmt::format("{} devices", shares.size()), "there are at most 16");
    return {};
  }
  if (std::ranges::all_of(shares, [](float share) { return share == 0; })) {
    read.problem("tensor_split", "no device has a share", kHint);
    return {};
  }
  return shares;
}

// Rows of one matrix over several devices need that engine's split buffers, whose padding depends
// on the kernels of each device.
void read_devices(SettingReader& read, LlamaChoices& llama) {
  llama.shares = read_shares(read);
  if (const SettingText* stated = read.stated("split_mode")) {
    if (stated->text == "row" || stated->text == "tensor") {
      read.problem("split_mode",
                   fmt::format("{} shares out each matrix, padded as the kernels of each device "
                               "want; that is not modelled",
                               stated->text),
                   "plan with layer: weights, caches and states are as large in total");
    } else {
      const std::string mode = read.choice("split_mode", {"none", "layer"}, "layer");
      if (mode == "none") llama.split_mode = LlamaSplitMode::kNone;
    }
  }
  if (read.stated("main_gpu") == nullptr) return;
  const int64_t last = static_cast<int64_t>(llama.n_devices()) - 1;
  llama.main_gpu = read.number("main_gpu", {.least = 0, .most = last, .fallback = 0});
}

void read_overrides(SettingReader& read, LlamaChoices& llama) {
  if (read.stated("n_cpu_moe") != nullptr) {
    llama.n_cpu_moe = read.number("n_cpu_moe", {.least = 0, .most = kMostExperts, .fallback = 0});
  }
  if (read.is_on("cpu_moe")) llama.n_cpu_moe = kMostExperts;
  const SettingText* stated = read.stated("override_tensor");
  if (stated == nullptr) return;
  read.record("override_tensor", stated->text, stated->origin);
  Result<std::vector<LlamaOverride>> made = parse_buffer_overrides(stated->text, llama.n_devices());
  if (made) {
    llama.overrides = std::move(made).value();
  } else {
    for (const Diagnostic& problem : made.diagnostics()) {
      const std::string path = problem.path.empty() ? "" : problem.path + ": ";
      read.problem("override_tensor", path + problem.message, problem.hint);
    }
  }
  for (const LlamaOverride& override : llama.overrides) {
    const bool is_there = llama.split_mode == LlamaSplitMode::kLayer || !override.device ||
                          *override.device == static_cast<size_t>(llama.main_gpu);
    if (is_there) continue;
    read.problem("override_tensor", "it names a device that split_mode none leaves out",
                 "name the main device, or leave split_mode out");
    break;
  }
}

// The kernels of the device's processor, when nobody says otherwise.
void read_repack(SettingReader& read, const Scenario& scenario, LlamaChoices& llama) {
  const bool is_x86 = scenario.device.isa == DeviceIsa::kX86;
  const std::string fallback = is_x86 ? "avx2" : "arm";
  std::string name = fallback;
  if (read.stated("repack") != nullptr) {
    name = read.choice("repack", {"none", "arm", "avx2", "avx512"}, fallback);
  } else if (scenario.engine.policy == EnginePolicy::kLlamaCpp) {
    read.record(
        "repack", name,
        scenario.device.isa == DeviceIsa::kUnknown ? "default" : "device " + scenario.device.name);
  }
  llama.repack = name == "arm"      ? LlamaRepack::kArm
                 : name == "avx2"   ? LlamaRepack::kAvx2
                 : name == "avx512" ? LlamaRepack::kAvx512
                                    : LlamaRepack::kNone;
  if (read.is_on("no_repack")) llama.repack = LlamaRepack::kNone;
}

Result<GgufHeader> load_header(std::string_view path) { return read_gguf(path); }

// Only its table of tensors is read.
std::optional<LlamaProjectorFile> load_projector(SettingReader& read) {
  const std::optional<GgufHeader> header = read.file<GgufHeader>("mmproj", load_header, "");
  if (!header) return std::nullopt;
  const std::string kind = header->text("general.architecture").value_or("");
  if (kind != "clip") {
    read.problem("mmproj", fmt::format("architecture {} is no projector", in_quotes(kind)),
                 "name the file that comes beside the model, mmproj-....gguf, or auto");
  }
  LlamaProjectorFile file{.name = read.stated("mmproj")->text,
                          .n_tensors = std::ssize(header->tensors)};
  for (const GgufTensor& tensor : header->tensors) {
    file.tensors += tensor.bytes;
    file.whole += align_up(tensor.bytes, Alignment::of(32));
  }
  return file;
}

void read_projector(SettingReader& read, const Scenario& scenario, LlamaChoices& llama) {
  llama.projector_on_device = !read.is_on("no_mmproj_offload");
  const SettingText* stated = read.stated("mmproj");
  if (stated == nullptr) return;
  llama.projector = true;
  if (stated->text != "auto") {
    llama.projector_file = load_projector(read);
    return;
  }
  read.record("mmproj", stated->text, stated->origin);
  if (projector_weights(scenario.model, DType::kF16).n_tensors > 0) return;
  read.problem("mmproj", fmt::format("{} has no vision or audio tower", scenario.model.name),
               "leave mmproj out, or name the projector's file");
}

Result<ImportedModel> load_draft(std::string_view name) { return load_any_model(name, {}); }

Quantization read_quantization(SettingReader& read, const Scenario& scenario) {
  const SettingText* stated = read.stated("quant_draft");
  if (stated == nullptr) {
    Quantization same = scenario.quant;
    same.overrides.clear();
    read.record("quant_draft", std::string(name_of(same)), "quant");
    return same;
  }
  const std::optional<Quantization> named = parse_quantization(stated->text);
  if (!named) {
    read.problem("quant_draft", fmt::format("{} is not a weight format", in_quotes(stated->text)),
                 "`tidemark list quants` shows all");
  }
  read.record("quant_draft", stated->text, stated->origin);
  return named.value_or(Quantization{});
}

// Settings of a draft model that is not there would be passed over in silence.
void refuse_draft_settings(SettingReader& read) {
  for (const char* key : {"quant_draft", "ctx_size_draft", "cache_type_k_draft",
                          "cache_type_v_draft", "n_gpu_layers_draft"}) {
    if (read.stated(key) == nullptr) continue;
    read.problem(key, "there is no draft model", "name one: model_draft");
  }
}

DType read_cache_type(SettingReader& read, std::string_view key, const ModelSpec& draft) {
  const DType type = read.dtype(key, {.use = DTypeUse::kCache, .fallback_origin = "default"});
  if (draft.transformer() == nullptr) return type;
  const int64_t block = format_of(type).block_elements;
  for (const LayerSpec& layer : draft.transformer()->layers) {
    const int64_t row = cached_row(layer, key == "cache_type_k_draft");
    if (row % block == 0) continue;
    read.problem(key, fmt::format("{} needs cached rows that {} divides, {} has {}", name_of(type),
                                  block, draft.name, row));
    break;
  }
  return type;
}

void read_draft(SettingReader& read, const Scenario& scenario, LlamaChoices& llama) {
  if (read.stated("model_draft") == nullptr) return refuse_draft_settings(read);
  std::optional<ImportedModel> imported = read.file<ImportedModel>("model_draft", load_draft, "");
  LlamaDraft draft{.quant = read_quantization(read, scenario)};
  draft.n_ctx = Tokens(
      read.number("ctx_size_draft",
                  {.least = 1, .most = kMostContext, .fallback = scenario.cells_per_sequence()}));
  if (imported) draft.model = std::move(imported->model);
  draft.type_k = read_cache_type(read, "cache_type_k_draft", draft.model);
  draft.type_v = read_cache_type(read, "cache_type_v_draft", draft.model);
  const int64_t all = draft.model.n_layer() + 1;
  draft.n_gpu_layers =
      read.number("n_gpu_layers_draft",
                  {.least = 0, .most = kMostLayers, .fallback = llama.n_gpu_layers > 0 ? all : 0});
  if (!imported) return;
  if (draft.model.transformer() == nullptr) {
    read.problem("model_draft", fmt::format("{} states sizes and has no graph", draft.model.name),
                 "name a model with dimensions");
    return;
  }
  llama.draft = std::move(draft);
}

}  // namespace

int64_t cached_row(const LayerSpec& layer, bool is_key) {
  if (const auto* mla = std::get_if<MlaSpec>(&layer.mixer)) {
    if (mla->latent_cache) return mla->kv_lora + mla->qk_rope;
    return is_key ? mla->qk_nope + mla->qk_rope : mla->v_head;
  }
  const AttentionSpec* attention = layer.attention();
  if (attention == nullptr) return 0;
  return is_key ? attention->head_dim : attention->value_dim();
}

LlamaChoices read_llama_choices(SettingReader& read, const Scenario& scenario) {
  LlamaChoices llama;
  if (read.stated("n_gpu_layers") != nullptr) {
    llama.n_gpu_layers =
        read.number("n_gpu_layers", {.least = 0, .most = kMostLayers, .fallback = 0});
  }
  read_devices(read, llama);
  read_overrides(read, llama);
  llama.offload_products = !read.is_on("no_op_offload");
  llama.mapped = !read.is_on("no_mmap");
  llama.locked = read.is_on("mlock");
  read_repack(read, scenario, llama);
  read_projector(read, scenario, llama);
  read_draft(read, scenario, llama);
  return llama;
}

}  // namespace tidemark

#include "support/llamacpp_models.h"

#include <algorithm>
#include <stdexcept>

#include "planner/import/gguf/gguf_model.h"
#include "support/gguf_tensors.h"

namespace tidemark::testing {

namespace {

MeasuredModel made_of(const std::string& name, const YamlModel& yaml,
                      const std::string& quantization) {
  const Result<ImportedModel> read = model_of_gguf(converted_header(name, yaml), {});
  if (!read) throw std::runtime_error(name + ": " + to_string(read.diagnostics()));
  MeasuredModel made{.model = as_llama_cpp_sees(read->model)};
  const Result<WeightsInventory> weights =
      quantized_weights(made.model, parse_quantization(quantization).value());
  if (!weights) throw std::runtime_error(name + ": " + to_string(weights.diagnostics()));
  made.weights = *weights;
  return made;
}

// "[0, 8, 0]": the heads of each layer, 0 where it is recurrent.
std::string heads_by_layer(const GgufModel& model) {
  std::string text = "[";
  for (int64_t layer = 0; layer < model.n_layer; ++layer) {
    const auto& with = model.attention_layers;
    const bool attends = std::find(with.begin(), with.end(), layer) != with.end();
    text += (layer > 0 ? ", " : "") + std::to_string(attends ? model.n_head_kv : 0);
  }
  return text + "]";
}

void put(YamlModel& yaml, const std::string& key, int64_t value) {
  if (value > 0) yaml[key] = std::to_string(value);
}

}  // namespace

std::map<std::string, MeasuredModel> measured_models(const std::filesystem::path& folder,
                                                     const std::string& quantization) {
  std::map<std::string, MeasuredModel> models;
  for (const auto& [name, yaml] : read_yaml_models(folder / "models.yaml")) {
    models.emplace(name, made_of(name, yaml, quantization));
  }
  return models;
}

MeasuredModel restated_model(const std::string& name, const std::string& quantization) {
  const GgufModel& model = gguf_model(name);
  YamlModel yaml{{"arch", std::string(model.architecture)}};
  put(yaml, "n_layer", model.n_layer);
  put(yaml, "n_embd", model.n_embd);
  put(yaml, "n_ff", model.n_ff);
  put(yaml, "n_vocab", model.n_vocab);
  put(yaml, "n_expert", model.n_expert);
  put(yaml, "n_expert_used", name == "qwen3-30b-a3b" ? 8 : name == "deepseek-v2-lite" ? 6 : 0);
  put(yaml, "n_ff_exp", model.n_ff_exp);
  put(yaml, "n_expert_shared", model.n_shared);
  put(yaml, "n_dense_lead", model.n_dense_lead);
  put(yaml, "q_lora", model.q_lora);
  put(yaml, "kv_lora", model.kv_lora);
  put(yaml, "qk_nope", model.qk_nope);
  put(yaml, "qk_rope", model.qk_rope);
  put(yaml, "v_head", model.v_head);
  put(yaml, "ssm_d_conv", model.d_conv);
  put(yaml, "ssm_d_inner", model.d_inner);
  put(yaml, "ssm_d_state", model.d_state);
  put(yaml, "ssm_dt_rank", model.dt_rank);
  put(yaml, "ssm_n_group", model.n_group);
  put(yaml, "n_swa", name == "gemma-2-2b" ? 4096 : name == "gemma-3-1b" ? 512 : 0);
  put(yaml, "head_dim", model.head_dim);
  yaml["n_head"] = std::to_string(model.n_head);
  const bool is_hybrid = model.attention_layers.front() >= 0;
  yaml["n_head_kv"] = is_hybrid ? heads_by_layer(model) : std::to_string(model.n_head_kv);
  return made_of(name, yaml, quantization);
}

int64_t at(const CsvRow& row, const std::string& column) {
  const std::string& cell = row.at(column);
  return cell.empty() ? 0 : std::stoll(cell);
}

LlamaSettings settings_of(const CsvRow& row) {
  const std::string& flash = row.at("flash_attn");
  return {.n_ctx = at(row, "n_ctx_arg"),
          .n_batch = at(row, "n_batch_arg"),
          .n_ubatch = at(row, "n_ubatch_arg"),
          .n_seq = at(row, "n_seq"),
          .n_outputs_max = at(row, "n_outputs_max_arg"),
          .flash = flash == "on"    ? LlamaFlash::kOn
                   : flash == "off" ? LlamaFlash::kOff
                                    : LlamaFlash::kAuto,
          .type_k = parse_dtype(row.at("type_k")).value(),
          .type_v = parse_dtype(row.at("type_v")).value(),
          .kv_unified = at(row, "kv_unified") == 1,
          .swa_full = at(row, "swa_full") == 1};
}

LlamaSettings resident_settings_of(const CsvRow& row) {
  const DType type = parse_dtype(row.at("type_kv")).value();
  return {.n_ctx = at(row, "n_ctx"),
          .n_batch = at(row, "n_batch"),
          .n_ubatch = at(row, "n_ubatch"),
          .n_outputs_max = at(row, "n_outputs_max_arg"),
          .flash = row.at("flash_attn") == "on" ? LlamaFlash::kOn : LlamaFlash::kOff,
          .type_k = type,
          .type_v = type};
}

LlamaProcess process_of(const CsvRow& row) {
  const std::string& vocabulary = row.at("vocab");
  return {.mapped = row.at("load") == "mmap",
          .repack = at(row, "repack") == 1 ? LlamaRepack::kAvx2 : LlamaRepack::kNone,
          .tokenizer = vocabulary == "bpe"   ? LlamaTokenizer::kBytePairs
                       : vocabulary == "spm" ? LlamaTokenizer::kSentencePiece
                                             : LlamaTokenizer::kNone,
          .prompt = at(row, "n_prompt"),
          .generate = at(row, "n_gen"),
          .n_threads = 2};
}

std::string settings_text(const CsvRow& row) {
  std::string text;
  for (const char* column :
       {"model", "n_ctx_arg", "n_batch_arg", "n_ubatch_arg", "flash_attn", "type_k", "type_v",
        "n_seq", "kv_unified", "swa_full", "n_outputs_max_arg"}) {
    text += std::string(column) + " " + row.at(column) + " ";
  }
  return text;
}

}  // namespace tidemark::testing

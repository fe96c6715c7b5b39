#include "measured.h"

#include <stdexcept>

#include "planner/import/gguf/gguf_model.h"
#include "support/gguf_tensors.h"

namespace tidemark::testing {

std::map<std::string, MeasuredModel> measured_models(const std::filesystem::path& folder,
                                                     const std::string& quantization) {
  std::map<std::string, MeasuredModel> models;
  for (const auto& [name, yaml] : read_yaml_models(folder / "models.yaml")) {
    const Result<ImportedModel> read = model_of_gguf(converted_header(name, yaml), {});
    if (!read) throw std::runtime_error(name + ": " + to_string(read.diagnostics()));
    MeasuredModel made{.model = as_llama_cpp_sees(read->model)};
    const Result<WeightsInventory> weights =
        quantized_weights(made.model, parse_quantization(quantization).value());
    if (!weights) throw std::runtime_error(name + ": " + to_string(weights.diagnostics()));
    made.weights = *weights;
    models.emplace(name, std::move(made));
  }
  return models;
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

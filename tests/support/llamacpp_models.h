// Rows of llamacpp/measured.csv and the models of llamacpp/models.yaml, read through the planner's
// GGUF reader, as the folder that TIDEMARK_TEST_DATA names holds them.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "planner/engine/llama_cpp/llama_resident.h"
#include "planner/model/quantized_weights.h"
#include "support/llamacpp_data.h"

namespace tidemark::testing {

struct MeasuredModel {
  ModelSpec model{};  // as that engine sees it
  WeightsInventory weights{};
};

// By name; the weights of `quantization`.
std::map<std::string, MeasuredModel> measured_models(const std::filesystem::path& folder,
                                                     const std::string& quantization);

// A published model out of the dimensions in support/gguf_tensors.h: needs no data folder.
MeasuredModel restated_model(const std::string& name, const std::string& quantization);

// A column as a number; 0 when it is empty.
int64_t at(const CsvRow& row, const std::string& column);

LlamaSettings settings_of(const CsvRow& row);  // of measured.csv
std::string settings_text(const CsvRow& row);

LlamaSettings resident_settings_of(const CsvRow& row);  // of rss.csv
LlamaProcess process_of(const CsvRow& row);

}  // namespace tidemark::testing

// tidemark import and tidemark export.
#pragma once

#include <string>

#include "options.h"

namespace tidemark::cli {

struct ImportCommand {
  std::string model{};
  std::string format = "yaml";  // yaml, table or json
  bool assume_dense = false;
  OutputOptions output{};
};

struct ExportCommand {
  std::string model{};
  std::string quant = "F16";
  OutputOptions output{};  // `file` is required: .gguf or .safetensors
};

int run_import(const ImportCommand& command);
int run_export(const ExportCommand& command);

}  // namespace tidemark::cli

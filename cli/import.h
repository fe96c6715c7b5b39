// tidemark import and tidemark export.
#pragma once

#include <string>

#include "options.h"

namespace CLI {
class App;
}

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

void add_import_flags(CLI::App& verb, ImportCommand& command);
void add_export_flags(CLI::App& verb, ExportCommand& command, const std::string& model_help);

}  // namespace tidemark::cli

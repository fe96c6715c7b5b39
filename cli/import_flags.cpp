#include <CLI/CLI.hpp>

#include "import.h"
#include "stated.h"

namespace tidemark::cli {
namespace {

void add_file_flags(CLI::App& verb, OutputOptions& output, const std::string& help) {
  verb.add_option("-o,--output", output.file, help)->option_text("FILE")->check(stated());
  verb.add_flag("--quiet", output.quiet, "No talk on standard error");
}

}  // namespace

void add_import_flags(CLI::App& verb, ImportCommand& command) {
  verb.add_option("FILE", command.model,
                  "A .gguf (also the first of a split set), a .safetensors with its config.json "
                  "beside it, a config.json or its folder; or any MODEL")
      ->required();
  verb.add_option("--format", command.format,
                  "yaml (default): a model file; table, json: every total that needs no scenario")
      ->check(CLI::IsMember({"yaml", "table", "json"}));
  verb.add_flag_callback(
      "--json", [&command] { command.format = "json"; }, "Short for --format json");
  verb.add_flag("--assume-dense", command.assume_dense,
                "Take an unknown architecture for a dense Llama-like decoder, with a warning");
  add_file_flags(verb, command.output, "Write to FILE instead of standard output");
  verb.footer(
      "Examples:\n"
      "  tidemark import minicpm-2b --format table\n"
      "  tidemark export minicpm-2b --quant Q4_K_M -o minicpm.gguf && tidemark import "
      "minicpm.gguf\n"
      "Defaults that the file leaves to its class are listed; what changes sizes and is not known "
      "is refused.");
}

void add_export_flags(CLI::App& verb, ExportCommand& command, const std::string& model_help) {
  verb.add_option("MODEL", command.model, model_help)->required();
  verb.add_option("--quant", command.quant, "What `tidemark list quants` shows [F16]")
      ->option_text("NAME");
  add_file_flags(verb, command.output, "The file to write: .gguf or .safetensors (required)");
  verb.footer(
      "Examples:\n"
      "  tidemark export minicpm-2b --quant Q4_K_M -o minicpm.gguf\n"
      "  tidemark export llama-3.1-8b --quant bf16 -o llama.safetensors\n"
      "The file is as long as a real one but for the vocabulary, and takes a few kilobytes of "
      "disk;\n"
      "its weights are zeros. Vision and audio towers are left out of a .gguf: they have a file "
      "of\n"
      "their own.");
}

}  // namespace tidemark::cli

// tidemark import FILE: the model YAML of a model file, or its totals.
// tidemark export MODEL: a sparse file with a real header, GGUF or safetensors.
#include "import.h"

#include <fmt/core.h>

#include <filesystem>
#include <stdexcept>

#include "planner/base/units.h"
#include "planner/config/load_any_model.h"
#include "planner/config/model_yaml.h"
#include "planner/import/export_model.h"
#include "planner/model/quantized_weights.h"
#include "planner/report/import_report.h"

namespace tidemark::cli {
namespace {

Diagnostics too_large() {
  return one_error("model", "sizes leave the 63-bit range", "is a dimension a slip?");
}

int print_imported(const ImportCommand& command, const ImportedModel& imported) {
  if (command.format == "yaml") {
    for (const std::string& warning : imported.warnings) {
      if (!command.output.quiet) talk("warning: {}\n", warning);
    }
    return emit(command.output, import_comments(imported) + model_to_yaml(imported.model), kYes);
  }
  const Result<ImportReport> report = make_import_report(imported);
  if (!report) return fail(report.diagnostics());
  return emit(command.output, command.format == "json" ? to_json(*report) : to_text(*report), kYes);
}

}  // namespace

int run_import(const ImportCommand& command) {
  try {
    if (auto refused = overwrites({{"-o", command.output.file}}, {{"FILE", command.model}})) {
      return fail(*refused);
    }
    const Result<ImportedModel> imported =
        load_any_model(command.model, {.assume_dense = command.assume_dense});
    return imported ? print_imported(command, *imported) : fail(imported.diagnostics());
  } catch (const std::overflow_error&) {
    return fail(too_large());
  }
}

int run_export(const ExportCommand& command) {
  try {
    if (command.output.file.empty()) {
      return fail(one_error("--output", "is not given", "name the file to write: -o model.gguf"));
    }
    if (command.output.file == "-") {
      return fail(one_error("--output", "\"-\" is standard output, which cannot be sparse",
                            "name the file to write: -o model.gguf"));
    }
    if (auto refused = overwrites({{"-o", command.output.file}}, {{"MODEL", command.model}})) {
      return fail(*refused);
    }
    const Result<ImportedModel> imported = load_any_model(command.model, {});
    if (!imported) return fail(imported.diagnostics());
    const Result<ExportedFile> written =
        export_model(imported->model, command.quant, command.output.file);
    if (!written) return fail(written.diagnostics());
    if (!command.output.quiet) {
      talk("{}: {} tensors, {}, {} of it on disk\n", command.output.file, written->tensors,
           format_bytes_exact(written->file_bytes), format_bytes_exact(written->header_bytes));
    }
    return kYes;
  } catch (const std::overflow_error&) {
    return fail(too_large());
  }
}

}  // namespace tidemark::cli

#include "planner/config/load_any_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <system_error>

#include "planner/config/load.h"
#include "planner/import/byte_source.h"
#include "planner/import/foreign_begin.h"
#include "planner/import/gguf/gguf_model.h"
#include "planner/import/hf/hf_config.h"
#include "planner/import/safetensors_model.h"

namespace tidemark {
namespace {

bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

Diagnostics no_file(std::string_view name_or_path) {
  return one_error("model", fmt::format("no file {}", in_quotes(name_or_path)),
                   "write a built-in name, or the path of a model file or of its folder");
}

// A safetensors file names tensors, not an architecture; alone it is a list of sizes.
Result<ImportedModel> load_safetensors(const std::filesystem::path& path,
                                       const ImportOptions& options) {
  if (!is_file(path)) return no_file(path.string());
  const std::filesystem::path config = path.parent_path() / "config.json";
  if (is_file(config)) return read_hf_config(config, options);
  const Result<SafetensorsHeader> header = read_safetensors(path);
  return header ? sizes_of_safetensors(path.string(), *header) : header.diagnostics();
}

Result<ImportedModel> load_gguf(const std::filesystem::path& path, const ImportOptions& options) {
  Result<ImportedModel> read = read_gguf_model(path, options);
  if (!read || read->model.n_layer() > 0) return read;
  return Diagnostics{{.where = {.file = path.string()},
                      .path = read->model.architecture + ".block_count",
                      .message = "a model has at least one layer"}};
}

// Checkpoints and graphs of other tools. Without a list they would be looked for among the built-in
// names, or read as YAML.
constexpr std::array<std::string_view, 8> kForeignExtensions = {".bin", ".pt",   ".pth",    ".ckpt",
                                                                ".h5",  ".onnx", ".tflite", ".pte"};

Diagnostics not_read(const std::filesystem::path& path) {
  constexpr std::string_view kInstead =
      "give the model's .gguf, .safetensors or config.json, or its dimensions in a .yaml";
  Result<FileSource> opened = FileSource::open(path);
  if (!opened) return opened.diagnostics();
  FileSource source = std::move(opened).value();
  return {{.where = {.file = path.string()},
           .message = fmt::format("{} files are not read", path.extension().string()),
           .hint = std::string(hint_of_foreign(source, kInstead))}};
}

Result<ImportedModel> load_folder(const std::filesystem::path& path, const ImportOptions& options) {
  if (is_file(path / "config.json")) return read_hf_config(path / "config.json", options);
  return one_error("model", fmt::format("no config.json in {}", in_quotes(path.string())),
                   "a folder is a model when its config.json is in it");
}

}  // namespace

Result<ImportedModel> load_any_model(std::string_view name_or_path, const ImportOptions& options) {
  const std::filesystem::path path(name_or_path);
  const std::string extension = path.extension().string();
  if (extension == ".gguf") {
    return is_file(path) ? load_gguf(path, options) : no_file(name_or_path);
  }
  if (extension == ".safetensors") return load_safetensors(path, options);
  if (extension == ".json") {
    return is_file(path) ? read_hf_config(path, options) : no_file(name_or_path);
  }
  if (std::find(kForeignExtensions.begin(), kForeignExtensions.end(), extension) !=
      kForeignExtensions.end()) {
    return is_file(path) ? not_read(path) : no_file(name_or_path);
  }
  // A bare word is a built-in name first, even when a folder is called the same.
  const bool is_bare = name_or_path.find('/') == std::string_view::npos;
  if (is_folder(path) && !(is_bare && find_config(ConfigKind::kModel, name_or_path))) {
    return load_folder(path, options);
  }
  Result<ModelSpec> model = load_model(name_or_path);
  if (!model) return model.diagnostics();
  return ImportedModel{.model = std::move(model).value(), .format = "YAML"};
}

}  // namespace tidemark

#include "gui/models/open_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "planner/base/files.h"
#include "planner/config/load.h"
#include "planner/config/load_any_model.h"
#include "planner/config/yaml_reader.h"

namespace tidemark {
namespace {

using literals::operator""_MiB;

constexpr Bytes kMostReplayBytes = 64_MiB;
constexpr std::array<std::string_view, 8> kForeign{".bin", ".pt",   ".pth",    ".ckpt",
                                                   ".h5",  ".onnx", ".tflite", ".pte"};

// The word before the slash of `schema: model/1`.
Result<std::string> kind_of(const std::string& file, const std::string& content) {
  YamlDocument document(file, content);
  std::optional<YamlMap> map = document.root();
  if (!map) return document.diagnostics();
  const std::optional<std::string> schema = map->text("schema");
  if (!schema) return document.diagnostics();
  return schema->substr(0, schema->find('/'));
}

Result<OpenedFile> open_replay(const std::string& file) {
  const Result<std::string> content = read_file(file, kMostReplayBytes);
  if (!content) return content.diagnostics();
  Result<std::vector<MeasuredCurve>> curves =
      parse_replay(file, QByteArray::fromStdString(*content));
  if (!curves) return curves.diagnostics();
  return OpenedFile(std::move(curves).value());
}

Result<OpenedFile> open_yaml(const std::string& file) {
  const Result<std::string> content = read_config(file);
  if (!content) return content.diagnostics();
  const Result<std::string> kind = kind_of(file, *content);
  if (!kind) return kind.diagnostics();
  if (*kind == "model" || *kind == "device" || *kind == "engine") {
    return OpenedFile(OpenedConfig{.key = *kind, .file = file});
  }
  if (*kind != "scenario") {
    return one_error(file, "is of kind " + in_quotes(*kind) + ", which the window does not show",
                     *kind == "sweep" ? "run it with `tidemark sweep`"
                                      : "open a scenario, a model, a device, an engine or a "
                                        "replay's JSON");
  }
  Result<SettingMap> settings = parse_scenario(file, *content);
  if (!settings) return settings.diagnostics();
  return OpenedFile(OpenedScenario{.file = file, .settings = std::move(settings).value()});
}

// Not a file: a built-in scenario, else a model, whose name is checked when it is run.
Result<OpenedFile> open_name(const std::string& name) {
  if (!find_config(ConfigKind::kScenario, name)) {
    return OpenedFile(OpenedConfig{.key = "model", .file = name});
  }
  Result<SettingMap> settings = load_scenario_file(name);
  if (!settings) return settings.diagnostics();
  return OpenedFile(OpenedScenario{.file = name, .settings = std::move(settings).value()});
}

// What an importer reads, not this window: it is checked when it is run.
bool is_model_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path extension = path.extension();
  return extension == ".gguf" || extension == ".safetensors" || path.filename() == "config.json" ||
         std::filesystem::is_regular_file(path / "config.json", ignored);
}

// A folder without a config.json, or a model in a format that is not read: the importers have the
// words for it, and the model of the settings stays.
bool is_no_model(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path extension = path.extension();
  const bool is_foreign =
      std::any_of(kForeign.begin(), kForeign.end(),
                  [&](std::string_view foreign) { return extension == foreign; });
  return is_foreign || std::filesystem::is_directory(path, ignored);
}

}  // namespace

Result<OpenedFile> open_file(const std::string& file) {
  std::error_code ignored;
  const bool is_bare = file.find('/') == std::string::npos;
  if (is_bare && !std::filesystem::exists(file, ignored)) return open_name(file);
  // Without a folder it would be taken for a built-in name when the settings are resolved.
  const std::string path = is_bare ? "./" + file : file;
  if (is_model_file(path)) return OpenedFile(OpenedConfig{.key = "model", .file = path});
  if (is_no_model(path)) {
    const Result<ImportedModel> model = load_any_model(path, {});
    if (!model) return model.diagnostics();
    return OpenedFile(OpenedConfig{.key = "model", .file = path});
  }
  return path.ends_with(".json") ? open_replay(path) : open_yaml(path);
}

QString openable_files() {
  return QStringLiteral(
      "Scenario, model, device, engine or replay (*.yaml *.yml *.json *.gguf *.safetensors)");
}

}  // namespace tidemark

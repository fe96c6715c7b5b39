// A file a user opens or drops: what it is, by its content.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "gui/models/measured_curve.h"
#include "planner/config/settings.h"

namespace tidemark {

struct OpenedScenario {
  std::string file{};
  SettingMap settings{};
};

// A file that a setting names: a model, a device or an engine.
struct OpenedConfig {
  std::string key{};  // "model"
  std::string file{};
};

using OpenedFile = std::variant<OpenedScenario, OpenedConfig, std::vector<MeasuredCurve>>;

// JSON is a replay; YAML says in its `schema` what it is; a bare name that is no file is a built-in
// scenario or a model. A model that does not load is a problem only when it is run: then its
// problems stand beside the field.
Result<OpenedFile> open_file(const std::string& file);

// "Tidemark files (*.yaml *.json)" for file dialogs.
QString openable_files();

}  // namespace tidemark

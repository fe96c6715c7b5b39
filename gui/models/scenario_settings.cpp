#include "gui/models/scenario_settings.h"

#include "gui/models/scenario_text.h"

namespace tidemark {
namespace {

constexpr size_t kMostSteps = 1000;

bool same_texts(const SettingMap& a, const SettingMap& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, setting] : a) {
    const auto other = b.find(key);
    if (other == b.end() || other->second.text != setting.text) return false;
  }
  return true;
}

bool same_layers(const SettingLayers& a, const SettingLayers& b) {
  return a.scenario_file == b.scenario_file && same_texts(a.scenario, b.scenario) &&
         same_texts(a.edits, b.edits);
}

// Every setting of the scenario file as the edit that says the same.
SettingLayers without_file(const SettingLayers& layers) {
  SettingMap edits;
  for (const auto& [key, setting] : layers.scenario) {
    edits[key] = {.text = text_with_whole_path(key, setting), .origin = flag_origin(key)};
  }
  return {.edits = merge(std::move(edits), layers.edits)};
}

}  // namespace

std::string flag_origin(std::string_view key) {
  if (key == "model") return "flag MODEL";
  const SettingInfo* info = find_setting(key);
  if (info == nullptr || info->flags.empty()) return "flag --set " + std::string(key);
  const size_t comma = info->flags.find(',');
  return "flag " + std::string(info->flags.substr(comma == std::string_view::npos ? 0 : comma + 1));
}

ScenarioSettings::ScenarioSettings(SettingMap environment, QObject* parent)
    : QObject(parent), environment_(std::move(environment)) {}

void ScenarioSettings::start(SettingLayers layers) {
  steps_.clear();
  done_ = 0;
  layers_ = std::move(layers);
  Q_EMIT changed();
}

SettingMap ScenarioSettings::merged() const {
  return merge(merge(layers_.scenario, environment_), layers_.edits);
}

QString ScenarioSettings::value(std::string_view key) const {
  const SettingMap all = merged();
  const auto found = all.find(key);
  return found == all.end() ? QString() : QString::fromStdString(found->second.text);
}

void ScenarioSettings::setValue(std::string_view key, const QString& text) {
  const std::string name(key);
  SettingLayers after = layers_;
  if (text.isEmpty()) {
    if (after.scenario.contains(name)) after = without_file(after);
    after.edits.erase(name);
  } else if (text != value(key)) {
    after.edits[name] = {.text = text.toStdString(), .origin = flag_origin(key)};
  }
  apply(QString::fromStdString(name), std::move(after));
}

void ScenarioSettings::openScenario(const std::string& file, SettingMap scenario) {
  apply(tr("open a scenario"), {.scenario_file = file, .scenario = std::move(scenario)});
}

void ScenarioSettings::beginDrag() { dragging_ = true; }

void ScenarioSettings::endDrag() {
  dragging_ = false;
  if (done_ > 0) steps_[done_ - 1].is_open_drag = false;
}

void ScenarioSettings::apply(const QString& text, SettingLayers after) {
  if (same_layers(layers_, after)) return;
  steps_.resize(done_);
  const bool joins =
      dragging_ && !steps_.empty() && steps_.back().is_open_drag && steps_.back().text == text;
  if (joins) {
    steps_.back().after = after;
  } else {
    if (steps_.size() == kMostSteps) steps_.erase(steps_.begin());
    steps_.push_back({.text = text, .before = layers_, .after = after, .is_open_drag = dragging_});
  }
  done_ = steps_.size();
  layers_ = std::move(after);
  Q_EMIT changed();
}

QString ScenarioSettings::undoText() const {
  return canUndo() ? steps_[done_ - 1].text : QString();
}

QString ScenarioSettings::redoText() const { return canRedo() ? steps_[done_].text : QString(); }

void ScenarioSettings::undo() {
  if (!canUndo()) return;
  endDrag();
  layers_ = steps_[--done_].before;
  Q_EMIT changed();
}

void ScenarioSettings::redo() {
  if (!canRedo()) return;
  layers_ = steps_[done_++].after;
  Q_EMIT changed();
}

}  // namespace tidemark

// What the window's user has chosen, with every edit as a step that can be undone.
//
// Layers as on the command line, the stronger over the weaker: scenario file < environment < edits.
// An edit counts as the flag of its setting, so command_line() gives the same run with the same
// origins.
#pragma once

#include <QObject>
#include <QString>
#include <string>
#include <string_view>
#include <vector>

#include "planner/config/settings.h"

namespace tidemark {

struct SettingLayers {
  std::string scenario_file{};  // empty = none
  SettingMap scenario{};
  SettingMap edits{};
};

// "flag --ctx-size", "flag MODEL", "flag --set trace": where the command line would say it is from.
std::string flag_origin(std::string_view key);

class ScenarioSettings : public QObject {
  Q_OBJECT

 public:
  explicit ScenarioSettings(SettingMap environment = settings_from_environment(),
                            QObject* parent = nullptr);

  // What there is to begin with; nothing before it can be undone.
  void start(SettingLayers layers);

  const SettingLayers& layers() const { return layers_; }
  SettingMap merged() const;
  // As stated in any layer; "" when nothing is.
  QString value(std::string_view key) const;

  // Empty text takes the setting back. What a scenario file states cannot be taken back by a flag,
  // so then the whole file is turned into edits and let go.
  void setValue(std::string_view key, const QString& text);
  // Replaces the scenario file and drops all edits: one step.
  void openScenario(const std::string& file, SettingMap scenario);

  // Between the two, edits of one setting are one step: the drag of a slider.
  void beginDrag();
  void endDrag();

  bool canUndo() const { return done_ > 0; }
  bool canRedo() const { return done_ < steps_.size(); }
  QString undoText() const;  // "ctx_size"
  QString redoText() const;
  void undo();
  void redo();

 Q_SIGNALS:
  void changed();

 private:
  struct Step {
    QString text{};
    SettingLayers before{};
    SettingLayers after{};
    bool is_open_drag = false;
  };

  void apply(const QString& text, SettingLayers after);

  SettingMap environment_;
  SettingLayers layers_{};
  std::vector<Step> steps_{};
  size_t done_ = 0;  // steps_[0, done_) are in effect
  bool dragging_ = false;
};

}  // namespace tidemark

// The left side of the window: one field a setting. A field shows what is stated, else what the
// last run resolved; every change by the user is an edit of the settings.
#pragma once

#include <QWidget>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/run_controller.h"
#include "gui/models/scenario_settings.h"

class QComboBox;
class QFormLayout;
class QLabel;

namespace tidemark {

class FieldFilter;
class NumberField;
class OtherSettings;

class SettingsPanel : public QWidget {
  Q_OBJECT

 public:
  // Fields are children named by their key: findChild<QComboBox*>("quant"); the slider is
  // "ctx_size_slider".
  explicit SettingsPanel(ScenarioSettings& settings, QWidget* parent = nullptr);

  // What was resolved, and the problems beside the fields they belong to.
  void setResult(const RunResult& result);
  // The words beside the field of a setting; a setting without a field is called by its key.
  QString labelOf(const QString& key) const;

 private:
  struct Field {
    std::string key{};
    QString label{};
    QLabel* problem = nullptr;
    std::function<void()> refresh{};
  };

  QComboBox* addCombo(std::string_view key, const QString& label, const QString& unstated);
  void makeSearchable(QComboBox* combo, std::string_view key);
  void addContext();
  void addNumber(std::string_view key, const QString& label);
  void addBudget();
  void addField(std::string_view key, const QString& label, QWidget* editor,
                std::function<void()> refresh);
  void refreshCombo(QComboBox* combo, std::string_view key, const QString& unstated);
  NumberField* makeNumber(std::string_view key, int least, int step);
  std::optional<int> refreshNumber(NumberField* field, std::string_view key);
  void refresh();
  // As stated, else as resolved.
  QString shown(std::string_view key) const;

  ScenarioSettings& settings_;
  std::vector<Setting> resolved_{};
  QFormLayout* form_ = nullptr;
  FieldFilter* filter_ = nullptr;
  OtherSettings* others_ = nullptr;
  std::vector<Field> fields_{};
};

}  // namespace tidemark

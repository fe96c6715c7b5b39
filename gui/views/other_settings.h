// The settings that have no field of their own: each that is stated stands in a row, to be changed
// or taken back, and a list adds any of the others.
#pragma once

#include <QWidget>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/run_controller.h"
#include "gui/models/scenario_settings.h"
#include "gui/views/field_filter.h"

class QComboBox;
class QGridLayout;
class QLabel;
class QVBoxLayout;

namespace tidemark {

class OtherSettings : public QWidget {
  Q_OBJECT

 public:
  // `with_fields`: keys shown elsewhere. A row's editor is a child named by its key, the button
  // that takes it back is "KEY_remove", the list of the others "add_setting".
  OtherSettings(ScenarioSettings& settings, std::vector<std::string> with_fields,
                FieldFilter& filter, QWidget* parent = nullptr);

  // Tab comes here from `before`, which is in the same window by now.
  void standAfter(QWidget* before);
  void refresh();
  void setProblems(const Diagnostics& problems);

 private:
  struct Row {
    std::string key{};
    QWidget* editor = nullptr;
    QWidget* button = nullptr;
    QLabel* problem = nullptr;
  };

  std::vector<std::string> keysToShow() const;
  void makeRows(const std::vector<std::string>& keys);
  void makeRow(const std::string& key, QGridLayout& grid);
  QWidget* makeEditor(const std::string& key);
  void makeList();
  void orderTabs();
  void add(const std::string& key);
  void remove(const std::string& key);
  void refreshRow(const Row& row);

  ScenarioSettings& settings_;
  FieldFilter& filter_;
  std::vector<std::string> with_fields_;
  std::vector<std::string> begun_{};  // added here, no value yet
  std::vector<Row> rows_{};
  Diagnostics problems_{};
  QVBoxLayout* column_ = nullptr;
  QWidget* before_ = nullptr;
  QWidget* grid_ = nullptr;  // all rows, made anew when there are others
  QComboBox* list_ = nullptr;
};

}  // namespace tidemark

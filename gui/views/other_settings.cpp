#include "gui/views/other_settings.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/result_words.h"
#include "gui/models/setting_choices.h"
#include "gui/views/theme.h"

namespace tidemark {
namespace {

QString text_of(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

bool contains(const std::vector<std::string>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// "SIZE; default: all of it"
QString hint_of(const SettingInfo& info) {
  const QString fallback = text_of(info.fallback);
  return text_of(info.value) +
         (fallback.isEmpty() ? QString() : QStringLiteral("; default: ") + fallback);
}

}  // namespace

OtherSettings::OtherSettings(ScenarioSettings& settings, std::vector<std::string> with_fields,
                             FieldFilter& filter, QWidget* parent)
    : QWidget(parent),
      settings_(settings),
      filter_(filter),
      with_fields_(std::move(with_fields)),
      column_(new QVBoxLayout(this)) {
  column_->setContentsMargins(0, 0, 0, 0);
  column_->setSpacing(6);
  makeList();
  refresh();
}

void OtherSettings::makeList() {
  list_ = new QComboBox;
  list_->setObjectName(QStringLiteral("add_setting"));
  list_->setAccessibleName(tr("Add another setting"));
  list_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  list_->setMinimumContentsLength(14);
  filter_.watch(list_);
  connect(list_, &QComboBox::activated, this, [this](int index) {
    const std::string key = list_->itemData(index).toString().toStdString();
    list_->setCurrentIndex(0);
    if (!key.empty()) add(key);
  });
  column_->addWidget(list_);
}

std::vector<std::string> OtherSettings::keysToShow() const {
  const SettingMap stated = settings_.merged();
  std::vector<std::string> keys;
  for (const SettingInfo& info : settings_table()) {
    if (contains(with_fields_, info.key)) continue;
    if (stated.contains(info.key) || contains(begun_, info.key)) keys.emplace_back(info.key);
  }
  return keys;
}

void OtherSettings::refresh() {
  const std::vector<std::string> keys = keysToShow();
  const bool same =
      grid_ != nullptr &&
      std::equal(rows_.begin(), rows_.end(), keys.begin(), keys.end(),
                 [](const Row& row, const std::string& key) { return row.key == key; });
  if (!same) makeRows(keys);
  for (const Row& row : rows_) refreshRow(row);
}

void OtherSettings::makeRows(const std::vector<std::string>& keys) {
  // What is being handled may come from one of them.
  if (grid_ != nullptr) grid_->deleteLater();
  rows_.clear();
  grid_ = new QWidget;
  auto* grid = new QGridLayout(grid_);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(0, 1);
  for (const std::string& key : keys) makeRow(key, *grid);
  // Shown before it has its place, it would be a window of its own for a moment.
  column_->insertWidget(0, grid_);
  grid_->setVisible(!keys.empty());
  orderTabs();
  const QSignalBlocker quiet(list_);
  list_->clear();
  list_->addItem(tr("Add a setting..."), QString());
  for (const SettingInfo& info : settings_table()) {
    if (contains(with_fields_, info.key) || contains(keys, info.key)) continue;
    list_->addItem(text_of(info.key), text_of(info.key));
    list_->setItemData(list_->count() - 1, text_of(info.help), Qt::ToolTipRole);
  }
}

void OtherSettings::makeRow(const std::string& key, QGridLayout& grid) {
  const int line = 3 * static_cast<int>(rows_.size());
  auto* button = new QToolButton;
  const Row row{.key = key, .editor = makeEditor(key), .button = button, .problem = new QLabel};
  auto* name = new QLabel(text_of(key));
  name->setBuddy(row.editor);
  button->setText(QStringLiteral("\u00d7"));
  button->setAutoRaise(true);
  button->setObjectName(text_of(key) + QStringLiteral("_remove"));
  button->setToolTip(tr("Take %1 back").arg(text_of(key)));
  button->setAccessibleName(button->toolTip());
  connect(button, &QToolButton::clicked, this, [this, key] { remove(key); });
  row.problem->setObjectName(text_of(key) + QStringLiteral("_problem"));
  row.problem->setWordWrap(true);
  row.problem->setTextFormat(Qt::PlainText);
  grid.addWidget(name, line, 0, 1, 2);
  grid.addWidget(row.editor, line + 1, 0);
  grid.addWidget(button, line + 1, 1);
  grid.addWidget(row.problem, line + 2, 0, 1, 2);
  rows_.push_back(row);
}

void OtherSettings::standAfter(QWidget* before) {
  before_ = before;
  orderTabs();
}

// Rows are made after the list that stands below them, and after the rest of the window.
void OtherSettings::orderTabs() {
  if (before_ == nullptr) return;
  QWidget* last = before_;
  for (const Row& row : rows_) {
    setTabOrder(last, row.editor);
    setTabOrder(row.editor, row.button);
    last = row.button;
  }
  setTabOrder(last, list_);
}

QWidget* OtherSettings::makeEditor(const std::string& key) {
  const SettingInfo& info = *find_setting(key);
  const QStringList choices = setting_choices(key);
  QWidget* editor = nullptr;
  if (!choices.isEmpty()) {
    auto* combo = new QComboBox;
    combo->addItems(choices);
    connect(combo, &QComboBox::textActivated, this,
            [this, key](const QString& text) { settings_.setValue(key, text); });
    filter_.watch(combo);
    editor = combo;
  } else {
    auto* edit = new QLineEdit;
    edit->setPlaceholderText(hint_of(info));
    connect(edit, &QLineEdit::editingFinished, this, [this, edit, key] {
      const QString text = edit->text().trimmed();
      // Empty: still being begun, or the wish of none.
      if (!text.isEmpty() || !contains(begun_, key)) settings_.setValue(key, text);
    });
    filter_.watch(
        edit, [this, edit, key] { return edit->text().trimmed() != settings_.value(key); },
        [this, edit, key] { edit->setText(settings_.value(key)); });
    editor = edit;
  }
  editor->setObjectName(text_of(key));
  editor->setAccessibleName(text_of(key));
  editor->setToolTip(text_of(info.help));
  return editor;
}

void OtherSettings::add(const std::string& key) {
  const QStringList choices = setting_choices(key);
  if (!choices.isEmpty()) {
    settings_.setValue(key, choices.front());
  } else {
    begun_.push_back(key);
    refresh();
  }
  for (const Row& row : rows_) {
    if (row.key == key) row.editor->setFocus(Qt::OtherFocusReason);
  }
}

void OtherSettings::remove(const std::string& key) {
  std::erase(begun_, key);
  settings_.setValue(key, QString());
  refresh();
}

void OtherSettings::refreshRow(const Row& row) {
  const QString stated = settings_.value(row.key);
  if (!stated.isEmpty()) std::erase(begun_, row.key);
  if (auto* combo = qobject_cast<QComboBox*>(row.editor)) {
    if (combo->findText(stated) < 0) combo->addItem(stated);
    combo->setCurrentText(stated);
  } else if (auto* edit = qobject_cast<QLineEdit*>(row.editor)) {
    const QSignalBlocker quiet(edit);
    if (!(edit->hasFocus() && edit->isModified()) || stated == edit->text().trimmed()) {
      edit->setText(stated);
    }
  }
  const QString problem = problem_of_setting(problems_, row.key);
  row.problem->setText(problem);
  row.problem->setVisible(!problem.isEmpty());
  QPalette red = palette();
  red.setColor(QPalette::WindowText, limit_color(palette()));
  row.problem->setPalette(red);
}

void OtherSettings::setProblems(const Diagnostics& problems) {
  problems_ = problems;
  refresh();
}

}  // namespace tidemark

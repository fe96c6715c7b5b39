#include "gui/views/settings_panel.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QCompleter>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "gui/models/result_words.h"
#include "gui/models/setting_choices.h"
#include "gui/views/field_filter.h"
#include "gui/views/number_field.h"
#include "gui/views/other_settings.h"
#include "gui/views/theme.h"

namespace tidemark {
namespace {

constexpr int kMostNumber = 1 << 30;
constexpr int kMostVisible = 20;
constexpr std::array<std::string_view, 3> kStatedIn{"flag ", "scenario ", "environment "};
constexpr const char* kBuiltInProperty = "built_in";  // items that are always there

QString object_name(std::string_view key) {
  return QString::fromUtf8(key.data(), static_cast<qsizetype>(key.size()));
}

QString help_of(std::string_view key) {
  const SettingInfo* info = find_setting(key);
  return info == nullptr ? QString() : object_name(info->help);
}

bool was_stated(const Setting& setting) {
  return std::any_of(kStatedIn.begin(), kStatedIn.end(),
                     [&](std::string_view origin) { return setting.origin.starts_with(origin); });
}

bool is_half_typed(const QComboBox& combo) {
  return combo.isEditable() && combo.lineEdit()->isModified();
}

}  // namespace

SettingsPanel::SettingsPanel(ScenarioSettings& settings, QWidget* parent)
    : QWidget(parent),
      settings_(settings),
      form_(new QFormLayout(this)),
      filter_(new FieldFilter(this)) {
  form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form_->setRowWrapPolicy(QFormLayout::DontWrapRows);
  form_->setLabelAlignment(Qt::AlignLeft);
  form_->setVerticalSpacing(8);
  makeSearchable(addCombo("model", tr("&Model"), QString()), "model");
  makeSearchable(addCombo("device", tr("&Device"), tr("default")), "device");
  addCombo("engine", tr("E&ngine"), tr("default"));
  addCombo("quant", tr("&Quantization"), tr("as stored"));
  addContext();
  addCombo("strategy", tr("&Strategy"), tr("default"));
  addCombo("cache_type_k", tr("&K cache type"), tr("default"));
  addCombo("cache_type_v", tr("V &cache type"), tr("default"));
  addBudget();
  addNumber("prompt", tr("&Prompt"));
  addNumber("generate", tr("&Generate"));
  std::vector<std::string> keys;
  for (const Field& field : fields_) keys.push_back(field.key);
  others_ = new OtherSettings(settings_, std::move(keys), *filter_);
  auto* heading = new QLabel(tr("Other settings"));
  QFont bold = heading->font();
  bold.setBold(true);
  heading->setFont(bold);
  heading->setContentsMargins(0, 8, 0, 0);
  form_->addRow(heading);
  form_->addRow(others_);
  others_->standAfter(findChild<NumberField*>(QStringLiteral("generate")));
  connect(&settings_, &ScenarioSettings::changed, this, [this] { refresh(); });
  refresh();
}

void SettingsPanel::addField(std::string_view key, const QString& label, QWidget* editor,
                             std::function<void()> refresh) {
  auto* cell = new QWidget;
  auto* column = new QVBoxLayout(cell);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  column->addWidget(editor);
  auto* problem = new QLabel;
  problem->setObjectName(object_name(key) + QStringLiteral("_problem"));
  problem->setWordWrap(true);
  problem->setTextFormat(Qt::PlainText);
  problem->hide();
  column->addWidget(problem);
  auto* name = new QLabel(label);
  name->setBuddy(editor->focusProxy() != nullptr ? editor->focusProxy() : editor);
  name->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  name->setContentsMargins(0, 5, 0, 0);
  form_->addRow(name, cell);
  QString plain = label;
  name->buddy()->setAccessibleName(plain.remove(QLatin1Char('&')));
  name->buddy()->setToolTip(help_of(key));
  fields_.push_back(
      {.key = std::string(key), .label = plain, .problem = problem, .refresh = std::move(refresh)});
}

QComboBox* SettingsPanel::addCombo(std::string_view key, const QString& label,
                                   const QString& unstated) {
  auto* combo = new QComboBox;
  combo->setObjectName(object_name(key));
  // Long names of files must not widen the window.
  combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  combo->setMinimumContentsLength(14);
  combo->setMaxVisibleItems(kMostVisible);
  if (!unstated.isEmpty()) combo->addItem(unstated, QString());
  for (const QString& choice : setting_choices(key)) combo->addItem(choice, choice);
  combo->setProperty(kBuiltInProperty, combo->count());
  connect(combo, &QComboBox::activated, this, [this, combo, key](int index) {
    if (combo->isEditable()) combo->lineEdit()->setModified(false);
    settings_.setValue(key, combo->itemData(index).toString());
  });
  filter_->watch(
      combo, [combo] { return is_half_typed(*combo); },
      [this, combo, key, unstated] {
        combo->lineEdit()->setModified(false);
        refreshCombo(combo, key, unstated);
        combo->completer()->popup()->hide();
      });
  addField(key, label, combo, [this, combo, key, unstated] { refreshCombo(combo, key, unstated); });
  return combo;
}

// Typing lists what has the letters anywhere in its name. What is not in the list is the name of a
// file, or one that is answered with the nearest.
void SettingsPanel::makeSearchable(QComboBox* combo, std::string_view key) {
  const QString name = combo->accessibleName();
  const QString help = combo->toolTip();
  combo->setEditable(true);
  combo->setInsertPolicy(QComboBox::NoInsert);
  combo->completer()->setFilterMode(Qt::MatchContains);
  combo->completer()->setCompletionMode(QCompleter::PopupCompletion);
  combo->completer()->setCaseSensitivity(Qt::CaseInsensitive);
  combo->completer()->setMaxVisibleItems(kMostVisible);
  combo->lineEdit()->setAccessibleName(name);
  combo->lineEdit()->setToolTip(help);
  connect(combo->lineEdit(), &QLineEdit::editingFinished, this, [this, combo, key] {
    QLineEdit* edit = combo->lineEdit();
    if (!is_half_typed(*combo)) return;
    edit->setModified(false);
    const QString typed = edit->text().trimmed();
    const int index = combo->findText(typed, Qt::MatchFixedString);
    const bool is_listed = index >= 0 || typed.isEmpty();
    const QString text = is_listed ? combo->itemData(std::max(index, 0)).toString() : typed;
    // A run needs a model: an emptied field shows the last one again.
    if (key == "model" && typed.isEmpty()) return refresh();
    settings_.setValue(key, text);
    refresh();
  });
}

void SettingsPanel::refreshCombo(QComboBox* combo, std::string_view key, const QString& unstated) {
  // A result that arrives must not take away what is being typed.
  if (is_half_typed(*combo) && combo->hasFocus()) return;
  const QSignalBlocker quiet(combo);
  const QString stated = settings_.value(key);
  if (!unstated.isEmpty()) {
    const QString resolved = stated.isEmpty() ? shown(key) : QString();
    combo->setItemText(0, resolved.isEmpty() || resolved == "as-stored"
                              ? unstated
                              : unstated + " (" + resolved + ")");
  }
  int index = combo->findData(stated);
  if (index < 0 && !stated.isEmpty()) {
    // A file, or a name that is not in the list. Of names that were wrong none is kept.
    const int last = combo->count() - 1;
    const bool was_name = last >= combo->property(kBuiltInProperty).toInt() &&
                          !combo->itemData(last).toString().contains(QLatin1Char('/'));
    if (was_name) combo->removeItem(last);
    combo->addItem(QFileInfo(stated).fileName(), stated);
    index = combo->count() - 1;
    combo->setItemData(index, stated, Qt::ToolTipRole);
  }
  combo->setCurrentIndex(index);
  if (combo->isEditable()) {
    combo->setEditText(index < 0 ? QString() : combo->itemText(index));
    combo->lineEdit()->setModified(false);
    combo->lineEdit()->setCursorPosition(0);
  }
  const QString help = help_of(key);
  const bool is_file = stated.contains(QLatin1Char('/'));
  (combo->isEditable() ? static_cast<QWidget*>(combo->lineEdit()) : combo)
      ->setToolTip(is_file ? stated + QLatin1Char('\n') + help : help);
}

NumberField* SettingsPanel::makeNumber(std::string_view key, int least, int step) {
  auto* number = new NumberField(least, kMostNumber, step, tr("tokens"));
  number->setObjectName(object_name(key));
  connect(number, &QSpinBox::valueChanged, this, [this, number, key] {
    const std::optional<int> stated = number->stated();
    settings_.setValue(key, stated ? QString::number(*stated) : QString());
  });
  filter_->watch(
      number, [number] { return number->isHalfTyped(); },
      [number] { number->showNumber(number->stated()); });
  return number;
}

// The number that it comes to, stated or not.
std::optional<int> SettingsPanel::refreshNumber(NumberField* field, std::string_view key) {
  const auto number_of = [field](const QString& text) {
    bool is_number = false;
    const int number = text.toInt(&is_number);
    const bool is_shown = is_number && number > field->minimum() && number <= field->maximum();
    return is_shown ? std::optional<int>(number) : std::nullopt;
  };
  const QString text = settings_.value(key);
  const std::optional<int> stated = number_of(text);
  const std::optional<int> resolved = number_of(shown(key));
  if (field->isHalfTyped() && field->hasFocus()) return resolved;
  const QSignalBlocker quiet(field);
  if (!stated && !text.isEmpty()) {
    field->showText(text);
    return resolved;
  }
  field->setDefault(stated ? std::nullopt : resolved);
  field->showNumber(stated);
  return resolved;
}

void SettingsPanel::addNumber(std::string_view key, const QString& label) {
  NumberField* number = makeNumber(key, 0, 32);
  addField(key, label, number, [this, number, key] { refreshNumber(number, key); });
}

void SettingsPanel::addContext() {
  constexpr std::string_view kKey = "ctx_size";
  NumberField* number = makeNumber(kKey, 1, 256);
  auto* slider = new QSlider(Qt::Horizontal);
  slider->setObjectName(QStringLiteral("ctx_size_slider"));
  slider->setRange(0, last_context_position());
  slider->setPageStep(4);
  slider->setAccessibleName(tr("Context, from 128 to 1,048,576"));
  slider->setToolTip(slider->accessibleName());
  connect(slider, &QSlider::sliderPressed, &settings_, &ScenarioSettings::beginDrag);
  connect(slider, &QSlider::sliderReleased, &settings_, &ScenarioSettings::endDrag);
  connect(slider, &QSlider::valueChanged, this, [this](int position) {
    settings_.setValue(kKey, QString::number(context_at(position)));
  });
  filter_->watch(slider);
  auto* both = new QWidget;
  auto* column = new QVBoxLayout(both);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  column->addWidget(number);
  column->addWidget(slider);
  both->setFocusProxy(number);
  addField(kKey, tr("Conte&xt"), both, [this, number, slider] {
    const std::optional<int> value = refreshNumber(number, kKey);
    if (!value) return;
    const QSignalBlocker quiet(slider);
    slider->setValue(context_position(*value));
  });
}

void SettingsPanel::addBudget() {
  auto* edit = new QLineEdit;
  edit->setObjectName(QStringLiteral("budget"));
  edit->setPlaceholderText(tr("limit of the device"));
  edit->setClearButtonEnabled(true);
  const auto commit = [this, edit] { settings_.setValue("budget", edit->text().trimmed()); };
  connect(edit, &QLineEdit::editingFinished, this, commit);
  const auto is_half_typed = [this, edit] {
    return edit->text().trimmed() != settings_.value("budget");
  };
  const auto revert = [this, edit] { edit->setText(settings_.value("budget")); };
  filter_->watch(edit, is_half_typed, revert);
  addField("budget", tr("&Budget"), edit, [edit, revert] {
    if (edit->isModified() && edit->hasFocus()) return;
    const QSignalBlocker quiet(edit);
    revert();
  });
}

QString SettingsPanel::shown(std::string_view key) const {
  const QString stated = settings_.value(key);
  if (!stated.isEmpty()) return stated;
  // A value that was stated in the last run and is no longer is no default.
  for (const Setting& setting : resolved_) {
    if (setting.key == key && !was_stated(setting)) return QString::fromStdString(setting.value);
  }
  return {};
}

void SettingsPanel::setResult(const RunResult& result) {
  if (result.plan) resolved_ = result.plan->settings;
  for (const Field& field : fields_) {
    const QString problem = problem_of_setting(result.problems, field.key);
    field.problem->setText(problem);
    field.problem->setVisible(!problem.isEmpty());
    QPalette red = palette();
    red.setColor(QPalette::WindowText, limit_color(palette()));
    field.problem->setPalette(red);
  }
  others_->setProblems(result.problems);
  refresh();
}

QString SettingsPanel::labelOf(const QString& key) const {
  const auto found = std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) {
    return field.key == key.toStdString();
  });
  return found == fields_.end() ? key : found->label;
}

void SettingsPanel::refresh() {
  for (const Field& field : fields_) field.refresh();
  if (others_ != nullptr) others_->refresh();
}

}  // namespace tidemark

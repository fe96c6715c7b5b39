#include "gui/views/settings_panel.h"

#include <QComboBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/result_words.h"
#include "gui/models/setting_choices.h"
#include "gui/views/theme.h"

namespace tidemark {
namespace {

constexpr int kMostNumber = 1 << 30;

QString object_name(std::string_view key) {
  return QString::fromUtf8(key.data(), static_cast<qsizetype>(key.size()));
}

QString help_of(std::string_view key) {
  const SettingInfo* info = find_setting(key);
  return info == nullptr ? QString() : object_name(info->help);
}

}  // namespace

SettingsPanel::SettingsPanel(ScenarioSettings& settings, QWidget* parent)
    : QWidget(parent), settings_(settings), form_(new QFormLayout(this)) {
  form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form_->setRowWrapPolicy(QFormLayout::DontWrapRows);
  form_->setLabelAlignment(Qt::AlignLeft);
  form_->setVerticalSpacing(8);
  addCombo("model", tr("&Model"), QString());
  addCombo("device", tr("&Device"), tr("default"));
  addCombo("engine", tr("E&ngine"), tr("default"));
  addCombo("quant", tr("&Quantization"), tr("as stored"));
  addContext();
  addCombo("strategy", tr("&Strategy"), tr("default"));
  addCombo("cache_type_k", tr("&K cache type"), tr("default"));
  addCombo("cache_type_v", tr("V &cache type"), tr("default"));
  addBudget();
  addNumber("prompt", tr("&Prompt"));
  addNumber("generate", tr("&Generate"));
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
  fields_.push_back({.key = std::string(key), .problem = problem, .refresh = std::move(refresh)});
}

void SettingsPanel::addCombo(std::string_view key, const QString& label, const QString& unstated) {
  auto* combo = new QComboBox;
  combo->setObjectName(object_name(key));
  // Long names of files must not widen the window.
  combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  combo->setMinimumContentsLength(14);
  if (!unstated.isEmpty()) combo->addItem(unstated, QString());
  for (const QString& choice : setting_choices(key)) combo->addItem(choice, choice);
  connect(combo, &QComboBox::activated, this, [this, combo, key](int index) {
    settings_.setValue(key, combo->itemData(index).toString());
  });
  addField(key, label, combo, [this, combo, key, unstated] { refreshCombo(combo, key, unstated); });
}

void SettingsPanel::refreshCombo(QComboBox* combo, std::string_view key, const QString& unstated) {
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
    // A file, or a name that is not in the list.
    combo->addItem(QFileInfo(stated).fileName(), stated);
    index = combo->count() - 1;
    combo->setItemData(index, stated, Qt::ToolTipRole);
  }
  combo->setCurrentIndex(index);
}

QSpinBox* SettingsPanel::makeSpin(std::string_view key, int least, int step) {
  auto* spin = new QSpinBox;
  spin->setObjectName(object_name(key));
  spin->setRange(least, kMostNumber);
  spin->setSingleStep(step);
  spin->setGroupSeparatorShown(true);
  // A number half typed is no edit.
  spin->setKeyboardTracking(false);
  connect(spin, &QSpinBox::valueChanged, this,
          [this, key](int value) { settings_.setValue(key, QString::number(value)); });
  return spin;
}

void SettingsPanel::addNumber(std::string_view key, const QString& label) {
  QSpinBox* spin = makeSpin(key, 0, 32);
  addField(key, label, spin, [this, spin, key] {
    const QSignalBlocker quiet(spin);
    bool is_number = false;
    const int value = shown(key).toInt(&is_number);
    if (is_number) spin->setValue(value);
  });
}

void SettingsPanel::addContext() {
  constexpr std::string_view kKey = "ctx_size";
  QSpinBox* spin = makeSpin(kKey, 1, 256);
  auto* slider = new QSlider(Qt::Horizontal);
  slider->setObjectName(QStringLiteral("ctx_size_slider"));
  slider->setRange(0, last_context_position());
  slider->setPageStep(4);
  slider->setAccessibleName(tr("Context, from 128 to 1,048,576"));
  connect(slider, &QSlider::sliderPressed, &settings_, &ScenarioSettings::beginDrag);
  connect(slider, &QSlider::sliderReleased, &settings_, &ScenarioSettings::endDrag);
  connect(slider, &QSlider::valueChanged, this, [this](int position) {
    settings_.setValue(kKey, QString::number(context_at(position)));
  });
  auto* both = new QWidget;
  auto* column = new QVBoxLayout(both);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  column->addWidget(spin);
  column->addWidget(slider);
  both->setFocusProxy(spin);
  addField(kKey, tr("Conte&xt"), both, [this, spin, slider] {
    const QSignalBlocker quiet_spin(spin);
    const QSignalBlocker quiet_slider(slider);
    bool is_number = false;
    const int value = shown(kKey).toInt(&is_number);
    if (!is_number) return;
    spin->setValue(value);
    slider->setValue(context_position(value));
  });
}

void SettingsPanel::addBudget() {
  auto* edit = new QLineEdit;
  edit->setObjectName(QStringLiteral("budget"));
  edit->setPlaceholderText(tr("limit of the device"));
  edit->setClearButtonEnabled(true);
  connect(edit, &QLineEdit::editingFinished, this,
          [this, edit] { settings_.setValue("budget", edit->text().trimmed()); });
  addField("budget", tr("&Budget"), edit, [this, edit] {
    const QSignalBlocker quiet(edit);
    edit->setText(settings_.value("budget"));
  });
}

QString SettingsPanel::shown(std::string_view key) const {
  const QString stated = settings_.value(key);
  if (!stated.isEmpty()) return stated;
  for (const Setting& setting : resolved_) {
    if (setting.key == key) return QString::fromStdString(setting.value);
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
  refresh();
}

void SettingsPanel::refresh() {
  for (const Field& field : fields_) field.refresh();
}

}  // namespace tidemark

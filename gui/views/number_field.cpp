#include "gui/views/number_field.h"

#include <algorithm>

namespace tidemark {

NumberField::NumberField(int least, int most, int step, const QString& unit, QWidget* parent)
    : QSpinBox(parent) {
  // The number below the least stands for the default.
  setRange(least - 1, most);
  setSingleStep(step);
  setGroupSeparatorShown(true);
  setSuffix(QStringLiteral(" ") + unit);
  // A number half typed is no edit.
  setKeyboardTracking(false);
  setDefault(std::nullopt);
}

void NumberField::setDefault(std::optional<int> number) {
  default_ = number;
  setSpecialValueText(number ? tr("default (%1%2)").arg(locale().toString(*number), suffix())
                             : tr("default"));
}

void NumberField::showNumber(std::optional<int> stated) { setValue(stated.value_or(minimum())); }

void NumberField::showText(const QString& text) {
  default_ = std::nullopt;
  setSpecialValueText(text);
  setValue(minimum());
}

std::optional<int> NumberField::stated() const {
  return value() == minimum() ? std::nullopt : std::optional<int>(value());
}

bool NumberField::isHalfTyped() const {
  const bool is_default = value() == minimum();
  return text() != (is_default ? specialValueText() : locale().toString(value()) + suffix());
}

void NumberField::stepBy(int steps) {
  if (value() == minimum() && !isHalfTyped() && default_) {
    setValue(std::max(minimum() + 1, *default_ + steps * singleStep()));
    selectAll();
    return;
  }
  // Down to the least number first.
  const bool passes = value() > minimum() + 1 && value() + steps * singleStep() <= minimum();
  if (passes && !isHalfTyped()) return setValue(minimum() + 1);
  QSpinBox::stepBy(steps);
}

QAbstractSpinBox::StepEnabled NumberField::stepEnabled() const {
  const bool steps_from_default = value() == minimum() && default_;
  return steps_from_default ? StepUpEnabled | StepDownEnabled : QSpinBox::stepEnabled();
}

void NumberField::fixup(QString& input) const {
  QString digits = input;
  if (!suffix().isEmpty()) digits.remove(suffix().trimmed());
  if (digits.trimmed().isEmpty()) input = locale().toString(minimum());
}

}  // namespace tidemark

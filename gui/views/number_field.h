// A number that may be left to its default: then the field says which one that is. Cleared, or
// stepped below the least number, it goes back to the default.
//   default (4,096 tokens)   step up ->   4,352 tokens   cleared ->   default (4,096 tokens)
#pragma once

#include <QSpinBox>
#include <optional>

namespace tidemark {

class NumberField : public QSpinBox {
  Q_OBJECT

 public:
  // `least`: of the numbers that can be stated.
  NumberField(int least, int most, int step, const QString& unit, QWidget* parent = nullptr);

  // What the default comes to; nothing while that is not known.
  void setDefault(std::optional<int> number);
  void showNumber(std::optional<int> stated);
  // What is stated elsewhere and is no number of the field, as it is: "8k".
  void showText(const QString& text);
  // Nothing = left to its default.
  std::optional<int> stated() const;
  // The text is no number of the field yet, for it has not been finished.
  bool isHalfTyped() const;

  void stepBy(int steps) override;
  void fixup(QString& input) const override;

 protected:
  StepEnabled stepEnabled() const override;

 private:
  std::optional<int> default_{};
};

}  // namespace tidemark

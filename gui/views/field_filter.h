// What the fields of a form need beyond what Qt gives them. The wheel scrolls the form and changes
// no field that merely lies under the mouse. Ctrl+Z undoes the last edit of the settings, and only
// text that is half typed is undone in the field itself. Escape takes half-typed text back.
#pragma once

#include <QHash>
#include <QObject>
#include <functional>

class QKeyEvent;
class QWidget;

namespace tidemark {

class FieldFilter : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // `is_half_typed`: what the field shows is no edit yet. `revert`: shows the setting again.
  void watch(QWidget* field, std::function<bool()> is_half_typed, std::function<void()> revert);
  // For fields that are not typed into.
  void watch(QWidget* field);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Field {
    std::function<bool()> is_half_typed{};
    std::function<void()> revert{};
  };

  bool filterKey(const Field& field, QKeyEvent& event);

  QHash<QObject*, Field> fields_{};
};

}  // namespace tidemark

#include "gui/views/field_filter.h"

#include <QKeyEvent>
#include <QKeySequence>
#include <QWidget>

namespace tidemark {

void FieldFilter::watch(QWidget* field, std::function<bool()> is_half_typed,
                        std::function<void()> revert) {
  fields_.insert(field, {.is_half_typed = std::move(is_half_typed), .revert = std::move(revert)});
  field->installEventFilter(this);
  // By default the wheel gives the focus, and with it the right to change.
  if (field->focusPolicy() == Qt::WheelFocus) field->setFocusPolicy(Qt::StrongFocus);
  connect(field, &QObject::destroyed, this, [this](QObject* gone) { fields_.remove(gone); });
}

void FieldFilter::watch(QWidget* field) {
  watch(
      field, [] { return false; }, [] {});
}

bool FieldFilter::filterKey(const Field& field, QKeyEvent& event) {
  const bool undoes = event.matches(QKeySequence::Undo) || event.matches(QKeySequence::Redo);
  const bool leaves = event.key() == Qt::Key_Escape && event.modifiers() == Qt::NoModifier;
  if (!undoes && !leaves) return false;
  const bool is_half_typed = field.is_half_typed();
  if (undoes) {
    // Not taken here, so that the window's own shortcut is.
    if (!is_half_typed) event.ignore();
    return !is_half_typed;
  }
  if (event.type() != QEvent::KeyPress || !is_half_typed) return false;
  field.revert();
  return true;
}

bool FieldFilter::eventFilter(QObject* watched, QEvent* event) {
  const auto found = fields_.constFind(watched);
  if (found == fields_.constEnd()) return QObject::eventFilter(watched, event);
  const QEvent::Type type = event->type();
  if (type == QEvent::Wheel && !static_cast<QWidget*>(watched)->hasFocus()) {
    event->ignore();  // to the form behind it
    return true;
  }
  if (type == QEvent::ShortcutOverride || type == QEvent::KeyPress) {
    const Field field = *found;  // what it does may take it out of the table
    if (filterKey(field, *static_cast<QKeyEvent*>(event))) return true;
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace tidemark

// The memory breakdown as a table: six parts and their total, reserved by plan and resident at the
// simulated peak.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <vector>

#include "gui/models/run_controller.h"

namespace tidemark {

class BreakdownModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kPart, kBytes, kSize, kShare, kAtPeak, kColumnCount };

  static constexpr int kKeyRole = Qt::UserRole;  // "kv_cache"; empty for the total

  using QAbstractTableModel::QAbstractTableModel;

  // Empty without a plan; the last column is empty without a simulation.
  void setResult(const RunResult& result);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

 private:
  std::vector<QStringList> rows_{};
};

// Header and rows, or some of them, cells parted by tabs, for the clipboard.
QString table_text(const QAbstractItemModel& model);
QString table_text(const QAbstractItemModel& model, const QList<int>& rows);

}  // namespace tidemark

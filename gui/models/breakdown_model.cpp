#include "gui/models/breakdown_model.h"

#include <algorithm>
#include <numeric>

#include "planner/base/units.h"
#include "planner/report/parts.h"
#include "planner/report/sections.h"

namespace tidemark {
namespace {

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

std::vector<QStringList> rows_of(const RunResult& result) {
  if (!result.plan) return {};
  const Breakdown& memory = result.plan->memory;
  const std::vector<int64_t> shares = shares_per_mille(memory);
  const CurvePoint peak = result.simulation ? point_at_peak(*result.simulation) : CurvePoint{};
  const auto at_peak = [&](Bytes bytes) {
    return result.simulation ? text(format_bytes(bytes)) : QString();
  };
  std::vector<QStringList> rows;
  for (size_t i = 0; i < memory_parts().size(); ++i) {
    const MemoryPart& part = memory_parts()[i];
    const Bytes bytes = memory.*part.planned;
    rows.push_back({text(std::string(part.label)), text(format_count(bytes.count())),
                    text(format_bytes(bytes)), text(percent(shares[i])),
                    at_peak(peak.*part.simulated)});
  }
  const int64_t whole = std::accumulate(shares.begin(), shares.end(), int64_t{0});
  rows.push_back({QStringLiteral("total"), text(format_count(memory.total().count())),
                  text(format_bytes(memory.total())), text(percent(whole)), at_peak(peak.total())});
  return rows;
}

}  // namespace

void BreakdownModel::setResult(const RunResult& result) {
  std::vector<QStringList> rows = rows_of(result);
  if (rows.size() != rows_.size()) {
    beginResetModel();
    rows_ = std::move(rows);
    endResetModel();
    return;
  }
  rows_ = std::move(rows);
  if (!rows_.empty()) {
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, kColumnCount - 1), {Qt::DisplayRole});
  }
}

int BreakdownModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int BreakdownModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumnCount;
}

QVariant BreakdownModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role == Qt::DisplayRole) return rows_[static_cast<size_t>(index.row())][index.column()];
  if (role == kKeyRole) {
    const auto parts = memory_parts();
    const auto row = static_cast<size_t>(index.row());
    return row < parts.size() ? text(std::string(parts[row].key)) : QString();
  }
  if (role == Qt::TextAlignmentRole) {
    const bool is_name = index.column() == kPart;
    return QVariant(Qt::AlignVCenter | (is_name ? Qt::AlignLeft : Qt::AlignRight));
  }
  return {};
}

QVariant BreakdownModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumnCount) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant(Qt::AlignVCenter | (section == kPart ? Qt::AlignLeft : Qt::AlignRight));
  }
  if (role != Qt::DisplayRole) return {};
  const QStringList heads{tr("Memory"), tr("bytes"), tr("size"), tr("share"), tr("at the peak")};
  return heads[section];
}

QString table_text(const QAbstractItemModel& model) {
  QList<int> rows(model.rowCount());
  std::iota(rows.begin(), rows.end(), 0);
  return table_text(model, rows);
}

QString table_text(const QAbstractItemModel& model, const QList<int>& rows) {
  constexpr int kHeader = -1;
  QString out;
  for (const int row : QList<int>{kHeader} + rows) {
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column) {
      const QVariant cell =
          row < 0 ? model.headerData(column, Qt::Horizontal) : model.data(model.index(row, column));
      cells.push_back(cell.toString());
    }
    out += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
  }
  return out;
}

}  // namespace tidemark

// The right side of the window: verdict, curve, arena, breakdown. What no longer belongs to the
// settings at the left lies under a shade that says so. It stands in a scroll area: lower than its
// words and its table need, its parts would lie over each other.
#pragma once

#include <QStringList>
#include <QWidget>
#include <memory>
#include <optional>

#include "gui/models/breakdown_model.h"
#include "gui/models/measured_curve.h"
#include "gui/models/result_words.h"

class QFrame;
class QLabel;
class QTableView;
class QTimer;

namespace tidemark {

class MemoryChart;

class ResultsPage : public QWidget {
  Q_OBJECT

 public:
  explicit ResultsPage(QWidget* parent = nullptr);

  // A result without a plan leaves the numbers of the last one, shaded.
  void setResult(std::shared_ptr<const RunResult> result);
  // The settings have changed and the result is not there yet.
  void setPending();
  // Nothing shown instead of the simulation again.
  void setMeasured(std::optional<MeasuredCurve> curve);
  void setProblems(const Diagnostics& problems);
  void togglePart(const QString& key);

  bool isStale() const { return stale_; }
  MemoryChart* chart() const { return chart_; }
  QTableView* tableView() const { return table_; }
  const QAbstractItemModel& table() const { return breakdown_; }
  // Parts that are in the curve, and whether each is hidden.
  const ChartShapes& shapes() const { return shapes_; }

 Q_SIGNALS:
  void shapesChanged();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* makeBanner();
  QTableView* makeTable();
  void showBanner(const Banner& banner);
  void paintBanner();
  void showChart();
  void showWords(const RunResult& result);
  void shade(const QString& words, bool with_banner);
  void unshade();
  void fitShade();
  void copyRows();

  std::shared_ptr<const RunResult> shown_{};  // the last one with a plan
  std::optional<MeasuredCurve> measured_{};
  QStringList hidden_{};
  ChartShapes shapes_{};
  BreakdownModel breakdown_{};
  Mood mood_ = Mood::kProblem;

  QFrame* banner_ = nullptr;
  QLabel* headline_ = nullptr;
  QLabel* details_ = nullptr;
  MemoryChart* chart_ = nullptr;
  QLabel* arena_ = nullptr;
  QLabel* notes_ = nullptr;
  QTableView* table_ = nullptr;
  QWidget* shade_ = nullptr;
  QTimer* until_shade_ = nullptr;
  bool shades_banner_ = false;
  bool stale_ = false;
};

}  // namespace tidemark

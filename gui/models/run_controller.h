// Settings in, reports out, off the window's thread.
//
//   request A . B . C        one run at a time; while it is under way only the newest request is
//   kept worker    [  A  ][  C  ] finished          -    C     A is stale when it ends and is
//   dropped; B was never begun
//
// Checked by RunController.NewestRequestWins. A run cannot be stopped, but one that keeps a newer
// request waiting for longer than the patience is left to end by itself, its result dropped.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "planner/config/settings.h"
#include "planner/report/report.h"

class QThread;

namespace tidemark {

// Either both reports; or the plan and what kept the simulation from being run; or problems alone.
struct RunResult {
  std::optional<PlanReport> plan{};
  std::optional<SimReport> simulation{};
  Diagnostics problems{};
  bool ok() const { return plan.has_value() && simulation.has_value(); }
};

// The whole chain for one scenario: resolve, plan, simulate. Never throws: what escapes the chain
// is a bug, or memory that ran out, and comes back as a problem.
RunResult run_settings(const SettingMap& settings);

class RunController : public QObject {
  Q_OBJECT

 public:
  using Runner = std::function<RunResult(const SettingMap&)>;

  explicit RunController(Runner runner = run_settings, QObject* parent = nullptr);
  // Waits for the runs under way; their results are dropped.
  ~RunController() override;

  // How long a run may keep a newer request waiting; a second when nothing is said.
  void setPatience(int milliseconds) { patience_ms_ = milliseconds; }

  void request(SettingMap settings);
  bool isIdle() const { return current_ == nullptr && !pending_; }
  // Those that were left to end by themselves count as well.
  bool hasThreads() const { return !threads_.empty(); }

 Q_SIGNALS:
  // Of the newest request, and only while there is no newer one.
  void finished(std::shared_ptr<const tidemark::RunResult> result);

 private:
  void startPending();
  void loseItsPatience(const QThread* thread);
  void accept(QThread* thread, std::shared_ptr<const RunResult> result);

  Runner runner_;
  int patience_ms_ = 1000;
  std::vector<QThread*> threads_{};  // a run each
  QThread* current_ = nullptr;       // the one whose result counts
  QElapsedTimer since_{};            // it began
  std::optional<SettingMap> pending_{};
};

}  // namespace tidemark

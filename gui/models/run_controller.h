// Settings in, reports out, off the window's thread.
//
//   request A . B . C        one run at a time; while it is under way only the newest request is
//   kept worker    [  A  ][  C  ] finished          -    C     A is stale when it ends and is
//   dropped; B was never begun
//
// Checked by RunController.NewestRequestWins.
#pragma once

#include <QObject>
#include <QThread>
#include <functional>
#include <memory>
#include <optional>

#include "planner/config/settings.h"
#include "planner/report/report.h"

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
  // Waits for the run under way; its result is dropped.
  ~RunController() override;

  void request(SettingMap settings);
  bool isIdle() const { return !running_ && !pending_; }

 Q_SIGNALS:
  // Of the newest request, and only while there is no newer one.
  void finished(std::shared_ptr<const tidemark::RunResult> result);

 private:
  void startPending();
  void accept(std::shared_ptr<const RunResult> result);

  Runner runner_;
  QThread thread_{};
  QObject* worker_ = nullptr;  // lives in thread_
  std::optional<SettingMap> pending_{};
  bool running_ = false;
};

}  // namespace tidemark

#include "gui/models/run_controller.h"

#include <new>
#include <utility>

#include "planner/base/check.h"
#include "sim/strategy/simulate.h"

namespace tidemark {
namespace {

// The command line runs every combination of the values listed; a window shows one run.
Diagnostics one_run_only(const SettingMap& settings) {
  Diagnostics problems;
  for (const SettingInfo& info : settings_table()) {
    const auto found = settings.find(info.key);
    if (!info.takes_list || found == settings.end()) continue;
    if (found->second.text.find(',') == std::string::npos) continue;
    problems.push_back(setting_problem(info.key, found->second, "lists several values",
                                       "choose one: the window shows one run at a time"));
  }
  return problems;
}

RunResult run_chain(const SettingMap& settings) {
  const Diagnostics lists = one_run_only(settings);
  if (has_errors(lists)) return {.problems = lists};
  const Result<Scenario> scenario = resolve_scenario(settings);
  if (!scenario) return {.problems = scenario.diagnostics()};
  const Result<MemoryPlan> plan = plan_scenario(*scenario);
  if (!plan) return {.problems = plan.diagnostics()};
  RunResult result{.plan = make_plan_report(*scenario, *plan)};
  result.plan->arena.scalings = arena_scaling(*scenario, *plan);
  Result<SimResult> simulated = simulate(*scenario, *plan);
  if (simulated) {
    result.simulation = std::move(std::move(simulated).value().report);
  } else {
    result.problems = simulated.diagnostics();
  }
  return result;
}

}  // namespace

RunResult run_settings(const SettingMap& settings) {
  try {
    return run_chain(settings);
  } catch (const std::bad_alloc&) {
    return {.problems = one_error("memory", "there was not enough to compute this",
                                  "choose smaller settings")};
  } catch (const std::exception& bug) {
    return {.problems = one_error("internal error", bug.what(),
                                  "please report this with the settings (Edit, Copy command)")};
  }
}

RunController::RunController(Runner runner, QObject* parent)
    : QObject(parent), runner_(std::move(runner)), worker_(new QObject) {
  worker_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
  thread_.start();
}

RunController::~RunController() {
  thread_.quit();
  thread_.wait();
}

void RunController::request(SettingMap settings) {
  const bool is_scheduled = pending_.has_value();
  pending_ = std::move(settings);
  if (running_ || is_scheduled) return;
  // From the event loop, so that several edits at one stroke are one run.
  QMetaObject::invokeMethod(this, &RunController::startPending, Qt::QueuedConnection);
}

void RunController::startPending() {
  if (running_ || !pending_) return;
  running_ = true;
  const SettingMap settings = *std::exchange(pending_, std::nullopt);
  QMetaObject::invokeMethod(
      worker_,
      [this, settings] {
        auto result = std::make_shared<const RunResult>(runner_(settings));
        QMetaObject::invokeMethod(
            this, [this, result] { accept(result); }, Qt::QueuedConnection);
      },
      Qt::QueuedConnection);
}

void RunController::accept(std::shared_ptr<const RunResult> result) {
  running_ = false;
  if (pending_) {
    startPending();
  } else {
    Q_EMIT finished(std::move(result));
  }
}

}  // namespace tidemark

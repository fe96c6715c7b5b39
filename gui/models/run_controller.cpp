#include "gui/models/run_controller.h"

#include <QThread>
#include <QTimer>
#include <algorithm>
#include <new>
#include <utility>

#include "planner/base/check.h"
#include "sim/strategy/simulate.h"

namespace tidemark {
namespace {

// Runs that nobody waits for any more still need memory and a processor.
constexpr size_t kMostThreads = 3;

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
    : QObject(parent), runner_(std::move(runner)) {}

RunController::~RunController() {
  for (QThread* thread : threads_) {
    thread->wait();
    delete thread;
  }
}

void RunController::request(SettingMap settings) {
  const bool is_scheduled = pending_.has_value();
  pending_ = std::move(settings);
  if (is_scheduled) return;
  if (current_ == nullptr) {
    // From the event loop, so that several edits at one stroke are one run.
    QMetaObject::invokeMethod(this, &RunController::startPending, Qt::QueuedConnection);
    return;
  }
  const auto left = std::max<qint64>(0, patience_ms_ - since_.elapsed());
  QTimer::singleShot(static_cast<int>(left), this,
                     [this, thread = current_] { loseItsPatience(thread); });
}

void RunController::startPending() {
  if (current_ != nullptr || !pending_) return;
  const SettingMap settings = *std::exchange(pending_, std::nullopt);
  current_ = QThread::create([this, settings] {
    auto result = std::make_shared<const RunResult>(runner_(settings));
    QThread* self = QThread::currentThread();
    QMetaObject::invokeMethod(
        this, [this, self, result] { accept(self, result); }, Qt::QueuedConnection);
  });
  threads_.push_back(current_);
  since_.start();
  current_->start();
}

void RunController::loseItsPatience(const QThread* thread) {
  const bool still_waits = current_ != nullptr && current_ == thread && pending_;
  if (!still_waits || threads_.size() >= kMostThreads) return;
  current_ = nullptr;
  startPending();
}

void RunController::accept(QThread* thread, std::shared_ptr<const RunResult> result) {
  thread->wait();
  std::erase(threads_, thread);
  delete thread;
  if (thread != current_) {
    // There may be room again for what waits for another.
    if (current_ != nullptr && pending_ && since_.elapsed() >= patience_ms_) {
      loseItsPatience(current_);
    }
    return;
  }
  current_ = nullptr;
  if (pending_) {
    startPending();
  } else {
    Q_EMIT finished(std::move(result));
  }
}

}  // namespace tidemark

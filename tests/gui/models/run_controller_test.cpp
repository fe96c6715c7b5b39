#include "gui/models/run_controller.h"

#include <gtest/gtest.h>

#include <QSemaphore>
#include <QSignalSpy>
#include <QTest>
#include <QThread>
#include <atomic>
#include <mutex>

namespace tidemark {
namespace {

SettingMap settings_of(const std::string& model) {
  return {{"model", {.text = model, .origin = "flag MODEL"}}};
}

// Notes which settings are run and lets each run end only when told to.
struct Gate {
  QSemaphore begun{};
  QSemaphore may_end{};
  std::mutex lock{};
  std::vector<std::string> seen{};

  RunController::Runner runner() {
    return [this](const SettingMap& settings) {
      const std::string model = settings.at("model").text;
      {
        const std::lock_guard<std::mutex> hold(lock);
        seen.push_back(model);
      }
      begun.release();
      may_end.acquire();
      return RunResult{.problems = one_error(model, "ran")};
    };
  }
};

struct Finished {
  explicit Finished(RunController& controller) {
    QObject::connect(&controller, &RunController::finished,
                     [this](const std::shared_ptr<const RunResult>& result) {
                       models.push_back(result->problems.front().path);
                     });
  }
  std::vector<std::string> models{};
};

void start_and_reach_the_gate(RunController& controller, Gate& gate, const std::string& model) {
  controller.request(settings_of(model));
  ASSERT_TRUE(QTest::qWaitFor([&] { return gate.begun.tryAcquire(); }));
}

TEST(RunController, NewestRequestWins) {
  Gate gate;
  RunController controller(gate.runner());
  Finished finished(controller);
  start_and_reach_the_gate(controller, gate, "A");
  controller.request(settings_of("B"));
  controller.request(settings_of("C"));
  gate.may_end.release(2);
  ASSERT_TRUE(QTest::qWaitFor([&] { return controller.isIdle(); }));
  EXPECT_EQ(finished.models, std::vector<std::string>{"C"});
  EXPECT_EQ(gate.seen, (std::vector<std::string>{"A", "C"}));
}

TEST(RunController, RequestsOfOneStrokeAreOneRun) {
  Gate gate;
  gate.may_end.release(3);
  RunController controller(gate.runner());
  Finished finished(controller);
  for (const char* model : {"A", "B", "C"}) controller.request(settings_of(model));
  ASSERT_TRUE(QTest::qWaitFor([&] { return controller.isIdle(); }));
  EXPECT_EQ(gate.seen, std::vector<std::string>{"C"});
  EXPECT_EQ(finished.models, std::vector<std::string>{"C"});
}

TEST(RunController, RunsOnAnotherThread) {
  std::atomic<QThread*> where = nullptr;
  RunController controller([&](const SettingMap&) {
    where = QThread::currentThread();
    return RunResult{.problems = one_error("x", "ran")};
  });
  controller.request({});
  ASSERT_TRUE(QTest::qWaitFor([&] { return controller.isIdle(); }));
  EXPECT_NE(where.load(), nullptr);
  EXPECT_NE(where.load(), QThread::currentThread());
}

// A is never let go before C is there.
TEST(RunController, ALongRunKeepsNobodyWaiting) {
  QSemaphore a_may_end;
  RunController controller([&](const SettingMap& settings) {
    const std::string model = settings.at("model").text;
    if (model == "A") a_may_end.acquire();
    return RunResult{.problems = one_error(model, "ran")};
  });
  controller.setPatience(20);
  Finished finished(controller);
  controller.request(settings_of("A"));
  QTest::qWait(5);
  controller.request(settings_of("B"));
  controller.request(settings_of("C"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return controller.isIdle(); }));
  EXPECT_EQ(finished.models, std::vector<std::string>{"C"});
  EXPECT_TRUE(controller.hasThreads());
  a_may_end.release();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !controller.hasThreads(); }));
  EXPECT_EQ(finished.models, std::vector<std::string>{"C"});
}

// Runs A to E never end by themselves: three threads at most, and E is run when one of them ends.
TEST(RunController, FewRunsAreUnderWayAtOnce) {
  Gate gate;
  RunController controller(gate.runner());
  controller.setPatience(0);
  Finished finished(controller);
  for (const char* model : {"A", "B", "C", "D", "E"}) {
    controller.request(settings_of(model));
    QTest::qWait(20);
  }
  EXPECT_EQ(gate.seen, (std::vector<std::string>{"A", "B", "C"}));
  EXPECT_FALSE(controller.isIdle());
  gate.may_end.release(4);
  ASSERT_TRUE(QTest::qWaitFor([&] { return controller.isIdle() && !controller.hasThreads(); }));
  EXPECT_EQ(gate.seen.back(), "E");
  EXPECT_EQ(finished.models, std::vector<std::string>{"E"});
}

TEST(RunController, EndsCleanlyWhileARunIsUnderWay) {
  Gate gate;
  std::vector<std::string> models;
  {
    RunController controller(gate.runner());
    QObject::connect(&controller, &RunController::finished, [&] { models.emplace_back("late"); });
    start_and_reach_the_gate(controller, gate, "A");
    controller.request(settings_of("B"));
    gate.may_end.release(1);
  }
  QCoreApplication::processEvents();
  EXPECT_TRUE(models.empty());
  EXPECT_EQ(gate.seen, std::vector<std::string>{"A"});
}

TEST(RunSettings, GivesBothReportsOfARun) {
  const RunResult result = run_settings(settings_of("demo-layers"));
  ASSERT_TRUE(result.ok()) << to_string(result.problems);
  EXPECT_EQ(result.plan->model.name, "demo-layers");
  EXPECT_EQ(result.simulation->model.name, "demo-layers");
  EXPECT_TRUE(result.problems.empty());
}

TEST(RunSettings, GivesTheProblemsOfAWrongName) {
  const RunResult result = run_settings(settings_of("demo-layer"));
  EXPECT_FALSE(result.plan.has_value());
  ASSERT_TRUE(has_errors(result.problems));
  EXPECT_NE(to_string(result.problems).find("demo-layers"), std::string::npos);
}

TEST(RunSettings, RefusesSeveralValuesOfOneSetting) {
  SettingMap settings = settings_of("demo-layers");
  settings["strategy"] = {.text = "resident,layerwise", .origin = "flag --strategy"};
  const RunResult result = run_settings(settings);
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems.front().path, "--strategy");
}

}  // namespace
}  // namespace tidemark

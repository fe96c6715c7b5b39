#include "sim/core/server.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// Writes down when each request starts (+) and ends (-).
class Log {
 public:
  explicit Log(Simulation& simulation) : simulation_(simulation) {}
  Server::Action note(std::string what) {
    return [this, what] { text_ += fmt::format("{}@{} ", what, simulation_.now().count()); };
  }
  const std::string& text() const { return text_; }

 private:
  Simulation& simulation_;
  std::string text_{};
};

TEST(ServerTest, ServesInOrderOfArrival) {
  Simulation simulation;
  Server server(simulation, 1);
  Log log(simulation);
  server.request(Duration::ns(5), log.note("+a"), log.note("-a"));
  server.request(Duration::ns(3), log.note("+b"), log.note("-b"));
  server.request(Duration::ns(2), log.note("+c"), log.note("-c"));
  EXPECT_EQ(server.in_service(), 1);
  EXPECT_EQ(server.waiting(), 2);
  simulation.run();
  EXPECT_EQ(log.text(), "+a@0 -a@5 +b@5 -b@8 +c@8 -c@10 ");
  EXPECT_EQ(server.busy(), Duration::ns(10));
  EXPECT_EQ(server.in_service(), 0);
}

TEST(ServerTest, TwoPlacesServeTwoAtOnce) {
  Simulation simulation;
  Server server(simulation, 2);
  Log log(simulation);
  server.request(Duration::ns(5), log.note("+a"), log.note("-a"));
  server.request(Duration::ns(3), log.note("+b"), log.note("-b"));
  server.request(Duration::ns(4), log.note("+c"), log.note("-c"));
  simulation.run();
  EXPECT_EQ(log.text(), "+a@0 +b@0 -b@3 +c@3 -a@5 -c@7 ");
}

TEST(ServerTest, ARequestMadeWhileAnotherEndsGoesBehindThoseThatWait) {
  Simulation simulation;
  Server server(simulation, 1);
  Log log(simulation);
  server.request(Duration::ns(5), nullptr,
                 [&] { server.request(Duration::ns(1), log.note("+late"), nullptr); });
  server.request(Duration::ns(5), log.note("+early"), nullptr);
  simulation.run();
  EXPECT_EQ(log.text(), "+early@5 +late@10 ");
}

TEST(ServerTest, ARequestOfNoLengthStillWaitsItsTurn) {
  Simulation simulation;
  Server server(simulation, 1);
  Log log(simulation);
  server.request(Duration::ns(5), nullptr, log.note("-a"));
  server.request(Duration{}, log.note("+b"), log.note("-b"));
  simulation.run();
  EXPECT_EQ(log.text(), "-a@5 +b@5 -b@5 ");
}

TEST(ServerTest, NoPlaceOrNegativeServiceIsABug) {
  Simulation simulation;
  EXPECT_THROW(Server(simulation, 0), InternalError);
  Server server(simulation, 1);
  EXPECT_THROW(server.request(Duration::ns(-1), nullptr, nullptr), InternalError);
}

// The judge of one place: each request starts when the one before it ends, and not before it
// arrives.
TEST(ServerTest, OnePlaceEndsWhenTheRunningSumSays) {
  EXPECT_TRUE(rc::check("start = max(arrival, end of the one before)", [] {
    const auto requests = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 9), rc::gen::inRange(0, 9)));
    Simulation simulation;
    Server server(simulation, 1);
    std::vector<int64_t> ends;
    int64_t arrival = 0;
    int64_t free_at = 0;
    std::vector<int64_t> expected;
    for (const auto& [gap, service] : requests) {
      arrival += gap;
      free_at = std::max(arrival, free_at) + service;
      expected.push_back(free_at);
      const Duration length = Duration::ns(service);
      simulation.at(Duration::ns(arrival), [&server, &simulation, &ends, length] {
        server.request(length, nullptr, [&] { ends.push_back(simulation.now().count()); });
      });
    }
    simulation.run();
    RC_ASSERT(ends == expected);
  }));
}

}  // namespace
}  // namespace tidemark

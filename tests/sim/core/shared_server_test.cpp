#include "sim/core/shared_server.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr int64_t kGiga = 1'000'000'000;

SharedBandwidth bandwidth(int64_t rate, int64_t per_request = 0, int64_t latency = 0) {
  return {.rate = BytesPerSecond::of(rate),
          .per_request = BytesPerSecond::of(per_request),
          .latency = Duration::ns(latency)};
}

struct Job {
  int64_t arrival = 0;
  int64_t bytes = 0;
};

struct Outcome {
  std::vector<int64_t> ends{};  // by job
  int64_t served = 0;
  int64_t busy = 0;
};

Outcome serve(const SharedBandwidth& shared, const std::vector<Job>& jobs) {
  Simulation simulation;
  SharedServer server(simulation, shared);
  Outcome outcome{.ends = std::vector<int64_t>(jobs.size(), -1)};
  for (size_t i = 0; i < jobs.size(); ++i) {
    simulation.at(Duration::ns(jobs[i].arrival), [&, i] {
      server.request(Bytes::of(jobs[i].bytes), nullptr,
                     [&, i] { outcome.ends[i] = simulation.now().count(); });
    });
  }
  simulation.run();
  outcome.served = server.served().count();
  outcome.busy = server.busy().count();
  return outcome;
}

using Ends = std::vector<int64_t>;

// a [0,5) alone 20 bytes; [5,10) two share 4 bytes/ns, b has its 10; the 10 left of a take 2.5 ns.
TEST(SharedServerTest, TheTableOfTheHeader) {
  const Outcome outcome = serve(bandwidth(4 * kGiga), {{0, 40}, {5, 10}});
  EXPECT_EQ(outcome.ends, (Ends{13, 10}));
  EXPECT_EQ(outcome.served, 50);
  EXPECT_EQ(outcome.busy, 13);
  EXPECT_EQ(serve(bandwidth(4 * kGiga, 3 * kGiga), {{0, 40}, {5, 10}}).ends, (Ends{15, 10}));
}

// 3 bytes/ns for three of 10 bytes each: 10 ns. One of 3 and two of 10: 3 ns, then 14 bytes at 3
// bytes/ns take 4 2/3 ns.
TEST(SharedServerTest, EqualOnesEndTogetherAndASmallOneLeavesItsShare) {
  EXPECT_EQ(serve(bandwidth(3 * kGiga), {{0, 10}, {0, 10}, {0, 10}}).ends, (Ends{10, 10, 10}));
  EXPECT_EQ(serve(bandwidth(3 * kGiga), {{0, 10}, {0, 3}, {0, 10}}).ends, (Ends{8, 3, 8}));
}

TEST(SharedServerTest, LatencyTakesNoBandwidth) {
  // a enters at 4 and b at 6 ns; a has 2 of 8 by then; 6 left of each at 0.5 bytes/ns: 18 ns.
  EXPECT_EQ(serve(bandwidth(kGiga, 0, 4), {{0, 8}, {2, 6}}).ends, (Ends{18, 18}));
}

TEST(SharedServerTest, NoBytesTakeTheLatencyOnly) {
  EXPECT_EQ(serve(bandwidth(kGiga, 0, 4), {{3, 0}}).ends, Ends{7});
  EXPECT_EQ(serve(bandwidth(kGiga), {{0, 50}, {3, 0}}).ends, (Ends{50, 3}));
}

TEST(SharedServerTest, ServiceBeginsAfterTheLatencyAndEndsAreToldInTheirOrder) {
  Simulation simulation;
  SharedServer server(simulation, bandwidth(4 * kGiga, 0, 2));
  std::string story;
  server.request(
      Bytes::of(7), [&] { story += "+a" + std::to_string(simulation.now().count()); },
      [&] { story += "-a" + std::to_string(simulation.now().count()); });
  server.request(Bytes::of(6), nullptr, [&] { story += "-b"; });
  server.request(Bytes::of(6), nullptr, [&] { story += "-c"; });
  simulation.run_until(Duration::ns(2));
  EXPECT_EQ(server.in_service(), 3);
  // b and c end 18 / 4 = 4.5 ns after they began, a 19 / 4 = 4.75: all are told at 7.
  simulation.run();
  EXPECT_EQ(story, "+a2-b-c-a7");
  EXPECT_EQ(server.in_service(), 0);
}

TEST(SharedServerTest, ARequestMadeAsAnotherIsToldSharesFromThen) {
  Simulation simulation;
  SharedServer server(simulation, bandwidth(2 * kGiga));
  Ends ends;
  const auto note = [&] { ends.push_back(simulation.now().count()); };
  server.request(Bytes::of(30), nullptr, note);
  server.request(Bytes::of(10), nullptr, [&] {
    note();
    server.request(Bytes::of(20), nullptr, note);
  });
  simulation.run();
  // 10 each by 10 ns; then 20 are left of the first and 20 of the new one: both end at 30.
  EXPECT_EQ(ends, (Ends{10, 30, 30}));
}

TEST(SharedServerTest, ImpossibleRatesAreBugsAndSizesOutOfRangeAreErrors) {
  Simulation simulation;
  EXPECT_THROW(SharedServer(simulation, bandwidth(0)), InternalError);
  EXPECT_THROW(SharedServer(simulation, bandwidth(1, -1)), InternalError);
  EXPECT_THROW(SharedServer(simulation, bandwidth(1, 0, -1)), InternalError);
  EXPECT_THROW(SharedServer(simulation, bandwidth((int64_t{1} << 53) + 1)), std::overflow_error);
  SharedServer server(simulation, bandwidth(1));
  EXPECT_THROW(server.request(Bytes::of(-1), nullptr, nullptr), InternalError);
  const Bytes most = Bytes::of(std::numeric_limits<int64_t>::max());
  EXPECT_THROW(server.request(most, nullptr, nullptr), std::overflow_error);  // 292 years
  EXPECT_THROW(server.request(most, nullptr, nullptr), std::overflow_error);
}

TEST(SharedServerTest, TheLargestSizesAndRatesKeepTheirExactTime) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const int64_t fastest = int64_t{1} << 53;
  // 2^63 - 1 bytes at 2^53 bytes/s: 1024 s less 1e9 / 2^53 ns, told at 1024 s.
  EXPECT_EQ(serve(bandwidth(fastest), {{0, most}}).ends, Ends{1024 * kGiga});
  EXPECT_EQ(serve(bandwidth(fastest, 1), {{0, 2}, {0, 3}}).ends, (Ends{2 * kGiga, 3 * kGiga}));
  // (2^61 - 1) bytes at (2^53 - 2) / 3 bytes/s: 768 s * (1 + 2^-52), told a nanosecond after 768 s.
  EXPECT_EQ(serve(bandwidth(fastest, fastest / 3), {{0, most / 4}, {0, most / 4}, {0, 1}}).ends,
            (Ends{768 * kGiga + 1, 768 * kGiga + 1, 1}));
}

// The judge: what is left of each, in fractions, from one arrival or end to the next.
class Fraction {
 public:
  __extension__ using Wide = __int128;
  Fraction(Wide over = 0, Wide under = 1) : over_(over), under_(under) {  // NOLINT
    Wide a = over < 0 ? -over : over;
    Wide b = under;
    while (b != 0) a = std::exchange(b, a % b);
    over_ /= a;
    under_ /= a;
  }
  friend Fraction operator+(const Fraction& a, const Fraction& b) {
    return {a.over_ * b.under_ + b.over_ * a.under_, a.under_ * b.under_};
  }
  friend Fraction operator-(const Fraction& a, const Fraction& b) {
    return {a.over_ * b.under_ - b.over_ * a.under_, a.under_ * b.under_};
  }
  friend Fraction operator*(const Fraction& a, const Fraction& b) {
    return {a.over_ * b.over_, a.under_ * b.under_};
  }
  friend Fraction operator/(const Fraction& a, const Fraction& b) {
    return {a.over_ * b.under_, a.under_ * b.over_};
  }
  friend bool operator<(const Fraction& a, const Fraction& b) {
    return a.over_ * b.under_ < b.over_ * a.under_;
  }
  friend bool operator<=(const Fraction& a, const Fraction& b) { return !(b < a); }

 private:
  Wide over_;
  Wide under_;
};

struct Flow {
  size_t job = 0;
  Fraction left{};
};

// When each job ends exactly. `rate` and `most` in bytes/ns.
std::vector<Fraction> fluid_ends(int64_t rate, int64_t most, const std::vector<Job>& jobs) {
  std::vector<Fraction> ends(jobs.size());
  std::vector<size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&jobs](size_t a, size_t b) { return jobs[a].arrival < jobs[b].arrival; });
  std::vector<Flow> flows;
  Fraction now;
  size_t arrived = 0;
  while (arrived < order.size() || !flows.empty()) {
    const Fraction share(rate, flows.empty() ? 1 : static_cast<int64_t>(flows.size()));
    const Fraction speed = most > 0 && Fraction(most) < share ? Fraction(most) : share;
    const auto shortest = std::min_element(
        flows.begin(), flows.end(), [](const Flow& a, const Flow& b) { return a.left < b.left; });
    const bool arrives =
        arrived < order.size() &&
        (flows.empty() || Fraction(jobs[order[arrived]].arrival) <= now + shortest->left / speed);
    const Fraction then =
        arrives ? Fraction(jobs[order[arrived]].arrival) : now + shortest->left / speed;
    for (Flow& flow : flows) flow.left = flow.left - speed * (then - now);
    now = then;
    if (arrives) {
      flows.push_back({.job = order[arrived], .left = jobs[order[arrived]].bytes});
      ++arrived;
    } else {
      ends[shortest->job] = now;
      flows.erase(shortest);
    }
  }
  return ends;
}

std::vector<Job> any_jobs(int most_jobs) {
  const auto count = *rc::gen::inRange(1, most_jobs + 1);
  std::vector<Job> jobs;
  for (int i = 0; i < count; ++i) {
    jobs.push_back({.arrival = *rc::gen::inRange(0, 30), .bytes = *rc::gen::inRange(0, 60)});
  }
  return jobs;
}

TEST(SharedServerTest, EndsAreThoseOfTheFluidToldInWholeNanoseconds) {
  EXPECT_TRUE(rc::check("end <= told < end + 1, and at most a nanosecond later", [] {
    const std::vector<Job> jobs = any_jobs(6);
    const int64_t rate = *rc::gen::inRange(1, 8);
    const int64_t most = *rc::gen::inRange(0, 5);
    const Ends told = serve(bandwidth(rate * kGiga, most * kGiga), jobs).ends;
    const std::vector<Fraction> ends = fluid_ends(rate, most, jobs);
    int64_t late = 0;
    for (size_t i = 0; i < jobs.size(); ++i) {
      RC_ASSERT(ends[i] <= Fraction(told[i]));
      RC_ASSERT(Fraction(told[i]) <= ends[i] + 1);
      if (!(Fraction(told[i]) < ends[i] + 1)) ++late;
    }
    RC_CLASSIFY(late > 0, "told a nanosecond late");
  }));
}

TEST(SharedServerTest, ServedIsRateTimesBusyWithinANanosecondOfEachBusyPeriod) {
  EXPECT_TRUE(rc::check("0 <= rate * busy - served < rate * periods", [] {
    const std::vector<Job> jobs = any_jobs(40);
    const int64_t rate = *rc::gen::inRange(1, 8);
    const Outcome outcome = serve(bandwidth(rate * kGiga), jobs);
    int64_t bytes = 0;
    for (const Job& job : jobs) bytes += job.bytes;
    RC_ASSERT(outcome.served == bytes);
    const int64_t unused = rate * outcome.busy - outcome.served;
    RC_ASSERT(unused >= 0);
    RC_ASSERT(unused < rate * static_cast<int64_t>(jobs.size()));
    // All at once: a single busy period.
    std::vector<Job> together = jobs;
    for (Job& job : together) job.arrival = 0;
    const Outcome once = serve(bandwidth(rate * kGiga), together);
    RC_ASSERT(once.busy == (bytes + rate - 1) / rate);
    RC_ASSERT(*std::max_element(once.ends.begin(), once.ends.end()) == once.busy);
  }));
}

TEST(SharedServerTest, ASingleRequestTakesItsLatencyAndItsBytesAtTheRate) {
  EXPECT_TRUE(rc::check("latency + bytes / min(rate, bound), rounded up", [] {
    const int64_t rate = *rc::gen::inRange<int64_t>(1, 100 * kGiga);
    const int64_t most = *rc::gen::inRange<int64_t>(0, 100 * kGiga);
    const int64_t latency = *rc::gen::inRange<int64_t>(0, kGiga);
    const int64_t bytes = *rc::gen::inRange<int64_t>(0, 1000 * kGiga);
    const int64_t speed = most > 0 ? std::min(rate, most) : rate;
    const Ends expected{latency + time_at_rate(bytes, speed).count()};
    RC_ASSERT(serve(bandwidth(rate, most, latency), {{0, bytes}}).ends == expected);
  }));
}

TEST(SharedServerTest, TheOrderOfRequestsMadeAtOnceDoesNotMatter) {
  EXPECT_TRUE(rc::check("the same ends in any order", [] {
    const std::vector<Job> jobs = any_jobs(30);
    const SharedBandwidth shared = bandwidth(*rc::gen::inRange<int64_t>(1, 8 * kGiga),
                                             *rc::gen::inRange<int64_t>(0, 4 * kGiga));
    const Ends ends = serve(shared, jobs).ends;
    std::vector<Job> turned(jobs.rbegin(), jobs.rend());
    Ends turned_ends = serve(shared, turned).ends;
    std::reverse(turned_ends.begin(), turned_ends.end());
    RC_ASSERT(turned_ends == ends);
  }));
}

}  // namespace
}  // namespace tidemark

// One run is one trace, to the byte: again, and with the other queue. And the trace is a document
// that a viewer can read.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>

#include "sim/core/server.h"
#include "sim/core/shared_server.h"
#include "sim/core/simulation.h"
#include "sim/core/trace.h"

namespace tidemark {
namespace {

// Jobs are read from storage one at a time, go over a shared bus, and are computed one at a time. A
// job that is late is given up: its deadline is an event that is cancelled when it is done.
class Plant {
 public:
  Plant(QueueKind queue, uint32_t seed) : simulation_(queue), random_(seed) {}

  Trace run(int jobs) && {
    for (int job = 0; job < jobs; ++job) {
      simulation_.after(any(2000), [this, job] { on_arrival(job); });
    }
    simulation_.run();
    return std::move(trace_);
  }

 private:
  // Short or long, and often alike: a queue must also keep the order of what is due at once.
  Duration any(int64_t limit) {
    const auto number = static_cast<int64_t>(random_());
    return Duration::ns(number % 3 == 0 ? 10 * (number % 7) : number % limit);
  }

  void on_arrival(int job) {
    deadlines_[job] = simulation_.after(Duration::ns(700), [this, job] { on_late(job); });
    const Duration service = any(100);
    storage_.request(
        service, [this, job, service] { span("storage", job, service); },
        [this, job] {
          bus_.request(Bytes::of(any(400).count()), nullptr, [this, job] { on_moved(job); });
        });
  }

  void on_moved(int job) {
    const Duration service = any(80);
    compute_.request(
        service, [this, job, service] { span("compute", job, service); },
        [this, job] { on_computed(job); });
  }

  void on_computed(int job) {
    if (simulation_.cancel(deadlines_.at(job))) ++in_time_;
    trace_.counters.push_back(
        {.name = "jobs",
         .time = simulation_.now(),
         .series = {{"in_time", Bytes::of(in_time_)}, {"late", Bytes::of(late_)}}});
  }

  void on_late(int job) {
    ++late_;
    trace_.instants.push_back(
        {.name = "late", .time = simulation_.now(), .detail = fmt::format("job {}", job)});
  }

  void span(const char* lane, int job, Duration duration) {
    trace_.spans.push_back({.lane = lane,
                            .name = fmt::format("job {}", job),
                            .start = simulation_.now(),
                            .duration = duration,
                            .process = "plant"});
  }

  Simulation simulation_;
  std::mt19937 random_;
  Server storage_{simulation_, 1};
  SharedServer bus_{simulation_, {.rate = BytesPerSecond::of(7'000'000'000)}};
  Server compute_{simulation_, 1};
  std::map<int, EventId> deadlines_{};
  int64_t in_time_ = 0;
  int64_t late_ = 0;
  Trace trace_{};
};

TEST(DeterminismTest, TracesAreTheSameToTheByteAgainAndWithTheOtherQueue) {
  EXPECT_TRUE(rc::check("the same text", [] {
    const auto seed = *rc::gen::arbitrary<uint32_t>();
    const auto jobs = *rc::gen::inRange(0, 60);
    const std::string text = to_perfetto(Plant(QueueKind::kHeap, seed).run(jobs));
    RC_ASSERT(to_perfetto(Plant(QueueKind::kHeap, seed).run(jobs)) == text);
    RC_ASSERT(to_perfetto(Plant(QueueKind::kCalendar, seed).run(jobs)) == text);
  }));
}

// Both outcomes of a deadline occur, or the test above would show less than it seems to.
TEST(DeterminismTest, ThePlantIsBusyEnoughToBeLate) {
  const Trace trace = Plant(QueueKind::kHeap, 1).run(60);
  ASSERT_FALSE(trace.counters.empty());
  EXPECT_GT(trace.counters.back().series.at(0).value, Bytes{});
  EXPECT_GT(trace.counters.back().series.at(1).value, Bytes{});
}

// Microseconds with three decimals, as a double has them: exact nanoseconds at this size.
int64_t nanoseconds(const nlohmann::json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

// Reads the document back. What begins never begins earlier than the line before, and on one lane
// not before the span before has ended.
void read_back(const std::string& text) {
  const nlohmann::json document = nlohmann::json::parse(text);
  std::map<std::pair<int, int>, int64_t> free_from;  // by process and lane
  int64_t now = 0;
  for (const nlohmann::json& event : document.at("traceEvents")) {
    const std::string kind = event.at("ph");
    RC_ASSERT(event.at("name").is_string());
    RC_ASSERT(event.at("pid").get<int>() >= 1);
    if (kind == "M") continue;
    const int64_t time = nanoseconds(event.at("ts"));
    RC_ASSERT(time >= now);
    now = time;
    if (kind == "X") {
      int64_t& lane_is_free = free_from[{event.at("pid"), event.at("tid")}];
      RC_ASSERT(time >= lane_is_free);
      lane_is_free = time + nanoseconds(event.at("dur"));
    } else if (kind == "C") {
      for (const nlohmann::json& value : event.at("args")) RC_ASSERT(value.is_number_integer());
    } else {
      RC_ASSERT(kind == "i");
      RC_ASSERT(event.at("s") == "p" || event.at("s") == "t");
    }
  }
}

TEST(DeterminismTest, TracesAreJsonInOrderOfTimeAndNoLaneDoesTwoThingsAtOnce) {
  EXPECT_TRUE(rc::check("a readable trace", [] {
    const auto seed = *rc::gen::arbitrary<uint32_t>();
    read_back(to_perfetto(Plant(QueueKind::kHeap, seed).run(*rc::gen::inRange(1, 60))));
  }));
}

}  // namespace
}  // namespace tidemark

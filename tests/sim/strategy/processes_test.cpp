// Several processes over one mapped file: what each has, what the system has.
#include "sim/strategy/processes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "scenarios.h"

namespace tidemark {
namespace {

using testing::layer_scenario;
using testing::run;

constexpr int64_t kPage = 4096;

Bytes pages(int64_t count) { return Bytes::of(kPage) * count; }

// Two layers, 1,000 pages in all; 100 pages of own memory. A page takes 4,096 ns to read.
Scenario thousand_pages() {
  Scenario scenario =
      layer_scenario({{"a", pages(500), {}}, {"b", pages(500), {}}}, StrategyKind::kMmap);
  scenario.engine = {.name = "own", .runtime_fixed = pages(100)};
  scenario.device.page_size = pages(1);
  scenario.cache.capacity = pages(1000);
  scenario.residency.processes = 2;
  return scenario;
}

TEST(ProcessesTest, WorkedInTheHeader) {
  const SimReport report = run(thousand_pages()).report;
  ASSERT_EQ(report.processes.size(), 2U);
  const ProcessFacts& first = report.processes[0];
  const ProcessFacts& second = report.processes[1];
  for (const ProcessFacts& process : report.processes) {
    EXPECT_EQ(process.own, pages(100));
    EXPECT_EQ(process.rss, pages(1100));
    EXPECT_EQ(process.pss, pages(600));
  }
  EXPECT_EQ(first.bytes_read, pages(1000));
  EXPECT_EQ(second.bytes_read, Bytes{});
  EXPECT_EQ(second.page_faults, 0);
  EXPECT_EQ(second.minor_faults, 63) << "1,000 pages in blocks of 16";
  EXPECT_EQ(report.peak, pages(1200));
  EXPECT_EQ(report.curve.back().total(), pages(1200));
  EXPECT_EQ(report.curve.back().file_backed, pages(1000));

  // Each page moves a tenth of a nanosecond a byte while it computes: 409,600 ns.
  EXPECT_EQ(first.ttft, Duration::ns(1000 * kPage + 409'600));
  EXPECT_EQ(second.start, first.ttft);
  EXPECT_EQ(second.ttft, Duration::ns(409'600));
  EXPECT_EQ(report.ttft, first.ttft);
  EXPECT_EQ(report.end, first.ttft + second.ttft);

  // Reads of a run on to 4 + 8 + 16 + 15 x 32 = 508 pages, all of which are mapped. The first has
  // them to itself until the second touches a and, by blocks of 16, 512 pages; then b.
  std::vector<Bytes> pss;
  for (const ProcessPoint& point : first.curve) pss.push_back(point.pss);
  EXPECT_EQ(pss, (std::vector<Bytes>{pages(608), pages(1100), pages(1100 - 256), pages(600)}));
}

// 1,150 pages for everything: beside two processes' own memory 950 of the file are left.
TEST(ProcessesTest, OwnMemoryTakesTheRoomOfPages) {
  Scenario scenario = thousand_pages();
  scenario.cache.capacity = Bytes{};
  scenario.budget = pages(1150);
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.processes[0].bytes_read, pages(1000));
  EXPECT_GE(report.processes[1].bytes_read, pages(50));
  EXPECT_EQ(report.peak, pages(1150));
}

// Of 1,300 pages two processes' own take 200, activations 120 in b (a's and its own): 980 of the
// file are left to the second, where the first had room for all 1,000. Only one computes at a time.
TEST(ProcessesTest, LiveActivationsOfTheOneThatAnswersTakeTheRoomOfPages) {
  Scenario scenario = thousand_pages();
  scenario.model.dims = LayerListSpec{{{"a", pages(500), pages(60)}, {"b", pages(500), pages(60)}}};
  scenario.engine.activations = ActivationPolicy::kLive;
  scenario.cache.capacity = Bytes{};
  scenario.budget = pages(1300);
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.outcome, SimOutcome::kCompleted);
  EXPECT_EQ(report.processes[0].bytes_read, pages(1000));
  EXPECT_GE(report.processes[1].bytes_read, pages(20));
  EXPECT_EQ(report.peak, pages(1300));
  scenario.residency.processes = 4;
  EXPECT_EQ(run(scenario).report.peak, pages(1300));
}

TEST(ProcessesTest, TheTraceHasThemAsCounters) {
  const SimResult result = run(thousand_pages(), {.trace = true});
  int64_t points = 0;
  for (const TraceCounter& counter : result.trace.counters) {
    if (counter.name == "process 1 PSS") ++points;
  }
  EXPECT_EQ(points, 4);
}

TEST(ProcessesTest, RefusedWhereTheyHaveNoMeaning) {
  Scenario scenario = thousand_pages();
  scenario.strategy = StrategyKind::kResident;
  const Diagnostics problems = testing::refusal(scenario);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().path, "--processes");
  EXPECT_EQ(problems.front().message, "is for strategy mmap, not for resident");
  scenario.strategy = StrategyKind::kMmap;
  scenario.enforce = true;
  EXPECT_EQ(testing::refusal(scenario).size(), 1U);
}

TEST(ProcessesLaws, TheFirstKnowsNothingOfTheOthersAndSharesAddUp) {
  EXPECT_TRUE(rc::check("first as alone; PSS <= RSS; sum of PSS <= what the system holds", [] {
    Scenario scenario = thousand_pages();
    scenario.cache.capacity = pages(*rc::gen::inRange(100, 1100));
    scenario.load.prefetch = *rc::gen::inRange(0, 3);
    scenario.generate = Tokens(*rc::gen::inRange(1, 4));
    scenario.residency.processes = *rc::gen::inRange(2, 5);
    const SimReport report = run(scenario).report;
    scenario.residency.processes = 1;
    const SimReport alone = run(scenario).report;
    const ProcessFacts& first = report.processes.front();
    RC_ASSERT(first.ttft == alone.ttft);
    RC_ASSERT(first.tpot == alone.tpot);
    RC_ASSERT(report.processes[1].start == alone.end);
    Bytes pss;
    for (const ProcessFacts& process : report.processes) {
      RC_ASSERT(process.pss <= process.rss);
      pss += process.pss;
    }
    RC_ASSERT(pss <= report.curve.back().total());
    const auto count = static_cast<int64_t>(report.processes.size());
    RC_ASSERT(report.curve.back().total() - report.curve.back().file_backed == pages(100) * count);
    RC_ASSERT(report.stall + report.stages.compute == report.end);
  }));
}

}  // namespace
}  // namespace tidemark

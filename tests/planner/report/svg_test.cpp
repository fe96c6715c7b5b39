#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>

#include "planner/report/writers.h"
#include "sample.h"
#include "xml_check.h"

namespace tidemark {
namespace {

using namespace tidemark::literals;
using ::testing::HasSubstr;
using testing::hostile_name;
using ::testing::Not;
using testing::sample_run;
using testing::xml_problem;

std::string picture(const SimReport& report) {
  return curve_to_svg(std::span<const SimReport>(&report, 1));
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A curve of `points` random points in order of time; the peak facts agree with it.
SimReport any_run(int points, uint64_t seed) {
  std::mt19937_64 random(seed);
  SimReport run = sample_run();
  run.curve.clear();
  run.peak = Bytes{};
  int64_t time = 0;
  for (int i = 0; i < points; ++i) {
    const CurvePoint point{.time = Duration::ns(time),
                           .weights = Bytes::of(static_cast<int64_t>(random() >> 24)),
                           .kv_cache = Bytes::of(static_cast<int64_t>(random() >> 34))};
    run.curve.push_back(point);
    if (point.total() > run.peak) {
      run.peak = point.total();
      run.peak_time = point.time;
    }
    time += static_cast<int64_t>(random() >> 35);
  }
  run.end = Duration::ns(time);
  return run;
}

TEST(XmlCheck, KnowsWellFormedFromBroken) {
  EXPECT_EQ(xml_problem("<a b=\"c&amp;\"><d/>text</a>\n"), "");
  for (const char* broken :
       {"", "<a>", "<a></b>", "<a b=c/>", "<a b=\"<\"/>", "<a>&nbsp;</a>", "<a>a & b</a>",
        "<a b=\"1\" b=\"2\"/>", "<a/><a/>", "x<a/>", "<a>\x1b</a>", "<a"}) {
    EXPECT_NE(xml_problem(broken), "") << broken;
  }
}

TEST(SvgTest, IsWellFormedWhateverTheNames) {
  SimReport run = sample_run();
  run.model.name = run.device.name = run.engine = run.strategy = run.cache_policy = hostile_name();
  run.settings = {{"quant", hostile_name(), ""}, {"ctx_size", hostile_name(), ""}};
  EXPECT_EQ(xml_problem(picture(run)), "") << picture(run);
  EXPECT_THAT(picture(run), Not(HasSubstr("\xFF")));
  const std::vector<SimReport> both{run, sample_run()};
  EXPECT_EQ(xml_problem(curve_to_svg(both)), "");
}

TEST(SvgTest, ShowsTitlePeakLimitAndLegend) {
  const std::string text = picture(sample_run());
  for (const char* words :
       {">sample-1b, int8 on sample-phone<", ">resident<", ">peak 2.00 GiB<", ">limit 2.25 GiB<",
        ">weights<", ">KV cache<", ">compute<", ">output<", ">runtime<", ">1.5 GiB<", ">4 s<"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
  EXPECT_THAT(text, Not(HasSubstr(">recurrent state<"))) << "a part that is nowhere has no legend";
}

TEST(SvgTest, APanelAReport) {
  const std::vector<SimReport> runs{sample_run(), testing::sample_run_layerwise(),
                                    testing::sample_run_over()};
  const std::string text = curve_to_svg(runs);
  EXPECT_EQ(count_of(text, "<circle"), 3U);
  EXPECT_EQ(count_of(text, ">limit 2.25 GiB<"), 3U);
  EXPECT_THAT(text, HasSubstr(">over the limit<"));
}

TEST(SvgTest, ALimitFarAboveThePeakIsNamedButOffTheScale) {
  SimReport run = sample_run();
  run.device.limit.limit = 64_GiB;
  EXPECT_THAT(picture(run), HasSubstr("limit 64.0 GiB, above this scale"));
}

TEST(SvgTest, NothingToShowIsStillAPicture) {
  EXPECT_EQ(xml_problem(curve_to_svg(std::span<const SimReport>{})), "");
  EXPECT_EQ(xml_problem(picture(SimReport{})), "");
}

TEST(SvgTest, ExtremeValuesNeitherFailNorLeaveThePicture) {
  SimReport run = sample_run();
  run.curve = {{.time = Duration::ns(0), .weights = Bytes::of(INT64_MAX)}};
  run.peak = Bytes::of(INT64_MAX);
  run.end = Duration::ns(INT64_MAX);
  run.ttft = run.peak_time = Duration::ns(INT64_MAX);
  const std::string text = picture(run);
  EXPECT_EQ(xml_problem(text), "");
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("inf\"")));
}

TEST(SvgTest, ALongCurveStaysASmallFileAndTwoCallsAgree) {
  EXPECT_TRUE(rc::check([] {
    const SimReport run = any_run(*rc::gen::inRange(1, 4000), *rc::gen::arbitrary<uint64_t>());
    const std::string text = picture(run);
    RC_ASSERT(xml_problem(text).empty());
    RC_ASSERT(text.size() < size_t{400} * 1024);
    RC_ASSERT(text == picture(run));
  }));
}

}  // namespace
}  // namespace tidemark

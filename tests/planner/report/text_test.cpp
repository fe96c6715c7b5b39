#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "planner/report/layout.h"
#include "planner/report/parts.h"
#include "planner/report/sections.h"
#include "planner/report/writers.h"
#include "sample.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using testing::hostile_name;
using ::testing::Not;
using testing::sample_plan;
using testing::sample_run;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The exact bytes in the row that begins with `label`: its first number with thousands separators.
int64_t bytes_in_row(const std::string& text, const std::string& label) {
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with("  " + label + " ") && !line.starts_with("| " + label + " |")) continue;
    std::string digits;
    for (const char c : line.substr(label.size() + 3)) {
      if (std::isdigit(static_cast<unsigned char>(c)) != 0) digits += c;
      if (!digits.empty() && (c == ' ' || c == '|')) break;
    }
    return std::stoll(digits);
  }
  ADD_FAILURE() << "no row " << label << " in\n" << text;
  return 0;
}

void expect_rows_add_up(const std::string& text, int64_t total) {
  int64_t sum = 0;
  for (const MemoryPart& part : memory_parts()) sum += bytes_in_row(text, std::string(part.label));
  EXPECT_EQ(sum, total) << text;
  EXPECT_EQ(bytes_in_row(text, "total"), total) << text;
}

// Any breakdown that a 63-bit total can hold.
Breakdown any_breakdown() {
  Breakdown memory;
  for (const MemoryPart& part : memory_parts()) {
    memory.*part.planned =
        Bytes::of(*rc::gen::inRange<int64_t>(0, int64_t{1} << *rc::gen::inRange(0, 60)));
  }
  return memory;
}

TEST(TextTest, SharesAddUp) {
  const Breakdown thirds{
      .weights = Bytes::of(1), .kv_cache = Bytes::of(1), .compute = Bytes::of(1)};
  EXPECT_EQ(shares_per_mille(thirds), (std::vector<int64_t>{334, 333, 0, 333, 0, 0}));
  EXPECT_EQ(shares_per_mille({}), std::vector<int64_t>(6, 0));
}

TEST(TextTest, SharesOfAnyBreakdownAddUpToTheWhole) {
  EXPECT_TRUE(rc::check([] {
    const Breakdown memory = any_breakdown();
    const std::vector<int64_t> shares = shares_per_mille(memory);
    const int64_t whole = std::accumulate(shares.begin(), shares.end(), int64_t{0});
    RC_ASSERT(whole == (memory.total() > Bytes{} ? 1000 : 0));
  }));
}

TEST(TextTest, PartsAddUpToTheTotalInTextAndMarkdown) {
  EXPECT_TRUE(rc::check([] {
    PlanReport report = sample_plan();
    report.memory = any_breakdown();
    expect_rows_add_up(to_text(report), report.memory.total().count());
    expect_rows_add_up(to_markdown(std::span<const PlanReport>(&report, 1)),
                       report.memory.total().count());
  }));
  const SimReport run = sample_run();
  expect_rows_add_up(to_text(run), run.peak.count());
  expect_rows_add_up(to_markdown(std::span<const SimReport>(&run, 1)), run.peak.count());
}

TEST(TextTest, SaysYesOrNoInWordsAndSignsTheSlack) {
  EXPECT_THAT(to_text(sample_plan()),
              HasSubstr("FITS: 2.00 GiB needed, within the limit of 2.25 GiB, slack +256 MiB"));
  EXPECT_THAT(
      to_text(testing::sample_plan_over()),
      HasSubstr("DOES NOT FIT: 2.50 GiB needed, over the limit of 2.00 GiB, slack -512 MiB"));
}

TEST(TextTest, ColourAddsNothingButEscapeCodes) {
  for (const PlanReport& report : {sample_plan(), testing::sample_plan_over()}) {
    std::string colored = to_text(report, {.color = true});
    EXPECT_THAT(colored, HasSubstr("\x1b["));
    for (const std::string code : {"\x1b[32m", "\x1b[31m", "\x1b[0m"}) {
      for (size_t at = colored.find(code); at != std::string::npos; at = colored.find(code))
        colored.erase(at, code.size());
    }
    EXPECT_EQ(colored, to_text(report));
  }
}

TEST(TextTest, EverySettingIsShownUnderItsOrigin) {
  const std::string text = to_text(sample_plan());
  for (const Setting& setting : sample_plan().settings)
    EXPECT_THAT(text, HasSubstr(setting.key + "=" + setting.value));
  EXPECT_THAT(text, HasSubstr("scenario sample.yaml: ubatch_size=512, generate=3"));
}

int widest_line(const std::string& text) {
  int widest = 0;
  for (const std::string& line : lines_of(text)) widest = std::max(widest, display_width(line));
  return widest;
}

TEST(TextTest, NoLineIsWiderThanThePage) {
  std::vector<SimReport> runs{sample_run(), testing::sample_run_layerwise()};
  EXPECT_LE(widest_line(to_text(testing::sample_plan_formula())), 100);
  EXPECT_LE(widest_line(to_text(sample_run())), 100);
  EXPECT_LE(widest_line(to_comparison(runs)), 100);
  // Only a comparison with a block cache has a column for its hits and misses.
  EXPECT_THAT(to_comparison(runs), Not(HasSubstr("hit/miss")));
  runs.push_back(testing::sample_run_over());
  EXPECT_THAT(to_comparison(runs), HasSubstr("hit/miss"));
  EXPECT_LE(widest_line(to_comparison(runs)), 102);
}

TEST(TextTest, HostileNamesCannotBreakLinesOrReachTheTerminal) {
  PlanReport plan = testing::sample_plan_formula();
  const size_t lines = lines_of(to_text(plan)).size();
  plan.model.name = plan.device.name = plan.engine = plan.strategy = plan.arena.peak_op =
      hostile_name();
  plan.notes = {hostile_name()};
  plan.device.estimates = {hostile_name()};
  plan.settings.front() = {hostile_name(), hostile_name(), hostile_name()};
  SimReport run = sample_run();
  run.model.name = run.device.name = run.peak_at = run.reason = run.cache_policy = hostile_name();
  run.outcome = SimOutcome::kKilled;
  const std::vector<PlanReport> plans{plan, sample_plan()};
  const std::vector<SimReport> runs{run, sample_run()};
  for (const std::string& text : {to_text(plan), to_text(run), to_comparison(plans),
                                  to_comparison(runs), to_markdown(plans), to_markdown(runs)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\xFF")));
    EXPECT_THAT(text, HasSubstr("d\\"));
  }
  EXPECT_LE(lines_of(to_text(plan)).size(), lines + 8);  // only by wrapping longer names
}

TEST(TextTest, AMarkdownRowHasAsManyCellsAsItsHead) {
  SimReport run = sample_run();
  run.peak_at = hostile_name();
  for (const std::string& line : lines_of(to_markdown(std::span<const SimReport>(&run, 1)))) {
    if (!line.starts_with('|')) continue;
    int bars = 0;
    for (size_t i = 0; i < line.size(); ++i)
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    EXPECT_TRUE(bars == 5 || bars == 9) << line;
  }
}

TEST(TextTest, ComparisonShowsOnlyWhatDiffersAsColumns) {
  const std::vector<PlanReport> reports{sample_plan(), testing::sample_plan_over()};
  const std::string text = to_comparison(reports);
  EXPECT_THAT(text, HasSubstr("strategy  ctx_size  fits"));
  EXPECT_THAT(text, HasSubstr("1 of 2 fit"));
  EXPECT_EQ(to_comparison(std::span<const PlanReport>{}), "");
}

TEST(LayoutTest, ANumberIsNotPartedFromItsUnit) {
  EXPECT_EQ(wrap_words("limit of 256 MiB, here", 12),
            (std::vector<std::string>{"limit of", "256 MiB,", "here"}));
}

TEST(LayoutTest, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(display_width("模型"), 4);
  EXPECT_EQ(display_width("e\xCC\x81"), 1);
  EXPECT_EQ(shortened("模型模型", 7), "模型...");
  EXPECT_EQ(shortened("fits", 4), "fits");
}

}  // namespace
}  // namespace tidemark

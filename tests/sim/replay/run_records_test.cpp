#include "sim/replay/run_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace tidemark {
namespace {

using ::testing::HasSubstr;

// A run of two steps that tells `places` and `steps` of them, and is killed.
ReplayReport killed_after(const std::vector<std::string>& places, int64_t steps) {
  ReplayReport report{.strategy = "resident", .planned_steps = 2};
  const RunListener nobody;
  RunRecords records(report, nobody);
  std::vector<Record> told;
  const Tell tell = [&](const Record& record) {
    told.push_back(record);
    return true;
  };
  ReplayReport of_child;
  tell_run(tell, of_child, [&](const RunListener& listener) {
    for (const std::string& place : places) listener.on_place(place);
    for (int64_t i = 0; i < steps; ++i) {
      listener.on_step({.step = i, .pass = "prefill 0", .op = "x", .measured = Bytes::of(2048)});
    }
    return true;
  });
  told.pop_back();  // its end, which is never told
  for (const Record& record : told) records.take(record);
  EXPECT_TRUE(records.finish({.signal = SIGKILL}, Bytes::of(1 << 20)));
  return report;
}

std::string words(const ReplayReport& report) { return to_text(std::span(&report, 1)); }

TEST(RunRecordsTest, KilledBeforeItSaidAnything) {
  const ReplayReport report = killed_after({}, 0);
  EXPECT_EQ(report.end, ReplayEnd::kKilled);
  EXPECT_EQ(report.end_place, "starting");
  EXPECT_THAT(words(report),
              HasSubstr("killed by the system before its first step, while starting."));
}

TEST(RunRecordsTest, KilledBeforeItsFirstStep) {
  const ReplayReport report = killed_after({"loading weights"}, 0);
  EXPECT_EQ(report.end_place, "loading weights");
  EXPECT_THAT(words(report), HasSubstr("before its first step, while loading weights."));
}

TEST(RunRecordsTest, KilledBetweenItsSteps) {
  EXPECT_THAT(words(killed_after({"prefill 0, reading blk.1"}, 1)),
              HasSubstr("after 1 of 2 steps, in prefill 0, while reading blk.1;"));
  EXPECT_THAT(words(killed_after({"prefill 0, blk.1.q"}, 1)),
              HasSubstr("after 1 of 2 steps, in prefill 0, at blk.1.q; 2.00 KiB"));
}

TEST(RunRecordsTest, KilledBehindItsLastStep) {
  const ReplayReport report = killed_after({"decode 0, logits"}, 2);
  EXPECT_EQ(report.end_place, "comparing outputs");
  EXPECT_FALSE(report.outputs_match);
  EXPECT_THAT(words(report), HasSubstr("after its last step, while comparing outputs; 2.00 KiB"));
}

}  // namespace
}  // namespace tidemark

#include "sim/replay/child_run.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <system_error>
#include <thread>

#include "sim/replay/mapping.h"

namespace tidemark {
namespace {

using literals::operator""_MiB;

TEST(RecordTest, GivesBackWhatWasAdded) {
  Record record;
  record.add(-7).add("blk.3.q").add(int64_t{1} << 62).add("");
  EXPECT_EQ(record.number(), -7);
  EXPECT_EQ(record.text(), "blk.3.q");
  EXPECT_EQ(record.number(), int64_t{1} << 62);
  EXPECT_EQ(record.text(), "");
  EXPECT_EQ(record.number(), 0) << "past the end";
  EXPECT_EQ(record.text(), "");
}

TEST(RecordTest, CutsWhatAPipeWouldNotTakeInOnePiece) {
  Record record;
  record.add(std::string(100'000, 'x'));
  EXPECT_EQ(record.text().size(), Record::kMostText);
}

// Numbers told by the child, in order.
struct Told {
  std::vector<int64_t> numbers{};
  ChildEnd end{};
};

Told told_by(ChildWork work) {
  Told told;
  work.on_record = [&](Record record) { told.numbers.push_back(record.number()); };
  told.end = run_in_child(work);
  return told;
}

TEST(ChildRunTest, TellsWhatItDoesInAProcessOfItsOwn) {
  const int64_t own = ::getpid();
  const Told told = told_by({.body = [](const Tell& tell) {
    tell(Record().add(::getpid()));
    for (int64_t i = 0; i < 20'000; ++i) tell(Record().add(i));
  }});
  ASSERT_EQ(told.numbers.size(), 20'001U);
  EXPECT_NE(told.numbers.front(), own);
  EXPECT_EQ(told.numbers.back(), 19'999);
  EXPECT_EQ(told.end.signal, 0);
  EXPECT_FALSE(told.end.stopped);
  EXPECT_EQ(told.end.mechanism, "");
}

TEST(ChildRunTest, WhatWasSaidBeforeItWasKilledIsKnown) {
  const Told told = told_by({.body = [](const Tell& tell) {
    tell(Record().add(1));
    tell(Record().add(2));
    ::raise(SIGKILL);
    tell(Record().add(3));
  }});
  EXPECT_EQ(told.numbers, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(told.end.signal, SIGKILL);
}

TEST(ChildRunTest, StopsWhenAsked) {
  std::atomic<bool> stop{false};
  ChildEnd end = run_in_child({.body =
                                   [](const Tell& tell) {
                                     tell(Record().add(1));
                                     std::this_thread::sleep_for(std::chrono::minutes(10));
                                   },
                               .on_record = [&](const Record&) { stop = true; },
                               .stop = &stop});
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(end.signal, SIGKILL);
}

// 64 MiB of room, 16 MiB at a time.
void hold_more_and_more(const Tell& tell) {
  std::vector<Mapping> held;
  try {
    for (int64_t i = 1; i <= 64; ++i) {
      held.emplace_back(16_MiB, Fault::kNow);
      tell(Record().add(i));
    }
  } catch (const std::system_error& failed) {
    tell(Record().add(failed.code() == std::errc::not_enough_memory ? -1 : -2));
  }
}

TEST(ChildRunTest, AControlGroupKillsWhatHoldsMore) {
  ChildWork work{.limit = ChildLimit{64_MiB, LimitMechanism::kControlGroup},
                 .body = hold_more_and_more};
  Told told;
  try {
    told = told_by(work);
  } catch (const std::system_error& none) {
    GTEST_SKIP() << "no control group can be made here: " << none.what();
  }
  EXPECT_EQ(told.end.signal, SIGKILL);
  EXPECT_GE(told.numbers.size(), 2U);
  EXPECT_LE(told.numbers.size(), 4U);
  ASSERT_TRUE(told.end.highest.has_value());
  EXPECT_LE(*told.end.highest, 64_MiB);
  EXPECT_GT(*told.end.highest, 32_MiB);
}

TEST(ChildRunTest, ADataLimitRefusesIt) {
  const Told told = told_by(
      {.limit = ChildLimit{64_MiB, LimitMechanism::kDataLimit}, .body = hold_more_and_more});
  EXPECT_EQ(told.end.signal, 0);
  EXPECT_EQ(told.end.mechanism, "data limit of the process");
  EXPECT_EQ(told.end.highest, std::nullopt);
  // 16 MiB are left for threads: 80 MiB are four or five pieces.
  ASSERT_GE(told.numbers.size(), 4U);
  EXPECT_LE(told.numbers.size(), 6U);
  EXPECT_EQ(told.numbers.back(), -1);
}

}  // namespace
}  // namespace tidemark

#include "sim/replay/reading_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace tidemark {
namespace {

TEST(ReadingThreadTest, JobsAreDoneInOrderOnOneOtherThread) {
  ReadingThread reader;
  std::vector<int> done;
  std::vector<std::thread::id> by;
  std::future<void> last;
  for (int i = 0; i < 100; ++i) {
    last = reader.run([&, i] {
      done.push_back(i);
      by.push_back(std::this_thread::get_id());
    });
  }
  last.get();
  ASSERT_EQ(done.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(done[static_cast<size_t>(i)], i);
    EXPECT_EQ(by[static_cast<size_t>(i)], by[0]);
  }
  EXPECT_NE(by[0], std::this_thread::get_id());
}

TEST(ReadingThreadTest, AFailureIsThatOfItsJobAlone) {
  ReadingThread reader;
  std::future<void> failed = reader.run([] { throw std::runtime_error("cannot read"); });
  std::future<void> fine = reader.run([] {});
  EXPECT_THROW(failed.get(), std::runtime_error);
  EXPECT_NO_THROW(fine.get());
}

TEST(ReadingThreadTest, WhatHasNotBegunIsDropped) {
  std::future<void> never;
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<bool> was_done{false};
  // Lets the first job end when the reader has been told to stop.
  const std::shared_future<void> begun_too = begun.get_future().share();
  std::jthread later([&] {
    begun_too.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    go_on.set_value();
  });
  {
    ReadingThread reader;
    const std::future<void> first = reader.run([&] {
      begun.set_value();
      go_on.get_future().wait();
    });
    never = reader.run([&] { was_done = true; });
    begun_too.wait();  // the reader goes while its first job is at work
  }
  EXPECT_THROW(never.get(), std::future_error);
  EXPECT_FALSE(was_done);
}

}  // namespace
}  // namespace tidemark

// A thread that does one job after the other, for as long as it is there. A loader that reads ahead
// keeps one: a thread made for each read would first wait for its turn, on a busy machine up to a
// tick of the scheduler (4 ms) for a read of 1 ms.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace tidemark {

class ReadingThread {
 public:
  ReadingThread();
  // Drops the jobs that have not begun; their futures break.
  ~ReadingThread() = default;
  ReadingThread(const ReadingThread&) = delete;
  ReadingThread& operator=(const ReadingThread&) = delete;

  // Ready when the job is done, or has thrown.
  std::future<void> run(std::function<void()> job);

 private:
  void work(const std::stop_token& stop);

  std::mutex mutex_{};
  std::condition_variable_any there_is_one_{};
  std::deque<std::packaged_task<void()>> jobs_{};
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace tidemark

#include "sim/replay/reading_thread.h"

#include <utility>

namespace tidemark {

ReadingThread::ReadingThread() : thread_([this](const std::stop_token& stop) { work(stop); }) {}

std::future<void> ReadingThread::run(std::function<void()> job) {
  std::packaged_task<void()> task(std::move(job));
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(task));
  }
  there_is_one_.notify_one();
  return done;
}

void ReadingThread::work(const std::stop_token& stop) {
  while (true) {
    std::packaged_task<void()> task;
    {
      std::unique_lock lock(mutex_);
      if (!there_is_one_.wait(lock, stop, [this] { return !jobs_.empty(); })) return;
      if (stop.stop_requested()) return;
      task = std::move(jobs_.front());
      jobs_.pop_front();
    }
    task();
  }
}

}  // namespace tidemark

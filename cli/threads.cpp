#include "threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace tidemark::cli {

void run_on_threads(int threads, std::span<const std::function<void()>> tasks) {
  std::vector<std::exception_ptr> thrown(tasks.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) {
      try {
        tasks[i]();
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    const size_t wanted = std::min(static_cast<size_t>(std::max(threads, 1)), tasks.size());
    for (size_t k = 1; k < wanted; ++k) {
      try {
        others.emplace_back(work);
      } catch (const std::system_error&) {
        break;  // no more threads to be had: the ones there are do the work
      }
    }
    work();
  }
  for (const std::exception_ptr& error : thrown) {
    if (error) std::rethrow_exception(error);
  }
}

int all_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace tidemark::cli

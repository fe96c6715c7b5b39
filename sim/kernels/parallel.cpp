#include "sim/kernels/parallel.h"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "planner/base/check.h"

namespace tidemark {

void for_each_part(int64_t length, int64_t block, int threads,
                   const std::function<void(int64_t, int64_t)>& body) {
  check(length >= 0 && block > 0 && threads >= 1, "a loop has parts and a thread at least");
  const int64_t count = length / block + (length % block == 0 ? 0 : 1);
  const auto run = [&](int64_t i) { body(i * block, std::min(block, length - i * block)); };
  if (threads == 1 || count <= 1) {
    for (int64_t i = 0; i < count; ++i) run(i);
    return;
  }
  tbb::task_arena arena(std::min(threads, tbb::info::default_concurrency()));
  arena.execute([&] { tbb::parallel_for(int64_t{0}, count, run); });
}

}  // namespace tidemark

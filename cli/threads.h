// Threads for work that comes in independent tasks: the executor that the exact search asks for.
#pragma once

#include <functional>
#include <span>

namespace tidemark::cli {

// Runs every task once, on up to `threads` threads of which the caller's is one, and returns when
// all have ended. Rethrows what the first of the tasks that threw has thrown.
void run_on_threads(int threads, std::span<const std::function<void()>> tasks);

// As many as the machine runs at once; at least 1.
int all_threads();

}  // namespace tidemark::cli

// Ctrl-C and a polite kill: the verb is asked to stop, keeps what it has, and exits with 130. A
// second one ends the program at once.
#pragma once

#include <atomic>

namespace tidemark::cli {

inline constexpr int kInterrupted = 130;

extern std::atomic<bool> stop_asked;

void catch_interrupts();

}  // namespace tidemark::cli

#include "interrupt.h"

#include <signal.h>

namespace tidemark::cli {

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

namespace {
extern "C" void ask_to_stop(int) { stop_asked.store(true); }
}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = &ask_to_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace tidemark::cli

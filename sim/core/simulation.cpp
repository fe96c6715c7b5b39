#include "sim/core/simulation.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "planner/base/check.h"

namespace tidemark {
namespace {

struct Event {
  SimTime time{};
  int64_t sequence = 0;
  Simulation::Action action{};
};

// The standard heap keeps the largest element in front; the "largest" event is the one that runs
// first.
bool runs_later(const Event& a, const Event& b) {
  return std::tie(a.time, a.sequence) > std::tie(b.time, b.sequence);
}

}  // namespace

struct Simulation::Impl {
  SimTime now{};
  std::vector<Event> heap{};
  int64_t scheduled = 0;  // also the sequence of the next event
  int64_t ran = 0;
  int64_t cancelled = 0;

  Event pop() {
    std::pop_heap(heap.begin(), heap.end(), runs_later);
    Event event = std::move(heap.back());
    heap.pop_back();
    return event;
  }
};

Simulation::Simulation() : impl_(std::make_unique<Impl>()) {}
Simulation::~Simulation() = default;

SimTime Simulation::now() const { return impl_->now; }

int64_t Simulation::pending() const { return static_cast<int64_t>(impl_->heap.size()); }

EventId Simulation::at(SimTime time, Action action) {
  check(time >= impl_->now, "an event must not be scheduled in the past");
  const int64_t sequence = impl_->scheduled++;
  impl_->heap.push_back({.time = time, .sequence = sequence, .action = std::move(action)});
  std::push_heap(impl_->heap.begin(), impl_->heap.end(), runs_later);
  return EventId(sequence);
}

EventId Simulation::after(Duration delay, Action action) {
  return at(impl_->now + delay, std::move(action));
}

bool Simulation::cancel(EventId event) {
  std::vector<Event>& heap = impl_->heap;
  const auto found = std::find_if(heap.begin(), heap.end(), [event](const Event& pending_event) {
    return pending_event.sequence == event.value();
  });
  if (found == heap.end()) return false;
  heap.erase(found);
  std::make_heap(heap.begin(), heap.end(), runs_later);
  ++impl_->cancelled;
  return true;
}

bool Simulation::step() {
  if (impl_->heap.empty()) {
    check(impl_->scheduled == impl_->ran + impl_->cancelled, "an event was lost");
    return false;
  }
  const Event event = impl_->pop();
  check(event.time >= impl_->now, "time must not go back");
  impl_->now = event.time;
  ++impl_->ran;
  if (event.action) event.action();
  return true;
}

void Simulation::run() {
  while (step()) {
  }
}

void Simulation::run_until(SimTime time) {
  check(time >= impl_->now, "time must not go back");
  while (!impl_->heap.empty() && impl_->heap.front().time <= time) step();
  impl_->now = time;
}

}  // namespace tidemark

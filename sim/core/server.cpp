#include "sim/core/server.h"

#include <utility>

#include "planner/base/check.h"

namespace tidemark {

Server::Server(Simulation& simulation, int capacity)
    : simulation_(simulation), capacity_(capacity) {
  check(capacity >= 1, "a server serves at least one request at a time");
}

void Server::request(Duration service, Action on_start, Action on_done) {
  check(service >= Duration{}, "service time must not be negative");
  const Slot slot = requests_.take();
  Request& request = requests_[slot];
  request.service = service;
  request.on_start = std::move(on_start);
  request.on_done = std::move(on_done);
  (waiting_ == 0 ? first_ : requests_[last_].next) = slot;
  last_ = slot;
  ++waiting_;
  // While others wait, this one waits behind them, even when a place has just become free.
  if (waiting_ == 1) start_waiting();
}

void Server::start_waiting() {
  while (in_service_ < capacity_ && waiting_ > 0) {
    const Slot slot = std::exchange(first_, requests_[first_].next);
    --waiting_;
    start(slot);
  }
}

void Server::start(Slot slot) {
  ++in_service_;
  const Duration service = requests_[slot].service;
  busy_ += service;
  // Moved out first: it may make requests, and those move the slots.
  Action on_start = std::move(requests_[slot].on_start);
  if (on_start) on_start();
  simulation_.after(service, [this, slot] { on_service_done(slot); });
}

void Server::on_service_done(Slot slot) {
  --in_service_;
  Action on_done = std::move(requests_[slot].on_done);
  requests_.give_back(slot);
  if (on_done) on_done();
  start_waiting();
}

}  // namespace tidemark

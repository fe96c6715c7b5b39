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
  queue_.push_back(
      {.service = service, .on_start = std::move(on_start), .on_done = std::move(on_done)});
  // While others wait, this one waits behind them, even when a place has just become free.
  if (queue_.size() == 1) start_waiting();
}

void Server::start_waiting() {
  while (in_service_ < capacity_ && !queue_.empty()) {
    Request next = std::move(queue_.front());
    queue_.pop_front();
    start(std::move(next));
  }
}

void Server::start(Request request) {
  ++in_service_;
  busy_ += request.service;
  if (request.on_start) request.on_start();
  simulation_.after(request.service,
                    [this, on_done = std::move(request.on_done)] { on_service_done(on_done); });
}

void Server::on_service_done(const Action& on_done) {
  --in_service_;
  if (on_done) on_done();
  start_waiting();
}

}  // namespace tidemark

// A FIFO server: `capacity` requests in service at once, the rest wait in order of arrival. Storage and compute
// are two of these.
#pragma once

#include <deque>
#include <functional>

#include "sim/core/simulation.h"

namespace tidemark {

class Server {
 public:
  using Action = std::function<void()>;

  Server(Simulation& simulation, int capacity);

  // Runs `on_start` when service begins and `on_done` when it ends, `service` later. Either may be empty.
  void request(Duration service, Action on_start, Action on_done);

  Duration busy() const { return busy_; }  // total service time given so far
  int in_service() const { return in_service_; }
  int waiting() const { return static_cast<int>(queue_.size()); }

 private:
  struct Request {
    Duration service{};
    Action on_start{};
    Action on_done{};
  };
  void start(Request request);

  Simulation& simulation_;
  int capacity_;
  int in_service_ = 0;
  Duration busy_{};
  std::deque<Request> queue_{};
};

}  // namespace tidemark

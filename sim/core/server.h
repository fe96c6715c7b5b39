// A FIFO server: `capacity` requests in service at once, the rest wait in order of arrival. Storage
// and compute are two of these.
//
//   capacity 1, three requests at time 0:   a 5 ns   b 3 ns   c 2 ns
//   a [0,5)  b [5,8)  c [8,10)              busy 10 ns      Checked by
//   ServerTest.ServesInOrderOfArrival.
//
// When a request ends, its on_done runs before the next one's on_start: what it frees is free for
// the next. Memory for as many requests as were ever waiting and in service at once.
#pragma once

#include "sim/core/simulation.h"
#include "sim/core/slot_pool.h"

namespace tidemark {

class Server {
 public:
  using Action = tidemark::Action;

  Server(Simulation& simulation, int capacity);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Runs `on_start` when service begins and `on_done` when it ends, `service` later. Either may be
  // empty. Service may begin at once, that is before this returns.
  void request(Duration service, Action on_start, Action on_done);

  Duration busy() const { return busy_; }  // total service time of the requests begun so far
  int in_service() const { return in_service_; }
  int64_t waiting() const { return waiting_; }

 private:
  struct Request {
    Duration service{};
    Action on_start{};
    Action on_done{};
    Slot next = kNoSlot;  // the one that waits behind
  };
  void start_waiting();
  void start(Slot slot);
  void on_service_done(Slot slot);

  Simulation& simulation_;
  int capacity_;
  int in_service_ = 0;
  Duration busy_{};
  SlotPool<Request> requests_{};  // waiting and in service
  Slot first_ = kNoSlot;          // of those that wait
  Slot last_ = kNoSlot;
  int64_t waiting_ = 0;
};

}  // namespace tidemark

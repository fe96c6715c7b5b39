// A server that shares one bandwidth: all requests in service are served at once, each at the same
// speed, and a request that ends leaves its share to the others (processor sharing). A memory bus
// or a link is one of these.
//
//   4 bytes/ns; a: 40 bytes at 0 ns; b: 10 bytes at 5 ns
//    time        in service   each gets     a left       b left
//   [0, 5)       a            4 bytes/ns    40 -> 20
//   [5, 10)      a b          2 bytes/ns    20 -> 10     10 -> 0    b ends at 10 ns
//   [10, 12.5)   a            4 bytes/ns    10 -> 0                 a ends at 12.5 ns: told at 13
//   50 bytes in 12.5 ns. With at most 3 bytes/ns for each, a is served 15 + 10 bytes by 10 ns, and
//   the 15 that are left take until 15 ns.        Checked by SharedServerTest.TheTableOfTheHeader.
//
// Rounding. Requests end at their exact instants, within a nanosecond too: what one leaves of it
// goes to the others. Only the telling waits for the first whole nanosecond that is not earlier.
// Service is counted in units of 1 / 720720e9 byte. That is exact while as many as sixteen share
// the rate and all ends fall on whole nanoseconds, because 720720 is divisible by all of 1 ... 16.
// What cannot be dealt out evenly (less than a unit for each) is dealt out next time: no service is
// lost, but an end that falls on a whole nanosecond may be told one later.
//
// Method: the virtual time of generalised processor sharing (Parekh and Gallager, IEEE/ACM Trans.
// Networking 1, 1993): V is what each request in service was given since the start. A request that
// enters at V ends at V + its bytes, whoever comes and goes in between: the order of ends is that
// of V at the end, kept in a heap. O(log n) for an arrival or an end.
#pragma once

#include <vector>

#include "planner/base/bytes.h"
#include "sim/core/simulation.h"
#include "sim/core/slot_pool.h"

namespace tidemark {

struct SharedBandwidth {
  BytesPerSecond rate{};         // of all requests together
  BytesPerSecond per_request{};  // no single one gets more; 0 = the whole rate
  Duration latency{};            // from the request to its first byte; takes no bandwidth
};

class SharedServer {
 public:
  // Requires rate > 0, per_request >= 0, latency >= 0. Throws std::overflow_error for a rate above
  // 2^53 bytes/s.
  SharedServer(Simulation& simulation, const SharedBandwidth& bandwidth);
  SharedServer(const SharedServer&) = delete;
  SharedServer& operator=(const SharedServer&) = delete;

  // Runs `on_start` when service begins, which without latency is before this returns, and
  // `on_done` when it ends, after this has returned. Either may be empty. Several that end in the
  // same nanosecond are told in the order in which they end, and at the same instant in the order
  // in which they began. Throws std::overflow_error when the requests at hand exceed 2^63 bytes, or
  // would take longer than 292 years.
  void request(Bytes bytes, Action on_start, Action on_done);

  int64_t in_service() const { return static_cast<int64_t>(heap_.size()); }
  Bytes served() const { return served_; }  // of the requests that have ended
  // Whole nanoseconds in which a request was in service: served = rate * busy, less what a busy
  // period does not use of its last nanosecond, when no bound per request holds.
  Duration busy() const { return busy_; }

 private:
  // The largest product is a bandwidth times one nanosecond times a bandwidth, below 2^127.
  __extension__ using Units = unsigned __int128;
  struct Request {
    Bytes bytes{};
    Action on_start{};
    Action on_done{};
  };
  struct Ending {
    Units at = 0;  // V when it ends
    int64_t sequence = 0;
    Slot slot = 0;
  };
  static bool ends_later(const Ending& a, const Ending& b);

  void enter(Slot slot);
  void serve_until_now();
  void end_first();
  void set_alarm();
  Duration until_first_end() const;
  void on_alarm();
  Units rate_of(size_t requests) const;

  Simulation& simulation_;
  SharedBandwidth bandwidth_;
  SlotPool<Request> requests_{};
  std::vector<Ending> heap_{};  // in service; the first to end in front
  std::vector<Slot> ended_{};   // not told yet, in order
  std::vector<Slot> telling_{};
  Units virtual_time_ = 0;  // starts anew when none is in service
  Units left_over_ = 0;     // served, but not dealt out: less than a unit for each in service
  SimTime served_until_{};
  int64_t entered_ = 0;
  int64_t bytes_at_hand_ = 0;
  Bytes served_{};
  Duration busy_{};
  EventId alarm_{};
};

}  // namespace tidemark

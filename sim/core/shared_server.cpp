#include "sim/core/shared_server.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {
namespace {

__extension__ using Units = unsigned __int128;

constexpr Units kUnitsPerNanosecond = 720720;  // at one byte a second
constexpr Units kUnitsPerByte = kUnitsPerNanosecond * 1000000000U;
constexpr int64_t kHighestRate = int64_t{1} << 53;
constexpr Units kLatestVirtualTime = Units{1} << 126;

}  // namespace

SharedServer::SharedServer(Simulation& simulation, const SharedBandwidth& bandwidth)
    : simulation_(simulation), bandwidth_(bandwidth) {
  check(bandwidth.rate.count() > 0, "a shared rate must be positive");
  check(bandwidth.per_request.count() >= 0, "a bound of a request's rate must not be negative");
  check(bandwidth.latency >= Duration{}, "latency must not be negative");
  if (bandwidth.rate.count() > kHighestRate) throw std::overflow_error("bandwidth out of range");
}

void SharedServer::request(Bytes bytes, Action on_start, Action on_done) {
  check(bytes >= Bytes{}, "a request must not be negative");
  bytes_at_hand_ = checked_add(bytes_at_hand_, bytes.count());
  const Slot slot = requests_.take();
  requests_[slot] = {
      .bytes = bytes, .on_start = std::move(on_start), .on_done = std::move(on_done)};
  if (bandwidth_.latency == Duration{}) return enter(slot);
  simulation_.after(bandwidth_.latency, [this, slot] { enter(slot); });
}

void SharedServer::enter(Slot slot) {
  serve_until_now();
  if (virtual_time_ > kLatestVirtualTime) throw std::overflow_error("bytes served out of range");
  const Units bytes = static_cast<Units>(requests_[slot].bytes.count());
  heap_.push_back(
      {.at = virtual_time_ + bytes * kUnitsPerByte, .sequence = entered_++, .slot = slot});
  std::push_heap(heap_.begin(), heap_.end(), ends_later);
  set_alarm();
  // Moved out first: it may make requests, and those move the slots.
  Action on_start = std::move(requests_[slot].on_start);
  if (on_start) on_start();
}

// The standard heap keeps the largest element in front, which here is the one that ends first.
bool SharedServer::ends_later(const Ending& a, const Ending& b) {
  return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
}

SharedServer::Units SharedServer::rate_of(size_t requests) const {
  const Units rate = static_cast<Units>(bandwidth_.rate.count());
  if (bandwidth_.per_request.count() == 0) return rate;
  return std::min(rate, static_cast<Units>(bandwidth_.per_request.count()) * requests);
}

// The alarm rings in the nanosecond of the first end: all of these lie in the last nanosecond, and
// what is left of it is at most a nanosecond's work.
void SharedServer::serve_until_now() {
  const Duration time = simulation_.now() - std::exchange(served_until_, simulation_.now());
  if (heap_.empty()) return;
  busy_ += time;
  Units work = std::exchange(left_over_, 0) +
               static_cast<Units>(time.count()) * rate_of(heap_.size()) * kUnitsPerNanosecond;
  while (!heap_.empty()) {
    const size_t sharing = heap_.size();
    const Units needed = (heap_.front().at - virtual_time_) * sharing;
    if (needed > work) break;
    work -= needed;
    virtual_time_ = heap_.front().at;
    end_first();
    if (heap_.empty()) break;
    // The rest of the time, at what the others get together.
    if (rate_of(sharing - 1) != rate_of(sharing)) {
      work = work * rate_of(sharing - 1) / rate_of(sharing);
    }
  }
  if (heap_.empty()) {
    virtual_time_ = 0;
    return;
  }
  virtual_time_ += work / heap_.size();
  left_over_ = work % heap_.size();
}

void SharedServer::end_first() {
  std::pop_heap(heap_.begin(), heap_.end(), ends_later);
  const Slot slot = heap_.back().slot;
  heap_.pop_back();
  ended_.push_back(slot);
  served_ += requests_[slot].bytes;
  bytes_at_hand_ -= requests_[slot].bytes.count();
}

void SharedServer::set_alarm() {
  simulation_.cancel(alarm_);
  alarm_ = {};
  if (ended_.empty() && heap_.empty()) return;
  alarm_ =
      simulation_.after(ended_.empty() ? until_first_end() : Duration{}, [this] { on_alarm(); });
}

Duration SharedServer::until_first_end() const {
  const Units needed = (heap_.front().at - virtual_time_) * heap_.size();
  if (needed <= left_over_) return {};
  const Units each_nanosecond = rate_of(heap_.size()) * kUnitsPerNanosecond;
  const Units time = (needed - left_over_ + each_nanosecond - 1) / each_nanosecond;
  if (time > static_cast<Units>(std::numeric_limits<int64_t>::max())) {
    throw std::overflow_error("duration out of range");
  }
  return Duration::ns(static_cast<int64_t>(time));
}

// Everything is in order again before the first is told: it may make requests.
void SharedServer::on_alarm() {
  serve_until_now();
  telling_.swap(ended_);
  set_alarm();
  for (const Slot slot : telling_) {
    Action on_done = std::move(requests_[slot].on_done);
    requests_.give_back(slot);
    if (on_done) on_done();
  }
  telling_.clear();
}

}  // namespace tidemark

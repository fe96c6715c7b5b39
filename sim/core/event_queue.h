// The events that have not run yet, in order of (time, sequence). What an event does is kept
// elsewhere, under the number of its slot; the queue moves 24 bytes an event.
//
//   push (30, #0, slot 0)  push (10, #1, slot 1)  push (10, #2, slot 2)  erase slot 1
//   pop until 20 -> (10, #2, slot 2)        pop until 20 -> none: the next one is at 30
//
// Two queues keep the same order and differ in cost only:
//   heap       an indexed heap of four children a node: O(log n) for each of push, pop and erase,
//              whatever the times are.
//   calendar   R. Brown, "Calendar queues", CACM 31 (1988): buckets of days that come round every
//              year, each a sorted list. O(1) on average for times that are spread evenly or thin
//              out; the length of a day follows the pending events. O(n) for a push when most of
//              them crowd into one day at different times.
// Both keep memory for as many events as were ever pending at once. By bench/event_bench the heap
// is the faster with about ten pending, the calendar from a hundred on, and only the calendar runs
// ten million events a second up to a thousand pending for random, equal and mixed times alike: it
// is what a Simulation uses unless told otherwise.
#pragma once

#include <memory>
#include <optional>

#include "planner/base/quantity.h"
#include "sim/core/slot_pool.h"

namespace tidemark {

struct PendingEvent {
  SimTime time{};
  int64_t sequence = 0;  // no two alike
  Slot slot = 0;         // no two pending alike
};

inline bool runs_before(const PendingEvent& a, const PendingEvent& b) {
  // Neither is negative. As one number of 128 bits: no jump to guess wrongly.
  __extension__ using Key = unsigned __int128;
  const auto key = [](const PendingEvent& event) {
    return static_cast<Key>(event.time.count()) << 64 | static_cast<uint64_t>(event.sequence);
  };
  return key(a) < key(b);
}

class EventQueue {
 public:
  EventQueue() = default;
  virtual ~EventQueue() = default;
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  virtual void push(const PendingEvent& event) = 0;  // time >= 0, the slot not pending
  // Takes out the first event unless it is later than `until`.
  virtual std::optional<PendingEvent> pop(SimTime until) = 0;
  virtual void erase(Slot slot) = 0;  // pending
  virtual int64_t size() const = 0;
};

enum class QueueKind { kHeap, kCalendar };

std::unique_ptr<EventQueue> make_heap_queue();
std::unique_ptr<EventQueue> make_calendar_queue();
std::unique_ptr<EventQueue> make_event_queue(QueueKind kind);

}  // namespace tidemark

// A heap of four children a node, in one array: the children of node i are 4 i + 1 ... 4 i + 4. It
// is half as deep as a binary one, and four children lie side by side in memory.
//
//                  0                       A node runs before its children.
//        1      2       3      4
//     5 6 7 8  9 ..  13 ..   17 ..
//
// Where the event of each slot stands is kept beside it, so that it can be taken out of the middle.
#include <algorithm>
#include <vector>

#include "sim/core/event_queue.h"

namespace tidemark {
namespace {

class HeapQueue final : public EventQueue {
 public:
  void push(const PendingEvent& event) override {
    if (event.slot >= place_.size()) place_.resize(event.slot + size_t{1});
    heap_.push_back(event);
    move_up(heap_.size() - 1, event);
  }

  std::optional<PendingEvent> pop(SimTime until) override {
    if (heap_.empty() || heap_.front().time > until) return std::nullopt;
    const PendingEvent first = heap_.front();
    const PendingEvent last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) move_down(0, last);
    return first;
  }

  void erase(Slot slot) override {
    const size_t hole = place_[slot];
    const PendingEvent last = heap_.back();
    heap_.pop_back();
    if (hole == heap_.size()) return;
    if (hole > 0 && runs_before(last, heap_[parent(hole)])) {
      move_up(hole, last);
    } else {
      move_down(hole, last);
    }
  }

  int64_t size() const override { return static_cast<int64_t>(heap_.size()); }

 private:
  static size_t parent(size_t node) { return (node - 1) / 4; }

  void put(size_t node, const PendingEvent& event) {
    heap_[node] = event;
    place_[event.slot] = static_cast<Slot>(node);
  }

  void move_up(size_t hole, const PendingEvent& event) {
    while (hole > 0 && runs_before(event, heap_[parent(hole)])) {
      put(hole, heap_[parent(hole)]);
      hole = parent(hole);
    }
    put(hole, event);
  }

  void move_down(size_t hole, const PendingEvent& event) {
    while (4 * hole + 1 < heap_.size()) {
      const size_t child = first_child(4 * hole + 1);
      if (!runs_before(heap_[child], event)) break;
      put(hole, heap_[child]);
      hole = child;
    }
    put(hole, event);
  }

  // Of the up to four children from `begin` on, the one that runs first.
  size_t first_child(size_t begin) const {
    const size_t end = std::min(begin + 4, heap_.size());
    size_t first = begin;
    for (size_t child = begin + 1; child < end; ++child) {
      first = runs_before(heap_[child], heap_[first]) ? child : first;
    }
    return first;
  }

  std::vector<PendingEvent> heap_{};
  std::vector<Slot> place_{};  // of each pending slot, its node
};

}  // namespace

std::unique_ptr<EventQueue> make_heap_queue() { return std::make_unique<HeapQueue>(); }

std::unique_ptr<EventQueue> make_event_queue(QueueKind kind) {
  return kind == QueueKind::kCalendar ? make_calendar_queue() : make_heap_queue();
}

}  // namespace tidemark

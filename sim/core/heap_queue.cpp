// A heap of four children a node, in one array: the children of node i are 4 i + 1 ... 4 i + 4. It
// is half as deep as a binary one, and four children lie side by side in memory.
//
//                  0                       A node runs before its children.
//        1      2       3      4
//     5 6 7 8  9 ..  13 ..   17 ..
//
// Where the event of each slot stands is kept beside it, so that it can be taken out of the middle.
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

  // First the hole goes all the way down and then the event up from there: it was at the bottom
  // before, and seldom belongs far from it. That spares a comparison a level, and guesses.
  void move_down(size_t hole, const PendingEvent& event) {
    while (4 * hole + 4 < heap_.size()) {
      const size_t child = first_of_four(4 * hole + 1);
      put(hole, heap_[child]);
      hole = child;
    }
    if (4 * hole + 1 < heap_.size()) {
      const size_t child = first_of_few(4 * hole + 1);
      put(hole, heap_[child]);
      hole = child;
    }
    move_up(hole, event);
  }

  size_t first_of_four(size_t begin) const {
    const PendingEvent* child = &heap_[begin];
    const size_t left = static_cast<size_t>(runs_before(child[1], child[0]));
    const size_t right = 2 + static_cast<size_t>(runs_before(child[3], child[2]));
    // Which of the two it is is anybody's guess: a product instead of a jump.
    const size_t is_right = static_cast<size_t>(runs_before(child[right], child[left]));
    return begin + left + is_right * (right - left);
  }

  // Of the one to three children at the end of the heap.
  size_t first_of_few(size_t begin) const {
    size_t first = begin;
    for (size_t child = begin + 1; child < heap_.size(); ++child) {
      if (runs_before(heap_[child], heap_[first])) first = child;
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

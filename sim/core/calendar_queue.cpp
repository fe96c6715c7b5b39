// The calendar: a desk calendar of one page a day that is used year after year. An event is noted
// on its day's page, in order, whatever its year. The next event is found by turning pages from the
// day at hand; the first note of that very year is it.
//
//   4 pages, days of 8 ns: pages hold    0-7, 32-39, ...   8-15, 40-47, ...   16-23, ...   24-31,
//   .. events at 3, 34, 12, 13 ns           [3 34]            [12 13]            []           []
//   after 3, 12 and 13 a year is turned over before 34: such a jump looks at every page once.
//
// Pages and lengths of days are powers of two, and there are half as many to twice as many pages as
// events. A day is made two to four times as long as the mean gap in the first half of the events:
// the far future may be thin. When turning and noting turn out to be slow, it is measured anew.
#include <algorithm>
#include <bit>
#include <vector>

#include "sim/core/event_queue.h"

namespace tidemark {
namespace {

constexpr size_t kFewestPages = 4;
constexpr int64_t kSlow = 6;  // steps an event, beyond which the length of a day is looked at

class CalendarQueue final : public EventQueue {
 public:
  void push(const PendingEvent& event) override {
    if (event.slot >= notes_.size()) notes_.resize(event.slot + size_t{1});
    notes_[event.slot] = {.time = event.time.count(), .sequence = event.sequence};
    const int64_t day = day_of(event.time.count());
    if (size_ == 0 || day < today_) today_ = day;
    ++size_;
    note(event.slot);
    if (size_ > 2 * pages_.size()) make_pages(2 * pages_.size());
  }

  std::optional<PendingEvent> pop(SimTime until) override {
    if (size_ == 0) return std::nullopt;
    const Slot slot = first();
    const Note& found = notes_[slot];
    if (found.time > until.count()) return std::nullopt;
    const PendingEvent event{
        .time = SimTime::ns(found.time), .sequence = found.sequence, .slot = slot};
    ++events_;
    erase(slot);
    if (steps_ > static_cast<int64_t>(16 * pages_.size())) look_at_pace();
    return event;
  }

  void erase(Slot slot) override {
    const Note& gone = notes_[slot];
    Page& page = page_of(gone.time);
    (gone.previous == kNoSlot ? page.first : notes_[gone.previous].next) = gone.next;
    (gone.next == kNoSlot ? page.last : notes_[gone.next].previous) = gone.previous;
    --size_;
    if (pages_.size() > kFewestPages && size_ < pages_.size() / 2) make_pages(pages_.size() / 2);
  }

  int64_t size() const override { return static_cast<int64_t>(size_); }

 private:
  struct Note {
    int64_t time = 0;
    int64_t sequence = 0;
    Slot previous = kNoSlot;
    Slot next = kNoSlot;
  };
  struct Page {
    Slot first = kNoSlot;
    Slot last = kNoSlot;
  };

  int64_t day_of(int64_t time) const { return time >> day_bits_; }
  Page& page_of(int64_t time) {
    return pages_[static_cast<size_t>(day_of(time)) & (pages_.size() - 1)];
  }
  bool before(Slot a, Slot b) const {
    const Note& x = notes_[a];
    const Note& y = notes_[b];
    return x.time != y.time ? x.time < y.time : x.sequence < y.sequence;
  }

  // New events mostly belong at the end of their page.
  void note(Slot slot) {
    Page& page = page_of(notes_[slot].time);
    Slot previous = page.last;
    while (previous != kNoSlot && before(slot, previous)) {
      previous = notes_[previous].previous;
      ++steps_;
    }
    const Slot next = previous == kNoSlot ? page.first : notes_[previous].next;
    notes_[slot].previous = previous;
    notes_[slot].next = next;
    (previous == kNoSlot ? page.first : notes_[previous].next) = slot;
    (next == kNoSlot ? page.last : notes_[next].previous) = slot;
  }

  // No event is of a day before today: turns to the day of the first one.
  Slot first() {
    for (size_t turned = 0; turned < pages_.size(); ++turned, ++today_) {
      const Slot slot = pages_[static_cast<size_t>(today_) & (pages_.size() - 1)].first;
      if (slot != kNoSlot && day_of(notes_[slot].time) == today_) return slot;
      ++steps_;
    }
    Slot earliest = kNoSlot;
    for (const Page& page : pages_) {
      if (page.first == kNoSlot) continue;
      if (earliest == kNoSlot || before(page.first, earliest)) earliest = page.first;
    }
    today_ = day_of(notes_[earliest].time);
    return earliest;
  }

  void look_at_pace() {
    if (steps_ > kSlow * events_) make_pages(pages_.size());
    steps_ = 0;
    events_ = 0;
  }

  void make_pages(size_t count) {
    sorted_.clear();
    for (const Page& page : pages_) {
      for (Slot slot = page.first; slot != kNoSlot; slot = notes_[slot].next) {
        sorted_.push_back(slot);
      }
    }
    std::sort(sorted_.begin(), sorted_.end(), [this](Slot a, Slot b) { return before(a, b); });
    measure_day();
    pages_.assign(count, {});
    for (const Slot slot : sorted_) note(slot);
    if (!sorted_.empty()) today_ = day_of(notes_[sorted_.front()].time);
  }

  void measure_day() {
    if (sorted_.size() < 2) return;
    const size_t half = sorted_.size() / 2;
    const int64_t begin = notes_[sorted_.front()].time;
    int64_t gap = (notes_[sorted_[half]].time - begin) / static_cast<int64_t>(half);
    if (gap == 0) {
      const auto gaps = static_cast<int64_t>(sorted_.size() - 1);
      gap = (notes_[sorted_.back()].time - begin) / gaps;
    }
    // 2^62 and more would leave a single day.
    day_bits_ = std::min(static_cast<int>(std::bit_width(static_cast<uint64_t>(gap))) + 1, 61);
  }

  std::vector<Note> notes_{};  // by slot
  std::vector<Page> pages_ = std::vector<Page>(kFewestPages);
  std::vector<Slot> sorted_{};  // kept for its memory only
  size_t size_ = 0;
  int day_bits_ = 0;
  int64_t today_ = 0;
  int64_t steps_ = 0;   // pages turned and notes passed since the pace was looked at
  int64_t events_ = 0;  // taken out since then
};

}  // namespace

std::unique_ptr<EventQueue> make_calendar_queue() { return std::make_unique<CalendarQueue>(); }

}  // namespace tidemark

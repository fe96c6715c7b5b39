#include <fmt/core.h>

#include <algorithm>
#include <compare>
#include <limits>
#include <map>

#include "planner/alloc/validate.h"

namespace tidemark {
namespace {

// A buffer begins or ceases to need memory.
struct Turn {
  int64_t instant = 0;
  bool begins = false;  // what ends at an instant is gone before what begins there
  size_t buffer = 0;
  auto operator<=>(const Turn&) const = default;
};

// The life of a buffer cut at its gaps, by a sweep over their ends: it needs memory where no gap is
// open.
void add_turns(const Buffer& buffer, size_t number, std::vector<Turn>& turns) {
  std::map<int64_t, int> opening;  // instant -> gaps that open less gaps that close
  for (const Interval<int64_t>& gap : buffer.gaps) {
    const int64_t lower = std::clamp(gap.lower, buffer.lifetime.lower, buffer.lifetime.upper);
    const int64_t upper = std::clamp(gap.upper, buffer.lifetime.lower, buffer.lifetime.upper);
    if (lower >= upper) continue;
    ++opening[lower];
    --opening[upper];
  }
  int open = 0;
  int64_t from = buffer.lifetime.lower;
  const auto add = [&](int64_t lower, int64_t upper) {
    if (lower >= upper) return;
    turns.push_back({lower, true, number});
    turns.push_back({upper, false, number});
  };
  for (const auto& [instant, change] : opening) {
    if (open == 0) add(from, instant);
    open += change;
    from = instant;
  }
  if (open == 0) add(from, buffer.lifetime.upper);
}

class Sweep {
 public:
  Sweep(const Problem& problem, const Plan& plan) : buffers_(problem.buffers), plan_(plan) {}

  std::vector<Violation> run() {
    std::vector<Turn> turns;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i].size.count() > 0) add_turns(buffers_[i], i, turns);
    }
    std::ranges::sort(turns);
    for (const Turn& turn : turns) {
      if (violations_.size() == kMaxViolations) break;
      turn.begins ? enter(turn) : leave(turn.buffer);
    }
    return std::move(violations_);
  }

 private:
  int64_t offset(size_t i) const { return plan_.offsets[i].count(); }

  int64_t end(size_t i) const {
    int64_t sum = 0;
    const bool overflows = __builtin_add_overflow(offset(i), buffers_[i].size.count(), &sum);
    return overflows ? std::numeric_limits<int64_t>::max() : sum;
  }

  void enter(const Turn& turn) {
    const auto above = live_.lower_bound(offset(turn.buffer));
    if (above != live_.end() && above->first < end(turn.buffer)) {
      report(above->second, turn);
    } else if (above != live_.begin() && end(std::prev(above)->second) > offset(turn.buffer)) {
      report(std::prev(above)->second, turn);
    } else {
      live_.emplace_hint(above, offset(turn.buffer), turn.buffer);
    }
  }

  // One that overlapped was never entered.
  void leave(size_t buffer) {
    const auto found = live_.find(offset(buffer));
    if (found != live_.end() && found->second == buffer) live_.erase(found);
  }

  void report(size_t other, const Turn& turn) {
    const size_t first = std::min(other, turn.buffer);
    const size_t second = std::max(other, turn.buffer);
    violations_.push_back(
        {.rule = Rule::kOverlap,
         .first = BufferId::of(first),
         .second = BufferId::of(second),
         .message = fmt::format("buffer {} '{}' and buffer {} '{}' share addresses "
                                "at instant {}",
                                first, buffers_[first].name, second, buffers_[second].name,
                                turn.instant)});
  }

  const std::vector<Buffer>& buffers_;
  const Plan& plan_;
  std::map<int64_t, size_t> live_;  // by offset
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> overlaps_by_sweep(const Problem& problem, const Plan& plan) {
  return Sweep(problem, plan).run();
}

}  // namespace tidemark

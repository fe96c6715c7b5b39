#include <fmt/core.h>

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "planner/alloc/validate.h"

namespace tidemark {
namespace {

// The smallest and the largest address a buffer uses, from its start, between two instants.
struct Use {
  size_t buffer = 0;
  int64_t from = 0;
  int64_t until = 0;
  int64_t low = 0;
  int64_t high = 0;
  bool entered = false;
};

// A gap, whole or partial, opens or closes.
struct Edge {
  bool opens = false;
  bool whole = false;
  int64_t low = 0;
  int64_t high = 0;
};

// The life of a buffer cut where a gap opens or closes: what it uses in between are the addresses
// that all open partial gaps have in common, and none while a whole gap is open.
class Cutter {
 public:
  Cutter(const Buffer& buffer, size_t number) : buffer_(buffer), number_(number) {}

  void cut(std::vector<Use>& uses) {
    for (const Interval<int64_t>& gap : buffer_.gaps) add(gap, {.whole = true});
    for (const PartialGap& gap : buffer_.partial_gaps) {
      add(gap.when, {.low = gap.used.lower.count(), .high = gap.used.upper.count()});
    }
    lows_ = {0};
    highs_ = {buffer_.size.count()};
    int64_t from = buffer_.lifetime.lower;
    for (const auto& [instant, edge] : edges_) {
      emit(from, instant, uses);
      pass(edge);
      from = instant;
    }
    emit(from, buffer_.lifetime.upper, uses);
  }

 private:
  void add(const Interval<int64_t>& gap, Edge edge) {
    const int64_t lower = std::clamp(gap.lower, buffer_.lifetime.lower, buffer_.lifetime.upper);
    const int64_t upper = std::clamp(gap.upper, buffer_.lifetime.lower, buffer_.lifetime.upper);
    if (lower >= upper) return;
    edge.opens = true;
    edges_.emplace(lower, edge);
    edge.opens = false;
    edges_.emplace(upper, edge);
  }

  void pass(const Edge& edge) {
    if (edge.whole) {
      whole_ += edge.opens ? 1 : -1;
    } else if (edge.opens) {
      lows_.insert(edge.low);
      highs_.insert(edge.high);
    } else {
      lows_.erase(lows_.find(edge.low));
      highs_.erase(highs_.find(edge.high));
    }
  }

  void emit(int64_t from, int64_t until, std::vector<Use>& uses) const {
    if (from >= until || whole_ > 0 || *lows_.rbegin() >= *highs_.begin()) return;
    uses.push_back({number_, from, until, *lows_.rbegin(), *highs_.begin()});
  }

  const Buffer& buffer_;
  size_t number_;
  std::multimap<int64_t, Edge> edges_{};
  std::multiset<int64_t> lows_{};
  std::multiset<int64_t> highs_{};
  int whole_ = 0;
};

// Addresses of one pool that are in use now, cut at every border of a use: who uses them, how
// often.
struct Stretch {
  int64_t end = 0;
  size_t owner = 0;   // a group, or a buffer without one
  size_t buffer = 0;  // one of those that use it
  int64_t uses = 0;
};
using Stretches = std::map<int64_t, Stretch>;  // by first address

// No stretch goes across `address` afterwards.
void cut_at(Stretches& stretches, int64_t address) {
  auto after = stretches.lower_bound(address);
  if (after == stretches.begin()) return;
  const auto before = std::prev(after);
  if (before->second.end <= address) return;
  Stretch rest = before->second;
  before->second.end = address;
  stretches.emplace_hint(after, address, rest);
}

class Sweep {
 public:
  Sweep(const Problem& problem, const Plan& plan)
      : buffers_(problem.buffers), plan_(plan), groups_(problem.groups.size()) {}

  std::vector<Violation> run() {
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i].size.count() > 0) Cutter(buffers_[i], i).cut(uses_);
    }
    // What ends at an instant is gone before what begins there.
    std::vector<std::tuple<int64_t, bool, size_t>> turns;
    for (size_t k = 0; k < uses_.size(); ++k) {
      turns.emplace_back(uses_[k].from, true, k);
      turns.emplace_back(uses_[k].until, false, k);
    }
    std::ranges::sort(turns);
    for (const auto& [instant, begins, use] : turns) {
      if (violations_.size() == kMaxViolations) break;
      begins ? enter(uses_[use]) : leave(uses_[use]);
    }
    return std::move(violations_);
  }

 private:
  int64_t address(const Use& use, int64_t within) const {
    int64_t sum = 0;
    const bool overflows = __builtin_add_overflow(plan_.offsets[use.buffer].count(), within, &sum);
    return overflows ? std::numeric_limits<int64_t>::max() : sum;
  }

  size_t owner(size_t buffer) const {
    const auto& group = buffers_[buffer].group;
    return group ? group->index() : groups_ + buffer;
  }

  Stretches& pool(const Use& use) {
    return pools_[plan_.pool_of.empty() ? PoolId{} : plan_.pool_of[use.buffer]];
  }

  void enter(Use& use) {
    const int64_t from = address(use, use.low);
    const int64_t until = address(use, use.high);
    Stretches& stretches = pool(use);
    cut_at(stretches, from);
    cut_at(stretches, until);
    const auto first = stretches.lower_bound(from);
    for (auto at = first; at != stretches.end() && at->first < until; ++at) {
      if (at->second.owner != owner(use.buffer)) return report(at->second.buffer, use);
    }
    use.entered = true;
    int64_t free_from = from;
    for (auto at = first; at != stretches.end() && at->first < until; ++at) {
      if (free_from < at->first) add(stretches, free_from, at->first, use);
      ++at->second.uses;
      free_from = at->second.end;
    }
    if (free_from < until) add(stretches, free_from, until, use);
  }

  void add(Stretches& stretches, int64_t from, int64_t until, const Use& use) const {
    stretches.emplace(from, Stretch{until, owner(use.buffer), use.buffer, 1});
  }

  void leave(const Use& use) {
    if (!use.entered) return;
    Stretches& stretches = pool(use);
    const int64_t until = address(use, use.high);
    auto at = stretches.lower_bound(address(use, use.low));
    while (at != stretches.end() && at->first < until) {
      at = --at->second.uses == 0 ? stretches.erase(at) : std::next(at);
    }
  }

  void report(size_t other, const Use& use) {
    const size_t first = std::min(other, use.buffer);
    const size_t second = std::max(other, use.buffer);
    violations_.push_back(
        {.rule = Rule::kOverlap,
         .first = BufferId::of(first),
         .second = BufferId::of(second),
         .message =
             fmt::format("buffer {} '{}' and buffer {} '{}' share addresses "
                         "at instant {}",
                         first, buffers_[first].name, second, buffers_[second].name, use.from)});
  }

  const std::vector<Buffer>& buffers_;
  const Plan& plan_;
  size_t groups_;
  std::vector<Use> uses_{};
  std::map<PoolId, Stretches> pools_{};
  std::vector<Violation> violations_{};
};

}  // namespace

std::vector<Violation> overlaps_by_sweep(const Problem& problem, const Plan& plan) {
  return Sweep(problem, plan).run();
}

}  // namespace tidemark

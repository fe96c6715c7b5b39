#include "planner/alloc/validate.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace tidemark {
namespace {

struct Span {
  int64_t lower = 0;
  int64_t upper = 0;
};

// Two half-open spans share exactly the points from the later start to the earlier end.
Span common(const Span& a, const Span& b) {
  return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
}

bool has_points(const Span& span) { return span.lower < span.upper; }
bool contains(const Interval<int64_t>& when, int64_t instant) {
  return when.lower <= instant && instant < when.upper;
}

Span lifetime(const Buffer& buffer) { return {buffer.lifetime.lower, buffer.lifetime.upper}; }

// A sum beyond 63 bits is taken for the largest number there is.
int64_t sum(int64_t a, int64_t b) {
  int64_t total = 0;
  const bool overflows = __builtin_add_overflow(a, b, &total);
  return overflows ? std::numeric_limits<int64_t>::max() : total;
}

// What a buffer that stands at `offset` uses at one instant of its life.
Span used_at(const Buffer& buffer, int64_t offset, int64_t instant) {
  for (const auto& gap : buffer.gaps) {
    if (contains(gap, instant)) return {};
  }
  Span used{offset, sum(offset, buffer.size.count())};
  for (const PartialGap& gap : buffer.partial_gaps) {
    if (!contains(gap.when, instant)) continue;
    used = common(used, {sum(offset, gap.used.lower.count()), sum(offset, gap.used.upper.count())});
  }
  return used;
}

// What a buffer uses changes at the borders of its gaps alone: these and the first instant are all
// that need looking at.
std::vector<int64_t> borders_within(const Buffer& buffer, const Span& instants) {
  std::vector<int64_t> borders;
  const auto add = [&](int64_t instant) {
    if (instants.lower < instant && instant < instants.upper) borders.push_back(instant);
  };
  for (const auto& gap : buffer.gaps) add(gap.upper);
  for (const PartialGap& gap : buffer.partial_gaps) {
    add(gap.when.lower);
    add(gap.when.upper);
  }
  return borders;
}

class Judge {
 public:
  Judge(const Problem& problem, const Plan& plan)
      : problem_(problem), buffers_(problem.buffers), plan_(plan) {}

  std::vector<Violation> judge() {
    if (!has_an_offset_and_a_pool_for_each()) return std::move(violations_);
    size_t gaps = 0;
    for (const Buffer& b : buffers_) gaps += b.gaps.size() + b.partial_gaps.size();
    const bool pair_by_pair = buffers_.size() <= kMostBuffersByPairs && gaps <= kMostGapsByPairs;
    for (size_t j = 0; j < buffers_.size(); ++j) {
      judge_offset(j);
      if (!problem_.pools.empty()) judge_pool(j);
      for (size_t i = 0; pair_by_pair && i < j; ++i) judge_pair(i, j);
    }
    if (!pair_by_pair) {
      for (Violation& overlap : overlaps_by_sweep(problem_, plan_)) report(std::move(overlap));
    }
    judge_groups();
    for (const ApartPair& pair : problem_.apart) judge_apart(pair);
    judge_totals();
    return std::move(violations_);
  }

 private:
  bool has_an_offset_and_a_pool_for_each() {
    if (plan_.offsets.size() != buffers_.size()) {
      report({.rule = Rule::kOffsetCount,
              .message =
                  fmt::format("{} offsets for {} buffers", plan_.offsets.size(), buffers_.size())});
      return false;
    }
    if (problem_.pools.empty() && plan_.pools.empty() && plan_.pool_of.empty()) return true;
    if (plan_.pool_of.size() != buffers_.size() || plan_.pools.size() != problem_.pools.size()) {
      report(
          {.rule = Rule::kPool,
           .message = fmt::format("{} pools for {} buffers, {} of {} pools", plan_.pool_of.size(),
                                  buffers_.size(), plan_.pools.size(), problem_.pools.size())});
      return false;
    }
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const int64_t pool = plan_.pool_of[i].value();
      if (0 <= pool && pool < std::ssize(problem_.pools)) continue;
      report({.rule = Rule::kPool,
              .first = BufferId::of(i),
              .message = fmt::format("{} is in pool {}, which is none", describe(i), pool)});
      return false;
    }
    return true;
  }

  void judge_offset(size_t i) {
    const int64_t offset = offset_of(i);
    const int64_t alignment = buffers_[i].alignment.count();
    if (offset < 0) {
      report({.rule = Rule::kNegativeOffset,
              .first = BufferId::of(i),
              .message = fmt::format("{} is at {}", describe(i), offset)});
    }
    if (offset % alignment != 0) {
      report({.rule = Rule::kAlignment,
              .first = BufferId::of(i),
              .message =
                  fmt::format("{} is at {}, no multiple of {}", describe(i), offset, alignment)});
    }
    if (buffers_[i].offset && buffers_[i].offset->count() != offset && ever_needs_memory(i)) {
      report({.rule = Rule::kFixed,
              .first = BufferId::of(i),
              .message = fmt::format("{} is at {}, not at {} as fixed", describe(i), offset,
                                     buffers_[i].offset->count())});
    }
  }

  void judge_pool(size_t i) {
    const Pool& pool = problem_.pools[pool_index(i)];
    const PoolId id = plan_.pool_of[i];
    const bool barred = std::ranges::count(buffers_[i].not_in, id) > 0;
    if (barred || (buffers_[i].pool && *buffers_[i].pool != id)) {
      report({.rule = Rule::kPool,
              .first = BufferId::of(i),
              .message = fmt::format("{} is in pool '{}', {}", describe(i), pool.name,
                                     barred ? "which it is excluded from" : "not where pinned")});
    }
    if (!pool.capacity || span_of(i).upper <= pool.capacity->count() || !ever_needs_memory(i)) {
      return;
    }
    report({.rule = Rule::kCapacity,
            .first = BufferId::of(i),
            .message = fmt::format("{} ends at {}, above pool '{}' of {}", describe(i),
                                   span_of(i).upper, pool.name, pool.capacity->count())});
  }

  void judge_groups() {
    std::vector<std::optional<size_t>> first_of(problem_.groups.size());
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (!buffers_[i].group) continue;
      std::optional<size_t>& first = first_of[buffers_[i].group->index()];
      if (!first) first = i;
      const int64_t asked =
          buffers_[i].group_offset.count() - buffers_[*first].group_offset.count();
      int64_t stands = 0;
      const bool apart =
          __builtin_sub_overflow(offset_of(i), offset_of(*first), &stands) || stands != asked;
      if (!apart && pool_index(i) == pool_index(*first)) continue;
      report({.rule = Rule::kGroup,
              .first = BufferId::of(*first),
              .second = BufferId::of(i),
              .message = fmt::format("{} does not stand {} above {}", describe(i), asked,
                                     describe(*first))});
    }
  }

  void judge_pair(size_t i, size_t j) {
    if (buffers_[i].group && buffers_[i].group == buffers_[j].group) return;
    const Span instants = common(lifetime(buffers_[i]), lifetime(buffers_[j]));
    if (!has_points(instants) || pool_index(i) != pool_index(j)) return;
    if (!has_points(common(span_of(i), span_of(j)))) return;
    const std::optional<Span> shared = first_shared(i, j, instants);
    if (!shared) return;
    report({.rule = Rule::kOverlap,
            .first = BufferId::of(i),
            .second = BufferId::of(j),
            .message = fmt::format("{} and {} share addresses [{}, {}) at instants [{}, {})",
                                   describe(i), describe(j), shared->lower, shared->upper,
                                   instants.lower, instants.upper)});
  }

  // What both use at the first looked-at instant at which they use the same.
  std::optional<Span> first_shared(size_t i, size_t j, const Span& instants) const {
    const auto shared_at = [&](int64_t instant) {
      return common(used_at(buffers_[i], offset_of(i), instant),
                    used_at(buffers_[j], offset_of(j), instant));
    };
    if (const Span shared = shared_at(instants.lower); has_points(shared)) return shared;
    for (const size_t k : {i, j}) {
      for (const int64_t instant : borders_within(buffers_[k], instants)) {
        if (const Span shared = shared_at(instant); has_points(shared)) return shared;
      }
    }
    return std::nullopt;
  }

  // Does the buffer use memory at some instant of its own life?
  bool ever_needs_memory(size_t i) const {
    const Span life = lifetime(buffers_[i]);
    return has_points(span_of(i)) && has_points(life) && first_shared(i, i, life).has_value();
  }

  // The banks of a buffer are those of its first byte to that of its last.
  void judge_apart(const ApartPair& pair) {
    const size_t i = pair.first.index();
    const size_t j = pair.second.index();
    if (pool_index(i) != pool_index(j) || !ever_needs_memory(i) || !ever_needs_memory(j)) return;
    const int64_t bank = problem_.bank.count();
    const auto banks = [&](size_t k) {
      return Span{span_of(k).lower / bank, (span_of(k).upper - 1) / bank + 1};
    };
    const Span shared = common(banks(i), banks(j));
    if (!has_points(shared)) return;
    report({.rule = Rule::kApart,
            .first = pair.first,
            .second = pair.second,
            .message = fmt::format("{} and {} share banks [{}, {}) of {}, to be kept apart",
                                   describe(i), describe(j), shared.lower, shared.upper, bank)});
  }

  void judge_totals() {
    std::vector<int64_t> ends(std::max<size_t>(problem_.pools.size(), 1), 0);
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (!ever_needs_memory(i)) continue;
      ends[pool_index(i)] = std::max(ends[pool_index(i)], span_of(i).upper);
    }
    int64_t total = 0;
    for (size_t k = 0; k < ends.size(); ++k) {
      total = sum(total, ends[k]);
      if (problem_.pools.empty()) continue;
      const std::string where = fmt::format("pool '{}': ", problem_.pools[k].name);
      judge_peak(where, plan_.pools[k].peak, plan_.pools[k].lower_bound, ends[k]);
    }
    judge_peak("", plan_.peak, plan_.lower_bound, total);
  }

  void judge_peak(const std::string& where, Bytes peak, Bytes bound, int64_t highest_end) {
    if (peak.count() != highest_end) {
      report(
          {.rule = Rule::kPeak,
           .message = fmt::format("{}peak {}, highest end {}", where, peak.count(), highest_end)});
    }
    if (bound > peak) {
      report({.rule = Rule::kBound,
              .message = fmt::format("{}lower bound {} above peak {}", where, bound.count(),
                                     peak.count())});
    }
  }

  int64_t offset_of(size_t i) const { return plan_.offsets[i].count(); }
  Span span_of(size_t i) const {
    return {offset_of(i), sum(offset_of(i), buffers_[i].size.count())};
  }
  size_t pool_index(size_t i) const { return plan_.pool_of.empty() ? 0 : plan_.pool_of[i].index(); }

  std::string describe(size_t i) const {
    return fmt::format("buffer {} '{}'", i, buffers_[i].name);
  }

  void report(Violation violation) {
    if (violations_.size() == kMaxViolations) return;
    violations_.push_back(std::move(violation));
  }

  const Problem& problem_;
  const std::vector<Buffer>& buffers_;
  const Plan& plan_;
  std::vector<Violation> violations_{};
};

}  // namespace

std::vector<Violation> validate(const Problem& problem, const Plan& plan) {
  return Judge(problem, plan).judge();
}

}  // namespace tidemark

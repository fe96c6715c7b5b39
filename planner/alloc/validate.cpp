#include "planner/alloc/validate.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
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

Span lifetime(const Buffer& buffer) { return {buffer.lifetime.lower, buffer.lifetime.upper}; }

// An end beyond 63 bits is taken for the largest number there is.
Span addresses(const Buffer& buffer, Bytes offset) {
  Span span{offset.count(), 0};
  if (__builtin_add_overflow(offset.count(), buffer.size.count(), &span.upper)) {
    span.upper = std::numeric_limits<int64_t>::max();
  }
  return span;
}

class Judge {
 public:
  Judge(const Problem& problem, const Plan& plan)
      : problem_(problem), buffers_(problem.buffers), plan_(plan) {}

  std::vector<Violation> judge() {
    if (plan_.offsets.size() != buffers_.size()) {
      report({.rule = Rule::kOffsetCount,
              .message =
                  fmt::format("{} offsets for {} buffers", plan_.offsets.size(), buffers_.size())});
      return std::move(violations_);
    }
    const bool pair_by_pair = buffers_.size() <= kMostBuffersByPairs;
    for (size_t j = 0; j < buffers_.size(); ++j) {
      judge_offset(j);
      for (size_t i = 0; pair_by_pair && i < j; ++i) judge_pair(i, j);
    }
    if (!pair_by_pair) {
      for (Violation& overlap : overlaps_by_sweep(problem_, plan_)) report(std::move(overlap));
    }
    judge_totals();
    return std::move(violations_);
  }

 private:
  void judge_offset(size_t i) {
    const int64_t offset = plan_.offsets[i].count();
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

  void judge_pair(size_t i, size_t j) {
    const Span instants = common(lifetime(buffers_[i]), lifetime(buffers_[j]));
    if (!has_points(instants)) return;
    const Span shared = common(span_of(i), span_of(j));
    if (!has_points(shared) || !share_an_instant(i, j, instants)) return;
    report({.rule = Rule::kOverlap,
            .first = BufferId::of(i),
            .second = BufferId::of(j),
            .message = fmt::format("{} and {} share addresses [{}, {}) at instants [{}, {})",
                                   describe(i), describe(j), shared.lower, shared.upper,
                                   instants.lower, instants.upper)});
  }

  // Within `instants`, common to both lifetimes, the first that no gap covers is where `instants`
  // begin or where some gap ends.
  bool share_an_instant(size_t i, size_t j, const Span& instants) const {
    const auto in_no_gap = [&](int64_t instant) {
      return instants.lower <= instant && instant < instants.upper &&
             !in_a_gap(buffers_[i], instant) && !in_a_gap(buffers_[j], instant);
    };
    const auto after_a_gap = [&](const Buffer& buffer) {
      return std::ranges::any_of(buffer.gaps,
                                 [&](const auto& gap) { return in_no_gap(gap.upper); });
    };
    return in_no_gap(instants.lower) || after_a_gap(buffers_[i]) || after_a_gap(buffers_[j]);
  }

  static bool in_a_gap(const Buffer& buffer, int64_t instant) {
    return std::ranges::any_of(
        buffer.gaps, [&](const auto& gap) { return gap.lower <= instant && instant < gap.upper; });
  }

  // Does the buffer need memory at some instant of its own life?
  bool ever_needs_memory(size_t i) const {
    const Span life = lifetime(buffers_[i]);
    return has_points(span_of(i)) && has_points(life) && share_an_instant(i, i, life);
  }

  void judge_totals() {
    int64_t highest_end = 0;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (!ever_needs_memory(i)) continue;
      highest_end = std::max(highest_end, span_of(i).upper);
    }
    const int64_t peak = plan_.peak.count();
    const int64_t bound = plan_.lower_bound.count();
    if (peak != highest_end) {
      report({.rule = Rule::kPeak,
              .message = fmt::format("peak {}, highest end {}", peak, highest_end)});
    }
    if (bound > peak) {
      report({.rule = Rule::kBound,
              .message = fmt::format("lower bound {} above peak {}", bound, peak)});
    }
  }

  Span span_of(size_t i) const { return addresses(buffers_[i], plan_.offsets[i]); }

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
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> validate(const Problem& problem, const Plan& plan) {
  return Judge(problem, plan).judge();
}

}  // namespace tidemark

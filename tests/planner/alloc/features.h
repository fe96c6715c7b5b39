// Problems with groups, partial gaps, pools and pairs to keep apart: by hand, at random, and the
// slow, obvious way to know the lowest peak.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/alloc/validate.h"
#include "problems.h"

namespace tidemark {

inline Buffer member(Buffer buffer, int64_t group, int64_t offset) {
  buffer.group = GroupId(group);
  buffer.group_offset = Bytes::of(offset);
  return buffer;
}

inline Buffer with_partial_gap(Buffer buffer, int64_t lower, int64_t upper, int64_t low,
                               int64_t high) {
  buffer.partial_gaps.push_back({{lower, upper}, {Bytes::of(low), Bytes::of(high)}});
  return buffer;
}

// The picture at the head of body.h, and what it leaves free: [0,1) x [4,8).
inline Problem inputs_in_an_output() {
  return {.buffers = {member(buffer("out", 3, 9, 8), 0, 0), member(buffer("in1", 0, 4, 4), 0, 0),
                      member(buffer("in2", 1, 4, 4), 0, 4)},
          .groups = {{.name = "joined"}}};
}

// The judge's word on bases for groups and buffers alone, with all totals right: what is wrong then
// is where they stand.
inline bool stands(const Problem& problem, const std::vector<Bytes>& offsets) {
  Plan plan{.offsets = offsets};
  for (size_t i = 0; i < offsets.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    if (is_ever_live(b)) plan.peak = std::max(plan.peak, offsets[i] + b.size);
  }
  return validate(problem, plan).empty();
}

// The lowest peak of any plan of one pool: every place of every group and buffer alone up to
// `highest`, held against the judge. For a handful of bodies and bytes.
class EveryPlacement {
 public:
  EveryPlacement(const Problem& problem, int64_t highest)
      : problem_(problem), highest_(highest), offsets_(problem.buffers.size()) {
    std::vector<std::vector<size_t>> groups(problem.groups.size());
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const auto& group = problem.buffers[i].group;
      group ? groups[group->index()].push_back(i) : movers_.push_back({i});
    }
    for (auto& group : groups) {
      if (!group.empty()) movers_.push_back(std::move(group));
    }
  }

  std::optional<int64_t> lowest_peak() {
    place(0);
    return best_;
  }

 private:
  void place(size_t mover) {
    if (mover == movers_.size()) return weigh();
    for (int64_t base = -highest_; base <= highest_; ++base) {
      bool within = true;
      for (const size_t i : movers_[mover]) {
        const Buffer& b = problem_.buffers[i];
        const int64_t offset = base + b.group_offset.count();
        offsets_[i] = Bytes::of(offset);
        within = within && offset >= 0 && offset % b.alignment.count() == 0 &&
                 (!is_ever_live(b) || offset + b.size.count() <= best_.value_or(highest_ + 1) - 1);
      }
      if (within) place(mover + 1);
    }
  }

  void weigh() {
    if (!stands(problem_, offsets_)) return;
    int64_t peak = 0;
    for (size_t i = 0; i < offsets_.size(); ++i) {
      const Buffer& b = problem_.buffers[i];
      if (is_ever_live(b)) peak = std::max(peak, (offsets_[i] + b.size).count());
    }
    best_ = peak;
  }

  const Problem& problem_;
  int64_t highest_;
  std::vector<Bytes> offsets_;
  std::vector<std::vector<size_t>> movers_{};
  std::optional<int64_t> best_{};
};

inline std::string first_violation(const Problem& problem, const Plan& plan) {
  const std::vector<Violation> violations = validate(problem, plan);
  return violations.empty() ? "" : violations.front().message;
}

// Groups, partial gaps and pairs over `buffers` random buffers; alignments only where groups allow
// it. `most` bytes a buffer.
inline Problem random_bodies(size_t buffers, int64_t most) {
  Problem problem;
  const auto groups = *rc::gen::inRange<int64_t>(0, 3);
  for (int64_t g = 0; g < groups; ++g) problem.groups.push_back({.name = "g" + std::to_string(g)});
  for (size_t i = 0; i < buffers; ++i) {
    const auto lower = *rc::gen::inRange<int64_t>(0, 6);
    const auto length = *rc::gen::inRange<int64_t>(0, 6);
    Buffer b =
        buffer("b" + std::to_string(i), lower, lower + length,
               *rc::gen::inRange<int64_t>(0, most + 1), *rc::gen::element<int64_t>(1, 1, 1, 2));
    if (groups > 0 && *rc::gen::inRange(0, 2) == 0) {
      const int64_t step = b.alignment.count();
      b = member(std::move(b), *rc::gen::inRange<int64_t>(0, groups),
                 *rc::gen::inRange<int64_t>(0, 4) * step);
    }
    if (*rc::gen::inRange(0, 3) == 0 && b.size.count() > 1) {
      const auto low = *rc::gen::inRange<int64_t>(0, b.size.count());
      const auto high = *rc::gen::inRange<int64_t>(low + 1, b.size.count() + 1);
      const auto from = *rc::gen::inRange<int64_t>(0, 8);
      b = with_partial_gap(std::move(b), from, from + *rc::gen::inRange<int64_t>(1, 5), low, high);
    }
    if (*rc::gen::inRange(0, 4) == 0) {
      const auto from = *rc::gen::inRange<int64_t>(0, 8);
      b.gaps.push_back({from, from + *rc::gen::inRange<int64_t>(0, 3)});
    }
    problem.buffers.push_back(std::move(b));
  }
  return problem;
}

inline void add_pairs(Problem& problem, int most) {
  problem.bank = Alignment::of(*rc::gen::element<int64_t>(1, 2, 4));
  const auto pairs = problem.buffers.size() < 2 ? 0 : *rc::gen::inRange(0, most + 1);
  for (int k = 0; k < pairs; ++k) {
    const auto first = *rc::gen::inRange<size_t>(0, problem.buffers.size());
    const auto second = *rc::gen::inRange<size_t>(0, problem.buffers.size());
    const auto& a = problem.buffers[first];
    const auto& b = problem.buffers[second];
    if (first == second || (a.group && a.group == b.group)) continue;
    problem.apart.push_back({BufferId::of(first), BufferId::of(second)});
  }
}

}  // namespace tidemark

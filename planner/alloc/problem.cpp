#include "planner/alloc/problem.h"

#include <algorithm>
#include <compare>

#include "planner/alloc/body.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

// The load changes by `change` at `instant`.
struct LoadChange {
  int64_t instant = 0;
  Bytes change{};
  auto operator<=>(const LoadChange&) const = default;
};

}  // namespace

std::vector<Interval<int64_t>> occupied_intervals(const Buffer& buffer) {
  if (buffer.lifetime.empty()) return {};
  if (buffer.gaps.empty()) return {buffer.lifetime};
  std::vector<Interval<int64_t>> gaps = buffer.gaps;
  std::erase_if(gaps, [](const auto& gap) { return gap.empty(); });
  std::ranges::sort(gaps);
  std::vector<Interval<int64_t>> pieces;
  int64_t from = buffer.lifetime.lower;
  for (const auto& gap : gaps) {
    const Interval<int64_t> piece{from, std::min(gap.lower, buffer.lifetime.upper)};
    if (!piece.empty()) pieces.push_back(piece);
    from = std::max(from, gap.upper);
  }
  if (from < buffer.lifetime.upper) pieces.push_back({from, buffer.lifetime.upper});
  return pieces;
}

bool is_ever_live(const Buffer& buffer) {
  if (!(Bytes{} < buffer.size) || buffer.lifetime.empty()) return false;
  if (!buffer.partial_gaps.empty()) return !pieces_of(buffer).empty();
  return buffer.gaps.empty() || !occupied_intervals(buffer).empty();
}

bool conflict(const Buffer& a, const Buffer& b) {
  if (!(Bytes{} < a.size && Bytes{} < b.size) || !overlaps(a.lifetime, b.lifetime)) return false;
  if (a.gaps.empty() && b.gaps.empty()) return true;
  const auto mine = occupied_intervals(a);
  const auto others = occupied_intervals(b);
  return std::ranges::any_of(mine, [&](const auto& piece) {
    return std::ranges::any_of(others, [&](const auto& other) { return overlaps(piece, other); });
  });
}

bool is_plain(const Problem& problem) {
  const auto plain = [](const Buffer& b) {
    return !b.group && !b.pool && b.not_in.empty() && b.partial_gaps.empty();
  };
  return problem.pools.empty() && problem.apart.empty() &&
         std::ranges::all_of(problem.buffers, plain);
}

std::string_view name_of(PlanStatus status) {
  switch (status) {
    case PlanStatus::kProvedOptimal:
      return "proved_optimal";
    case PlanStatus::kFeasible:
      return "feasible";
    case PlanStatus::kInfeasible:
      return "infeasible";
    case PlanStatus::kLimitReached:
      return "limit_reached";
  }
  check(false, "every plan status has a name");
  return {};
}

Bytes peak_load(const Problem& problem) {
  if (!is_plain(problem)) return load_of(bodies_of(problem));
  std::vector<LoadChange> changes;
  for (const Buffer& buffer : problem.buffers) {
    if (!is_ever_live(buffer)) continue;
    for (const Interval<int64_t>& piece : occupied_intervals(buffer)) {
      changes.push_back({piece.lower, buffer.size});
      changes.push_back({piece.upper, Bytes{} - buffer.size});
    }
  }
  // Lifetimes are half-open: what ends at an instant is gone before what starts there.
  std::ranges::sort(changes);
  Bytes load;
  Bytes peak;
  for (const LoadChange& change : changes) {
    load += change.change;
    peak = std::max(peak, load);
  }
  return peak;
}

Bytes peak_of(const Problem& problem, const std::vector<Bytes>& offsets) {
  Bytes peak;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (is_ever_live(buffer)) peak = std::max(peak, offsets[i] + buffer.size);
  }
  return peak;
}

Bytes no_reuse_bytes(const Problem& problem) {
  Bytes sum;
  if (!is_plain(problem)) {
    for (const Body& body : bodies_of(problem)) {
      if (body.ever_live()) sum += align_up(body.height(), body.alignment);
    }
    return sum;
  }
  for (const Buffer& buffer : problem.buffers) {
    if (is_ever_live(buffer)) sum += align_up(buffer.size, buffer.alignment);
  }
  return sum;
}

}  // namespace tidemark

#include "planner/alloc/lower_bound.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>

#include "planner/alloc/body.h"
#include "planner/alloc/lower_bound_windows.h"
#include "planner/alloc/portfolio.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

bool is_live_at(const Buffer& buffer, int64_t instant) {
  if (!is_ever_live(buffer) || !buffer.lifetime.contains(instant)) return false;
  return std::ranges::any_of(occupied_intervals(buffer),
                             [&](const auto& piece) { return piece.contains(instant); });
}

// A buffer's size, padded to an alignment, while it needs memory.
struct Padded {
  Interval<int64_t> when{};
  Bytes size{};
  Bytes padding{};
};

std::vector<Padded> padded_by_start(const Problem& problem, Alignment alignment) {
  std::vector<Padded> all;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.alignment < alignment || !is_ever_live(buffer)) continue;
    const Bytes size = align_up(buffer.size, alignment);
    for (const Interval<int64_t>& piece : occupied_intervals(buffer)) {
      all.push_back({piece, size, size - buffer.size});
    }
  }
  std::ranges::stable_sort(all, {}, [](const Padded& p) { return p.when.lower; });
  return all;
}

// The highest stack of buffers of at least `alignment` that are live at one instant: each fills its
// padding but the topmost, which may be the one with the most.
LowerBound highest_stack(const Problem& problem, Alignment alignment) {
  using Entry = std::pair<int64_t, Bytes>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ends;  // first end, padded size
  std::priority_queue<std::pair<Bytes, int64_t>> paddings;              // most padding, end
  const std::vector<Padded> all = padded_by_start(problem, alignment);
  LowerBound best{.kind = alignment.count() == 1 ? BoundKind::kLoad : BoundKind::kPadding};
  Bytes sum;
  for (size_t i = 0; i < all.size();) {
    const int64_t now = all[i].when.lower;
    for (; !ends.empty() && ends.top().first <= now; ends.pop()) sum -= ends.top().second;
    for (; i < all.size() && all[i].when.lower == now; ++i) {
      sum += all[i].size;
      ends.emplace(all[i].when.upper, all[i].size);
      paddings.emplace(all[i].padding, all[i].when.upper);
    }
    while (paddings.top().second <= now) paddings.pop();
    const Bytes height = sum - paddings.top().first;
    if (height <= best.bytes) continue;
    best.bytes = height;
    best.instant = now;
  }
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const bool counts = alignment <= buffer.alignment && is_live_at(buffer, best.instant);
    if (counts) best.buffers.push_back(BufferId::of(i));
  }
  return best;
}

void keep_higher(LowerBound& best, LowerBound other) {
  if (best.bytes < other.bytes) best = std::move(other);
}

LowerBound without_search(const Problem& problem) {
  std::set<Alignment> alignments;
  for (const Buffer& buffer : problem.buffers) alignments.insert(buffer.alignment);
  LowerBound best = highest_stack(problem, Alignment{});
  for (const Alignment alignment : alignments) {
    if (alignment.count() > 1) keep_higher(best, highest_stack(problem, alignment));
  }
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (!buffer.offset || !is_ever_live(buffer)) continue;
    keep_higher(best, {.kind = BoundKind::kFixed,
                       .bytes = *buffer.offset + buffer.size,
                       .buffers = {BufferId::of(i)}});
  }
  return best;
}

LowerBound of_plain(const Problem& problem, const LowerBoundOptions& options) {
  LowerBound best = without_search(problem);
  if (options.node_limit > 0 && !fixed_offsets_clash(problem)) {
    raise_by_windows(problem, options, best);
  }
  return best;
}

// All members of the bodies at these places of `bodies`.
std::vector<BufferId> members_of(const std::vector<Body>& bodies,
                                 const std::vector<BufferId>& places) {
  std::vector<BufferId> members;
  for (const BufferId place : places) {
    const Body& body = bodies[place.index()];
    members.insert(members.end(), body.members.begin(), body.members.end());
  }
  std::ranges::sort(members);
  return members;
}

LowerBound load_of_bodies(const std::vector<Body>& bodies) {
  std::vector<UseChange> changes;
  for (const Body& body : bodies) {
    const std::vector<UseChange> more = use_changes(body);
    changes.insert(changes.end(), more.begin(), more.end());
  }
  std::ranges::sort(changes);
  LowerBound best;
  Bytes load;
  for (const UseChange& change : changes) {
    load += change.change;
    if (load <= best.bytes) continue;
    best.bytes = load;
    best.instant = change.instant;
  }
  std::vector<BufferId> live;
  for (size_t i = 0; i < bodies.size(); ++i) {
    const auto uses = [&](const Piece& piece) { return piece.when.contains(best.instant); };
    if (std::ranges::any_of(bodies[i].pieces, uses)) live.push_back(BufferId::of(i));
  }
  best.buffers = members_of(bodies, live);
  return best;
}

}  // namespace

std::string_view name_of(BoundKind kind) {
  switch (kind) {
    case BoundKind::kLoad:
      return "load";
    case BoundKind::kPadding:
      return "padding";
    case BoundKind::kFixed:
      return "fixed";
    case BoundKind::kSearch:
      return "search";
  }
  check(false, "every kind of bound has a name");
  return {};
}

LowerBound lower_bound(const Problem& problem, const LowerBoundOptions& options) {
  if (is_plain(problem)) return of_plain(problem, options);
  const std::vector<Body> bodies = bodies_of(problem);
  if (!problem.apart.empty() || !std::ranges::all_of(bodies, &Body::possible)) {
    return load_of_bodies(bodies);
  }
  const Reduction reduction = reduce(problem);
  if (!reduction.exact) return load_of_bodies(bodies);
  LowerBound bound = of_plain(reduction.problem, options);
  bound.buffers = members_of(reduction.bodies, bound.buffers);
  return bound;
}

}  // namespace tidemark

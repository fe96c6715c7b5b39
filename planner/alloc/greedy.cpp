#include "planner/alloc/greedy.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace tidemark {
namespace {

struct Placed {
  BufferId id{};
  Interval<int64_t> lifetime{};
  Bytes offset{};
  Bytes end{};
};

std::vector<BufferId> ever_live(const Problem& problem) {
  std::vector<BufferId> ids;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (is_ever_live(problem.buffers[i])) ids.push_back(BufferId::of(i));
  }
  return ids;
}

// `key` of a buffer: what comes first has the smaller key. Equal keys stay in order of id.
template <typename Key>
std::vector<BufferId> in_order_of(const Problem& problem, Key key) {
  std::vector<BufferId> ids = ever_live(problem);
  std::stable_sort(ids.begin(), ids.end(), [&](BufferId a, BufferId b) {
    return key(problem.buffers[a.index()]) < key(problem.buffers[b.index()]);
  });
  return ids;
}

// How many buffers share an instant with each, gaps not counted: all that start before its end less
// all that end before its start, less itself.
std::vector<int64_t> conflict_counts(const Problem& problem) {
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  for (const BufferId id : ever_live(problem)) {
    starts.push_back(problem.buffers[id.index()].lifetime.lower);
    ends.push_back(problem.buffers[id.index()].lifetime.upper);
  }
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  std::vector<int64_t> counts(problem.buffers.size(), 0);
  for (const BufferId id : ever_live(problem)) {
    const Interval<int64_t>& life = problem.buffers[id.index()].lifetime;
    const auto started = std::ranges::lower_bound(starts, life.upper) - starts.begin();
    const auto ended = std::ranges::upper_bound(ends, life.lower) - ends.begin();
    counts[id.index()] = started - ended - 1;
  }
  return counts;
}

int64_t width(const Buffer& b) { return b.lifetime.upper - b.lifetime.lower; }

// Only ranks: rounding does no harm.
double area(const Buffer& b) {
  return static_cast<double>(b.size.count()) * static_cast<double>(width(b));
}

std::vector<BufferId> sorted(const Problem& problem, PlacementOrder order) {
  switch (order) {
    case PlacementOrder::kSize:
      return in_order_of(
          problem, [](const Buffer& b) { return std::tuple(-b.size.count(), b.lifetime.lower); });
    case PlacementOrder::kStart:
      return in_order_of(
          problem, [](const Buffer& b) { return std::tuple(b.lifetime.lower, -b.size.count()); });
    case PlacementOrder::kWidth:
      return in_order_of(problem,
                         [](const Buffer& b) { return std::tuple(-width(b), -b.size.count()); });
    case PlacementOrder::kArea:
      return in_order_of(problem, [](const Buffer& b) { return -area(b); });
    case PlacementOrder::kConflicts: {
      const std::vector<int64_t> counts = conflict_counts(problem);
      return in_order_of(problem, [&](const Buffer& b) {
        return std::tuple(-counts[static_cast<size_t>(&b - problem.buffers.data())],
                          -b.size.count());
      });
    }
  }
  return {};
}

// `placed` is in order of offset.
Bytes choose_offset(const Problem& problem, const std::vector<Placed>& placed, const Buffer& buffer,
                    GapRule rule) {
  Bytes top;  // highest end of the neighbours passed
  std::optional<Bytes> best;
  Bytes best_room;
  for (const Placed& neighbour : placed) {
    if (!overlaps(neighbour.lifetime, buffer.lifetime)) continue;
    const Buffer& other = problem.buffers[neighbour.id.index()];
    if ((!buffer.gaps.empty() || !other.gaps.empty()) && !conflict(buffer, other)) continue;
    const Bytes start = align_up(top, buffer.alignment);
    const Bytes room = neighbour.offset - start;
    if (buffer.size <= room) {
      if (rule == GapRule::kLowest) return start;
      if (!best || room < best_room) {
        best = start;
        best_room = room;
      }
    }
    top = std::max(top, neighbour.end);
  }
  return best.value_or(align_up(top, buffer.alignment));
}

}  // namespace

std::vector<Bytes> place_greedily(const Problem& problem, PlacementOrder placement, GapRule rule) {
  std::vector<BufferId> order = sorted(problem, placement);
  std::stable_partition(order.begin(), order.end(), [&](BufferId id) {
    return problem.buffers[id.index()].offset.has_value();
  });
  std::vector<Bytes> offsets(problem.buffers.size());
  std::vector<Placed> placed;
  placed.reserve(order.size());
  for (const BufferId id : order) {
    const Buffer& buffer = problem.buffers[id.index()];
    const Bytes offset =
        buffer.offset ? *buffer.offset : choose_offset(problem, placed, buffer, rule);
    offsets[id.index()] = offset;
    const auto above = std::ranges::upper_bound(placed, offset, {}, &Placed::offset);
    placed.insert(above, {id, buffer.lifetime, offset, offset + buffer.size});
  }
  return offsets;
}

std::vector<Bytes> place_apart(const Problem& problem) {
  std::vector<Bytes> offsets(problem.buffers.size());
  Bytes top;
  for (const BufferId id : ever_live(problem)) {
    const Buffer& buffer = problem.buffers[id.index()];
    if (!buffer.offset) continue;
    offsets[id.index()] = *buffer.offset;
    top = std::max(top, *buffer.offset + buffer.size);
  }
  const auto widest_alignment_first = [](const Buffer& b) { return -b.alignment.count(); };
  for (const BufferId id : in_order_of(problem, widest_alignment_first)) {
    const Buffer& buffer = problem.buffers[id.index()];
    if (buffer.offset) continue;
    top = align_up(top, buffer.alignment);
    offsets[id.index()] = top;
    top += align_up(buffer.size, buffer.alignment);
  }
  return offsets;
}

std::vector<Bytes> place_first_fit_by_size(const Problem& problem) {
  return place_greedily(problem, PlacementOrder::kSize, GapRule::kLowest);
}

std::vector<Bytes> place_best_fit_by_start(const Problem& problem) {
  return place_greedily(problem, PlacementOrder::kStart, GapRule::kSmallest);
}

}  // namespace tidemark

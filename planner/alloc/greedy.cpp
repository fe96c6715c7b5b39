#include "planner/alloc/greedy.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace tidemark {
namespace {

enum class GapRule { kLowest, kSmallest };

struct Placed {
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

// `placed` is in order of offset.
Bytes choose_offset(const std::vector<Placed>& placed, const Buffer& buffer, GapRule rule) {
  Bytes top;  // highest end of the neighbours passed
  std::optional<Bytes> best;
  Bytes best_room;
  for (const Placed& neighbour : placed) {
    if (!overlaps(neighbour.lifetime, buffer.lifetime)) continue;
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

std::vector<Bytes> place_in_order(const Problem& problem, const std::vector<BufferId>& order,
                                  GapRule rule) {
  std::vector<Bytes> offsets(problem.buffers.size());
  std::vector<Placed> placed;
  placed.reserve(order.size());
  for (const BufferId id : order) {
    const Buffer& buffer = problem.buffers[id.index()];
    const Bytes offset = choose_offset(placed, buffer, rule);
    offsets[id.index()] = offset;
    const auto above = std::ranges::upper_bound(placed, offset, {}, &Placed::offset);
    placed.insert(above, {buffer.lifetime, offset, offset + buffer.size});
  }
  return offsets;
}

}  // namespace

std::vector<Bytes> place_apart(const Problem& problem) {
  std::vector<Bytes> offsets(problem.buffers.size());
  Bytes top;
  const auto widest_alignment_first = [](const Buffer& b) { return -b.alignment.count(); };
  for (const BufferId id : in_order_of(problem, widest_alignment_first)) {
    const Buffer& buffer = problem.buffers[id.index()];
    offsets[id.index()] = top;
    top += align_up(buffer.size, buffer.alignment);
  }
  return offsets;
}

std::vector<Bytes> place_first_fit_by_size(const Problem& problem) {
  const auto largest_first = [](const Buffer& b) {
    return std::tuple(-b.size.count(), b.lifetime.lower);
  };
  return place_in_order(problem, in_order_of(problem, largest_first), GapRule::kLowest);
}

std::vector<Bytes> place_best_fit_by_start(const Problem& problem) {
  const auto earliest_first = [](const Buffer& b) {
    return std::tuple(b.lifetime.lower, -b.size.count());
  };
  return place_in_order(problem, in_order_of(problem, earliest_first), GapRule::kSmallest);
}

}  // namespace tidemark

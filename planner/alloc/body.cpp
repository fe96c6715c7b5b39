#include "planner/alloc/body.h"

#include <algorithm>
#include <set>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// Something begins or ends to hold at an instant.
struct Turn {
  int64_t instant = 0;
  int change = 0;          // +1 begins, -1 ends
  bool whole = false;      // a gap in which nothing is used
  Interval<Bytes> used{};  // else a partial one
};

// What is left of a buffer under the gaps that are open now.
class OpenGaps {
 public:
  explicit OpenGaps(Bytes size) : lows_{Bytes{}}, highs_{size} {}

  void turn(const Turn& turn) {
    if (turn.whole) {
      whole_ += turn.change;
    } else if (turn.change > 0) {
      lows_.insert(turn.used.lower);
      highs_.insert(turn.used.upper);
    } else {
      lows_.erase(lows_.find(turn.used.lower));
      highs_.erase(highs_.find(turn.used.upper));
    }
  }

  Interval<Bytes> used() const {
    if (whole_ > 0) return {};
    return {*lows_.rbegin(), *highs_.begin()};
  }

 private:
  int whole_ = 0;
  std::multiset<Bytes> lows_;
  std::multiset<Bytes> highs_;
};

std::vector<Turn> turns_of(const Buffer& buffer) {
  std::vector<Turn> turns;
  const auto add = [&](Interval<int64_t> when, bool whole, Interval<Bytes> used) {
    when = {std::max(when.lower, buffer.lifetime.lower),
            std::min(when.upper, buffer.lifetime.upper)};
    if (when.empty()) return;
    turns.push_back({when.lower, 1, whole, used});
    turns.push_back({when.upper, -1, whole, used});
  };
  for (const Interval<int64_t>& gap : buffer.gaps) add(gap, true, {});
  for (const PartialGap& gap : buffer.partial_gaps) add(gap.when, false, gap.used);
  std::ranges::stable_sort(turns, {}, &Turn::instant);
  return turns;
}

// Sorted, and pieces of the same addresses that touch or overlap in time made one.
void merge(std::vector<Piece>& pieces) {
  const auto key = [](const Piece& piece) { return std::pair(piece.used, piece.when); };
  std::ranges::sort(pieces, {}, key);
  std::vector<Piece> merged;
  for (const Piece& piece : pieces) {
    const bool joins = !merged.empty() && merged.back().used == piece.used &&
                       piece.when.lower <= merged.back().when.upper;
    if (joins) {
      merged.back().when.upper = std::max(merged.back().when.upper, piece.when.upper);
    } else {
      merged.push_back(piece);
    }
  }
  pieces = std::move(merged);
}

int64_t modulo(Bytes bytes, Alignment alignment) {
  return bytes.count() & (alignment.count() - 1);  // also of a negative one: two's complement
}

void align(Body& body, Alignment alignment, Bytes group_offset) {
  const Bytes phase = Bytes::of(modulo(Bytes{} - group_offset, alignment));
  const Alignment weaker = std::min(alignment, body.alignment);
  if (modulo(phase, weaker) != modulo(body.phase, weaker)) body.possible = false;
  if (alignment <= body.alignment) return;
  body.alignment = alignment;
  body.phase = phase;
}

void add_member(Body& body, const Buffer& buffer, BufferId id) {
  const Bytes start = buffer.group_offset;
  body.hull.lower = body.members.empty() ? start : std::min(body.hull.lower, start);
  body.members.push_back(id);
  align(body, buffer.alignment, start);
  if (buffer.hint && !body.hint) body.hint = *buffer.hint - start;
  if (!is_ever_live(buffer)) return;
  body.hull.upper = std::max(body.ever_live() ? body.hull.upper : start, start + buffer.size);
  for (const Piece& piece : pieces_of(buffer)) {
    body.pieces.push_back({piece.when, {start + piece.used.lower, start + piece.used.upper}});
  }
  if (!buffer.offset) return;
  const Bytes base = *buffer.offset - start;
  if (body.base && *body.base != base) body.possible = false;
  body.base = base;
}

void finish(Body& body) {
  merge(body.pieces);
  if (!body.ever_live()) body.hull.upper = body.hull.lower;
  if (!body.base) return;
  const bool fits = modulo(*body.base, body.alignment) == body.phase.count();
  if (!fits || *body.base + body.hull.lower < Bytes{}) body.possible = false;
}

// Is the buffer, as it stands, the rectangle of its body?
bool is_rectangle(const Buffer& buffer, const Body& body) {
  return body.members.size() == 1 && buffer.partial_gaps.empty() && buffer.group_offset == Bytes{};
}

// When nothing of the body is in use, within its life.
std::vector<Interval<int64_t>> idle_times(const Body& body) {
  std::vector<Interval<int64_t>> times;
  for (const Piece& piece : body.pieces) times.push_back(piece.when);
  std::ranges::sort(times);
  std::vector<Interval<int64_t>> idle;
  int64_t until = times.front().upper;
  for (const Interval<int64_t>& time : times) {
    if (until < time.lower) idle.push_back({until, time.lower});
    until = std::max(until, time.upper);
  }
  return idle;
}

// How far the rectangle begins below the hull, to begin at a multiple of the alignment.
Bytes padding_of(const Body& body) {
  return Bytes::of(modulo(body.phase + body.hull.lower, body.alignment));
}

Buffer rectangle_of(const Problem& problem, const Body& body) {
  const Buffer& first = problem.buffers[body.members.front().index()];
  Buffer rectangle{.name = first.name, .alignment = body.alignment};
  if (first.group) rectangle.name = problem.groups[first.group->index()].name;
  if (!body.ever_live()) return rectangle;
  const Bytes padding = padding_of(body);
  rectangle.size = body.height() + padding;
  rectangle.lifetime = body.pieces.front().when;
  for (const Piece& piece : body.pieces) {
    rectangle.lifetime = hull(rectangle.lifetime, piece.when);
  }
  rectangle.gaps = idle_times(body);
  if (body.base) rectangle.offset = *body.base + body.hull.lower - padding;
  return rectangle;
}

// Wholly in use or not at all, at every instant?
bool is_full(const Body& body) {
  if (!body.ever_live()) return true;
  if (padding_of(body) != Bytes{}) return false;
  const auto covers = [&](const Piece& piece) { return piece.used == body.hull; };
  if (std::ranges::all_of(body.pieces, covers)) return true;
  Bytes use;
  return std::ranges::all_of(use_changes(body), [&](const UseChange& change) {
    use += change.change;
    return use == Bytes{} || use == body.height();
  });
}

}  // namespace

std::vector<Piece> pieces_of(const Buffer& buffer) {
  std::vector<Piece> pieces;
  if (!(Bytes{} < buffer.size) || buffer.lifetime.empty()) return pieces;
  OpenGaps open(buffer.size);
  int64_t from = buffer.lifetime.lower;
  const auto add = [&](int64_t until) {
    const Interval<Bytes> used = open.used();
    if (from >= until || used.empty()) return;
    if (!pieces.empty() && pieces.back().used == used && pieces.back().when.upper == from) {
      pieces.back().when.upper = until;
    } else {
      pieces.push_back({{from, until}, used});
    }
  };
  for (const Turn& turn : turns_of(buffer)) {
    add(turn.instant);
    open.turn(turn);
    from = turn.instant;
  }
  add(buffer.lifetime.upper);
  return pieces;
}

std::vector<Body> bodies_of(const Problem& problem) {
  constexpr size_t kNone = SIZE_MAX;
  std::vector<Body> bodies;
  std::vector<size_t> body_of(problem.groups.size(), kNone);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    size_t at = buffer.group ? body_of.at(buffer.group->index()) : kNone;
    if (at == kNone) {
      at = bodies.size();
      bodies.emplace_back();
      if (buffer.group) body_of[buffer.group->index()] = at;
    }
    add_member(bodies[at], buffer, BufferId::of(i));
  }
  for (Body& body : bodies) finish(body);
  return bodies;
}

Bytes next_base(const Body& body, Bytes base) {
  return base + Bytes::of(modulo(body.phase - base, body.alignment));
}

Reduction reduce(const Problem& problem) {
  Reduction reduction{.bodies = bodies_of(problem)};
  for (const Body& body : reduction.bodies) {
    check(body.possible, "only what is possible by itself is reduced");
    const Buffer& first = problem.buffers[body.members.front().index()];
    if (is_rectangle(first, body)) {
      Buffer& same = reduction.problem.buffers.emplace_back(first);
      same.group.reset();
      same.pool.reset();
      same.not_in.clear();
      same.cost.reset();
    } else {
      reduction.problem.buffers.push_back(rectangle_of(problem, body));
      reduction.exact = reduction.exact && is_full(body);
    }
  }
  return reduction;
}

std::vector<Bytes> offsets_at(const Problem& problem, const std::vector<Body>& bodies,
                              const std::vector<Bytes>& bases) {
  std::vector<Bytes> offsets(problem.buffers.size());
  for (size_t i = 0; i < bodies.size(); ++i) {
    for (const BufferId id : bodies[i].members) {
      offsets[id.index()] = bases[i] + problem.buffers[id.index()].group_offset;
    }
  }
  return offsets;
}

std::vector<Bytes> bases_of(const Reduction& reduction, const std::vector<Bytes>& offsets) {
  std::vector<Bytes> bases;
  bases.reserve(offsets.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    const Body& body = reduction.bodies[i];
    const bool lives = body.ever_live();
    bases.push_back(lives ? offsets[i] + padding_of(body) - body.hull.lower : lowest_base(body));
  }
  return bases;
}

}  // namespace tidemark

#include "planner/alloc/exact_build.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace tidemark::exact {

// kept_before_[k]: how many maximal cliques of what is left come before the instance's clique
// first_clique_ + k. One is maximal when something begins in it, or since the last, and something
// ends in it.
template <typename Unit>
void PartBuilder<Unit>::map_cliques(const Entrant<Unit>* entrants, int32_t count) {
  first_clique_ = std::numeric_limits<int32_t>::max();
  int32_t last = 0;
  for (int32_t i = 0; i < count; ++i) {
    first_clique_ = std::min(first_clique_, item_of(entrants[i]).span.first);
    last = std::max(last, item_of(entrants[i]).span.last);
  }
  const auto cliques = static_cast<size_t>(last - first_clique_ + 1);
  begins_.assign(cliques, 0);
  ends_.assign(cliques, 0);
  for (int32_t i = 0; i < count; ++i) {
    for (const Span& piece : item_of(entrants[i]).pieces) {
      begins_[static_cast<size_t>(piece.first - first_clique_)] = 1;
      ends_[static_cast<size_t>(piece.last - first_clique_)] = 1;
    }
  }
  kept_before_.assign(cliques + 1, 0);
  bool grew = false;
  for (size_t k = 0; k < cliques; ++k) {
    grew = grew || begins_[k] != 0;
    const bool kept = grew && ends_[k] != 0;
    kept_before_[k + 1] = kept_before_[k] + (kept ? 1 : 0);
    if (kept) grew = false;
  }
}

template <typename Unit>
void PartBuilder<Unit>::rank(const Entrant<Unit>* entrants, int32_t count, const Order* order) {
  ranked_.resize(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    ranked_[static_cast<size_t>(i)] = {
        .item = entrants[i].item, .entrant = i, .span = local(item_of(entrants[i]).span)};
  }
  if (order != nullptr) {
    sort_by(*order, instance_, kept_before_.back(), ranked_);
  } else {
    std::sort(ranked_.begin(), ranked_.end(), [&](const Ranked& a, const Ranked& b) {
      return entrants[a.entrant].rank < entrants[b.entrant].rank;
    });
  }
}

template <typename Unit>
void PartBuilder<Unit>::fill_item(Part<Unit>& part, int32_t rank,
                                  const Entrant<Unit>& entrant) const {
  const Item& item = item_of(entrant);
  part.item[rank] = entrant.item;
  part.size[rank] = static_cast<Unit>(item.size);
  part.alignment[rank] = static_cast<Unit>(item.alignment);
  part.latest[rank] = latest(entrant.item);
  part.span[rank] = local(item.span);
  part.shape[rank] = item.shape;
  part.fixed[rank] = item.fixed >= 0 ? 1 : 0;
  const bool plain = item.alignment == 1 && item.fixed < 0 && item.pieces.size() == 1 &&
                     latest(entrant.item) + part.size[rank] == capacity_;
  part.plain[rank] = plain ? 1 : 0;
  part.floor[rank] = entrant.floor;
  part.effective[rank] = entrant.effective;
  part.blocked[rank] = entrant.blocked;
  part.placed[rank] = 0;
  part.mark[rank] = mark_of(item.shape, entrant.floor, entrant.blocked);
  part.by_shape[rank] = rank;
  part.support[rank] = -1;
  part.blocker[rank] = -1;
}

template <typename Unit>
void PartBuilder<Unit>::fill(Part<Unit>& part, const Entrant<Unit>* entrants) const {
  int32_t pieces = 0;
  for (int32_t r = 0; r < part.count; ++r) {
    const Entrant<Unit>& entrant = entrants[ranked_[static_cast<size_t>(r)].entrant];
    fill_item(part, r, entrant);
    part.hash += part.mark[r];
    if (!part.gapped) continue;
    part.piece_begin[r] = pieces;
    for (const Span& piece : item_of(entrant).pieces) part.pieces[pieces++] = local(piece);
    part.piece_begin[r + 1] = pieces;
  }
  std::sort(part.by_shape, part.by_shape + part.count, [&](int32_t a, int32_t b) {
    return std::tie(part.shape[a], a) < std::tie(part.shape[b], b);
  });
  // The running sum of beginnings less ends counts who crosses from one clique to the next.
  std::fill(part.crossing, part.crossing + part.cliques, 0);
  for (int32_t r = 0; r < part.count; ++r) {
    ++part.crossing[part.span[r].first];
    --part.crossing[part.span[r].last];
  }
  std::partial_sum(part.crossing, part.crossing + part.cliques, part.crossing);
  std::fill(part.total, part.total + part.cliques, Unit{0});
  for (int32_t r = 0; r < part.count; ++r) {
    part.for_each_piece(r, [&](Span span) {
      for (int32_t k = span.first; k <= span.last; ++k) part.total[k] += part.size[r];
    });
  }
}

// Lists of neighbours, all pairs by a walk over the items by their first clique.
template <typename Unit>
void PartBuilder<Unit>::connect(Stack& stack, Part<Unit>& part) {
  by_first_.resize(static_cast<size_t>(part.count));
  std::iota(by_first_.begin(), by_first_.end(), 0);
  std::sort(by_first_.begin(), by_first_.end(), [&](int32_t a, int32_t b) {
    return std::tie(part.span[a].first, a) < std::tie(part.span[b].first, b);
  });
  const auto for_each_pair = [&](auto use) {
    for (size_t i = 0; i < by_first_.size(); ++i) {
      const int32_t a = by_first_[i];
      for (size_t j = i + 1; j < by_first_.size(); ++j) {
        const int32_t b = by_first_[j];
        if (part.span[b].first > part.span[a].last) break;
        if (!part.gapped || part.pieces_meet(a, b)) use(a, b);
      }
    }
  };
  int32_t* begin = part.neighbour_begin;
  std::fill(begin, begin + part.count + 1, 0);
  for_each_pair([&](int32_t a, int32_t b) {
    ++begin[a];
    ++begin[b];
  });
  std::partial_sum(begin, begin + part.count + 1, begin);
  part.neighbours = stack.take<int32_t>(static_cast<size_t>(begin[part.count]));
  for_each_pair([&](int32_t a, int32_t b) {
    part.neighbours[--begin[a]] = b;
    part.neighbours[--begin[b]] = a;
  });
}

template <typename Unit>
Part<Unit> PartBuilder<Unit>::build(Stack& stack, const Entrant<Unit>* entrants, int32_t count,
                                    const Order* order) {
  map_cliques(entrants, count);
  rank(entrants, count, order);
  int32_t pieces = 0;
  for (int32_t i = 0; i < count; ++i) {
    pieces += static_cast<int32_t>(item_of(entrants[i]).pieces.size());
  }
  Part<Unit> part = take_part<Unit>(stack, count, kept_before_.back(), pieces);
  fill(part, entrants);
  connect(stack, part);
  return part;
}

template class PartBuilder<int32_t>;
template class PartBuilder<int64_t>;

}  // namespace tidemark::exact

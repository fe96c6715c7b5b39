// Which item the exact search asks about next: "does it stand at its floor?"
//
//   A clique of capacity 10 whose unplaced items total 8 can waste 2: the lowest of them stands at
//   2 or below, so only those with floors up to 2 can be it, its candidates. A clique with few
//   candidates is decided early, and a wrong decision is noticed early.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "planner/alloc/exact_bound.h"
#include "planner/alloc/exact_part.h"
#include "planner/alloc/exact_rank.h"

namespace tidemark::exact {

// The place in `order` of the lowest floor that is not blocked; -1 when all are blocked: then
// nothing can be placed any more.
template <typename Unit>
int32_t lowest_unblocked(const Part<Unit>& part, const int32_t* order, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (part.blocked[order[i]] == 0) return i;
  }
  return -1;
}

// Would every neighbour of an item at its floor stand above it? Only then may it be placed.
template <typename Unit>
bool all_neighbours_above(const Part<Unit>& part, int32_t item) {
  for (int32_t i = part.neighbour_begin[item]; i < part.neighbour_begin[item + 1]; ++i) {
    const int32_t v = part.neighbours[i];
    if (part.placed[v] == 0 && part.effective[v] + part.size[v] <= part.floor[item]) return false;
  }
  return true;
}

// Gives a level of the search candidates of its own: those above stay as they are, and only what
// changed since needs counting.
template <typename Unit>
void copy_candidates(Part<Unit>& part, Stack& stack) {
  const auto cliques = static_cast<size_t>(part.cliques);
  auto* candidates = stack.take<int32_t>(cliques);
  auto* lowest = stack.take<Unit>(cliques);
  std::copy_n(part.candidates, cliques, candidates);
  std::copy_n(part.lowest, cliques, lowest);
  part.candidates = candidates;
  part.lowest = lowest;
}

// Brings part.candidates and part.lowest up to date in the cliques of `window`.
template <typename Unit>
void count_candidates(Part<Unit>& part, const int32_t* order, int32_t count, Span window,
                      Unit capacity) {
  std::fill(part.candidates + window.first, part.candidates + window.last + 1, 0);
  std::fill(part.lowest + window.first, part.lowest + window.last + 1,
            std::numeric_limits<Unit>::max());
  Unit* const waste = part.sum;
  Unit most = 0;
  for (int32_t k = window.first; k <= window.last; ++k) {
    waste[k] = capacity - part.total[k];
    most = part.total[k] > 0 ? std::max(most, waste[k]) : most;
  }
  for (int32_t i = 0; i < count; ++i) {
    const int32_t v = order[i];
    if (part.floor[v] > most) break;
    if (!meets(part.span[v], window)) continue;
    const Unit floor = part.effective[v];
    part.for_each_piece(v, [&](Span piece) {
      const Span span = clipped(piece, window);
      for (int32_t k = span.first; k <= span.last; ++k) {
        part.candidates[k] += floor <= waste[k] ? 1 : 0;
        part.lowest[k] = std::min(part.lowest[k], floor);
      }
    });
  }
}

// The clique to decide; -1 when no clique has a candidate.
template <typename Unit>
int32_t clique_to_decide(const Part<Unit>& part, Choice choice, Unit capacity) {
  int32_t best = -1;
  std::tuple<Unit, Unit, Unit> best_key{};
  for (int32_t k = 0; k < part.cliques; ++k) {
    if (part.candidates[k] == 0) continue;
    const Unit candidates = part.candidates[k];
    const Unit waste = capacity - part.total[k] - part.lowest[k];
    const auto key = choice == Choice::kFewest ? std::tuple(candidates, part.lowest[k], Unit{0})
                                               : std::tuple(waste, candidates, part.lowest[k]);
    if (best < 0 || key < best_key) {
      best = k;
      best_key = key;
    }
  }
  return best;
}

// A place in `order`, the unplaced items by floor and rank; -1 when nothing can be placed. The
// candidates must be up to date, unless the choice is kLowest.
template <typename Unit>
int32_t choose(const Part<Unit>& part, const int32_t* order, int32_t count, Choice choice,
               Unit capacity) {
  const int32_t lowest = lowest_unblocked(part, order, count);
  if (choice == Choice::kLowest || lowest < 0) return lowest;
  const int32_t clique = clique_to_decide(part, choice, capacity);
  if (clique < 0) return lowest;
  for (int32_t i = lowest; i < count; ++i) {
    const int32_t v = order[i];
    if (part.blocked[v] != 0) continue;
    bool stands_in = false;
    part.for_each_piece(v, [&](Span span) {
      stands_in = stands_in || (span.first <= clique && clique <= span.last);
    });
    if (stands_in) return all_neighbours_above(part, v) ? i : lowest;
  }
  return lowest;
}

}  // namespace tidemark::exact

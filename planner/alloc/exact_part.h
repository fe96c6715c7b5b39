// A part of a problem while the exact search works on it: what is left between two cuts, with
// cliques and ranks of its own. Flat arrays, indexed by rank; all memory comes from a stack that
// is cut back when the search leaves the part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "planner/alloc/exact_instance.h"

namespace tidemark::exact {

// Memory by last in, first out. Pointers stay valid until their mark is released.
class Stack {
 public:
  struct Mark {
    size_t chunk = 0;
    size_t used = 0;
  };

  template <typename T>
  T* take(size_t count) {
    return static_cast<T*>(take_bytes(count * sizeof(T)));
  }
  Mark mark() const { return {chunk_, used_}; }
  void release(Mark mark) {
    chunk_ = mark.chunk;
    used_ = mark.used;
  }

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> bytes{};
    size_t size = 0;
  };
  void* take_bytes(size_t count);

  std::vector<Chunk> chunks_{};
  size_t chunk_ = 0;
  size_t used_ = 0;
};

template <typename Unit>
struct Part {
  int32_t count = 0;  // items
  int32_t cliques = 0;
  bool gapped = false;  // has some item more than one piece?

  // By rank.
  int32_t* item = nullptr;  // number in the instance
  Unit* size = nullptr;
  Unit* alignment = nullptr;
  Unit* latest = nullptr;  // highest offset allowed
  Span* span = nullptr;    // in the part's own cliques
  int32_t* shape = nullptr;
  uint8_t* plain = nullptr;  // no alignment, not fixed, bounded by the capacity alone
  uint8_t* fixed = nullptr;
  int32_t* piece_begin = nullptr;  // into pieces; count + 1 entries; only when gapped
  Span* pieces = nullptr;

  // The state: rises and falls with the search.
  Unit* floor = nullptr;
  uint8_t* blocked = nullptr;
  uint8_t* placed = nullptr;
  uint64_t* mark = nullptr;     // each unplaced item's share of the state's hash
  int32_t* crossing = nullptr;  // by clique k: unplaced items live in both k and k + 1
  Unit* total = nullptr;        // by clique: sizes of the unplaced items
  uint64_t hash = 0;

  Unit* effective = nullptr;  // floor; of a blocked item, what its floor must rise to at least

  int32_t* by_shape = nullptr;         // ranks in order of shape
  int32_t* neighbour_begin = nullptr;  // into neighbours; count + 1 entries
  int32_t* neighbours = nullptr;       // of each item, whom it conflicts with
  // Hints, checked before use.
  int32_t* support = nullptr;
  int32_t* blocker = nullptr;
  // Of the state, by clique, for exact_choice.h. Each level of the search has arrays of its own.
  Unit* lowest = nullptr;         // least effective floor
  int32_t* candidates = nullptr;  // items that can be the lowest
  // Scratch.
  Unit* sum = nullptr;  // by clique
  int32_t* waiting = nullptr;

  bool conflict(int32_t a, int32_t b) const {
    if (span[a].last < span[b].first || span[b].last < span[a].first) return false;
    return !gapped || pieces_meet(a, b);
  }
  // Calls use(span) for each piece of the item.
  template <typename Use>
  void for_each_piece(int32_t a, Use use) const {
    if (!gapped) return use(span[a]);
    for (int32_t i = piece_begin[a]; i < piece_begin[a + 1]; ++i) use(pieces[i]);
  }
  bool pieces_meet(int32_t a, int32_t b) const {
    for (int32_t i = piece_begin[a]; i < piece_begin[a + 1]; ++i) {
      for (int32_t j = piece_begin[b]; j < piece_begin[b + 1]; ++j) {
        if (pieces[i].first <= pieces[j].last && pieces[j].first <= pieces[i].last) return true;
      }
    }
    return false;
  }
};

// Takes every array of a part from the stack. `pieces` counts all items' pieces.
template <typename Unit>
Part<Unit> take_part(Stack& stack, int32_t count, int32_t cliques, int32_t pieces) {
  const auto n = static_cast<size_t>(count);
  const auto k = static_cast<size_t>(cliques);
  Part<Unit> part{.count = count, .cliques = cliques, .gapped = pieces > count};
  part.item = stack.take<int32_t>(n);
  part.size = stack.take<Unit>(n);
  part.alignment = stack.take<Unit>(n);
  part.latest = stack.take<Unit>(n);
  part.span = stack.take<Span>(n);
  part.shape = stack.take<int32_t>(n);
  part.plain = stack.take<uint8_t>(n);
  part.fixed = stack.take<uint8_t>(n);
  if (part.gapped) {
    part.piece_begin = stack.take<int32_t>(n + 1);
    part.pieces = stack.take<Span>(static_cast<size_t>(pieces));
  }
  part.floor = stack.take<Unit>(n);
  part.blocked = stack.take<uint8_t>(n);
  part.placed = stack.take<uint8_t>(n);
  part.mark = stack.take<uint64_t>(n);
  part.crossing = stack.take<int32_t>(k);
  part.by_shape = stack.take<int32_t>(n);
  part.effective = stack.take<Unit>(n);
  part.neighbour_begin = stack.take<int32_t>(n + 1);
  part.support = stack.take<int32_t>(n);
  part.blocker = stack.take<int32_t>(n);
  part.total = stack.take<Unit>(k);
  part.lowest = stack.take<Unit>(k);
  part.candidates = stack.take<int32_t>(k);
  part.sum = stack.take<Unit>(k);
  part.waiting = stack.take<int32_t>(n);
  return part;
}

}  // namespace tidemark::exact

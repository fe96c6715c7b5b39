// Makes the parts of the exact search: keeps the maximal cliques of what is left, ranks the items
// by an order, fills the flat arrays.
#pragma once

#include <vector>

#include "planner/alloc/exact_part.h"
#include "planner/alloc/exact_rank.h"

namespace tidemark::exact {

// An item that goes into a part, with its state.
template <typename Unit>
struct Entrant {
  int32_t item = 0;  // number in the instance
  int32_t rank = 0;  // in the part it comes from
  Unit floor = 0;
  Unit effective = 0;
  uint8_t blocked = 0;
};

template <typename Unit>
class PartBuilder {
 public:
  // `latest`: highest offset allowed, by item number.
  PartBuilder(const Instance& instance, std::vector<Unit> latest, Unit capacity)
      : instance_(instance), latest_(std::move(latest)), capacity_(capacity) {}

  Unit latest(int32_t item) const { return latest_[static_cast<size_t>(item)]; }

  // Ranked by `order`, or as in the part the entrants come from when it is null.
  Part<Unit> build(Stack& stack, const Entrant<Unit>* entrants, int32_t count, const Order* order);

 private:
  const Item& item_of(const Entrant<Unit>& entrant) const {
    return instance_.items[static_cast<size_t>(entrant.item)];
  }
  int32_t kept_before(int32_t clique) const {
    return kept_before_[static_cast<size_t>(clique - first_clique_)];
  }
  Span local(Span span) const { return {kept_before(span.first), kept_before(span.last + 1) - 1}; }
  void map_cliques(const Entrant<Unit>* entrants, int32_t count);
  void rank(const Entrant<Unit>* entrants, int32_t count, const Order* order);
  void fill(Part<Unit>& part, const Entrant<Unit>* entrants) const;
  void fill_item(Part<Unit>& part, int32_t rank, const Entrant<Unit>& entrant) const;
  void connect(Stack& stack, Part<Unit>& part);

  const Instance& instance_;
  std::vector<Unit> latest_;
  Unit capacity_;
  // Scratch of one build.
  int32_t first_clique_ = 0;
  std::vector<Ranked> ranked_{};
  std::vector<int32_t> kept_before_{};
  std::vector<uint8_t> begins_{};
  std::vector<uint8_t> ends_{};
  std::vector<int32_t> by_first_{};
};

// mark: an item's share of the hash of a state.
template <typename Unit>
uint64_t mark_of(int32_t shape, Unit floor, uint8_t blocked) {
  const auto state = static_cast<uint64_t>(floor) * 2 + blocked;
  return mixed((static_cast<uint64_t>(shape) << 40) ^ mixed(state));
}

extern template class PartBuilder<int32_t>;
extern template class PartBuilder<int64_t>;

}  // namespace tidemark::exact

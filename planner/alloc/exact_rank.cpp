#include "planner/alloc/exact_rank.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace tidemark::exact {
namespace {

using enum Key;

constexpr std::array kStandardOrders{
    Order{{kTotal, kCliques, kArea}, Choice::kFewest},
    Order{{kConflicts, kArea, kTotal}, Choice::kTightest},
    Order{{kTotal, kCliques, kSize}, Choice::kLowest},
    Order{{kConflicts, kArea, kTotal}, Choice::kFewest},
    Order{{kTotal, kArea, kWidth}, Choice::kFewest},
    Order{{kTotal, kCliques, kArea}, Choice::kLowest},
    Order{{kTotal, kCliques, kConflicts}, Choice::kTightest},
    Order{{kTotal, kConflicts, kArea}, Choice::kFewest},
    Order{{kConflicts, kTotal, kArea}, Choice::kLowest},
    Order{{kCliques, kArea, kTotal}, Choice::kFewest},
    Order{{kTotal, kArea, kWidth}, Choice::kLowest},
    Order{{kWidth, kTotal, kArea}, Choice::kTightest},
};

int bits(uint64_t value) { return static_cast<int>(std::bit_width(value)); }

// Products of sizes and times stay within 62 bits; keys only rank, so low bits may go.
uint64_t product(int64_t a, int64_t b) {
  const auto left = static_cast<uint64_t>(a);
  const auto right = static_cast<uint64_t>(b);
  const int excess = bits(left) + bits(right) - 62;
  if (excess <= 0) return left * right;
  const int from_left = bits(left) > bits(right) ? excess : 0;
  return (left >> from_left) * (right >> (excess - from_left));
}

struct Sums {
  std::vector<int64_t> total{};    // of sizes, by clique
  std::vector<int32_t> started{};  // items whose span starts at or before the clique
  std::vector<int32_t> ended{};    // items whose span ends before the clique
};

Sums sums_of(const Instance& instance, int32_t cliques, std::span<const Ranked> items) {
  const auto count = static_cast<size_t>(cliques);
  Sums sums{.total = std::vector<int64_t>(count + 1, 0),
            .started = std::vector<int32_t>(count + 1, 0),
            .ended = std::vector<int32_t>(count + 1, 0)};
  for (const Ranked& ranked : items) {
    const int64_t size = instance.items[static_cast<size_t>(ranked.item)].size;
    const auto first = static_cast<size_t>(ranked.span.first);
    const auto next = static_cast<size_t>(ranked.span.last) + 1;
    sums.total[first] += size;
    sums.total[next] -= size;
    ++sums.started[first];
    ++sums.ended[next];
  }
  for (size_t k = 1; k <= count; ++k) {
    sums.total[k] += sums.total[k - 1];
    sums.started[k] += sums.started[k - 1];
    sums.ended[k] += sums.ended[k - 1];
  }
  return sums;
}

uint64_t value_of(Key key, const Item& item, const Span& span, const Sums& sums) {
  switch (key) {
    case kTotal: {
      const auto from = sums.total.begin() + span.first;
      return static_cast<uint64_t>(*std::max_element(from, from + (span.last - span.first + 1)));
    }
    case kWidth:
      return static_cast<uint64_t>(item.width);
    case kCliques:
      return static_cast<uint64_t>(span.last - span.first + 1);
    case kSize:
      return static_cast<uint64_t>(item.size);
    case kArea:
      return product(item.size, item.width);
    case kConflicts:
      return static_cast<uint64_t>(sums.started[static_cast<size_t>(span.last)] -
                                   sums.ended[static_cast<size_t>(span.first)]);
  }
  return 0;
}

// The noise of a shape and key is the same in every part, whatever is left of the problem.
uint32_t factor_of(const Order& order, size_t shape, size_t key) {
  if (!order.factors.empty()) return order.factors[shape * order.keys.size() + key];
  if (order.noise == 0) return kOnce;
  const uint64_t draw = mixed(order.seed ^ mixed(shape * 8 + key)) % 1024;
  return static_cast<uint32_t>(kOnce + draw * order.noise - 512 * order.noise);
}

uint64_t times(uint64_t value, uint32_t factor) {
  if (factor == kOnce) return value;
  const int excess = std::max(0, bits(value) - 40);
  return (((value >> excess) * factor) / kOnce) << excess;
}

}  // namespace

void sort_by(const Order& order, const Instance& instance, int32_t cliques,
             std::span<Ranked> items) {
  const Sums sums = sums_of(instance, cliques, items);
  for (Ranked& ranked : items) {
    const Item& item = instance.items[static_cast<size_t>(ranked.item)];
    ranked.shape = item.shape;
    for (size_t k = 0; k < order.keys.size(); ++k) {
      const uint64_t value = value_of(order.keys[k], item, ranked.span, sums);
      ranked.keys[k] = times(value, factor_of(order, static_cast<size_t>(item.shape), k));
    }
  }
  std::sort(items.begin(), items.end(), [](const Ranked& a, const Ranked& b) {
    return std::tie(b.keys, a.shape, a.item) < std::tie(a.keys, b.shape, b.item);
  });
}

std::span<const Order> standard_orders() { return kStandardOrders; }

Order random_order(uint64_t seed, uint64_t number) {
  const uint64_t draw = mixed(seed ^ mixed(number));
  constexpr std::array kChoices{Choice::kFewest, Choice::kFewest, Choice::kTightest,
                                Choice::kLowest};
  Order order{.choice = kChoices[draw % kChoices.size()],
              .noise = static_cast<uint32_t>(8U << ((draw >> 8) % 7)),
              .seed = draw};
  std::array<Key, kKeys> keys{kTotal, kWidth, kCliques, kSize, kArea, kConflicts};
  uint64_t rest = draw >> 16;
  for (size_t k = 0; k < order.keys.size(); ++k) {
    std::swap(keys[k], keys[k + rest % (kKeys - k)]);
    rest /= kKeys;
    order.keys[k] = keys[k];
  }
  return order;
}

std::vector<uint32_t> factors_of(const Order& order, int32_t shapes) {
  std::vector<uint32_t> factors;
  factors.reserve(static_cast<size_t>(shapes) * order.keys.size());
  for (size_t shape = 0; shape < static_cast<size_t>(shapes); ++shape) {
    for (size_t k = 0; k < order.keys.size(); ++k) factors.push_back(factor_of(order, shape, k));
  }
  return factors;
}

}  // namespace tidemark::exact

#include "planner/alloc/exact_instance.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "planner/base/check.h"

namespace tidemark::exact {
namespace {

// A piece of item `item` begins or ends.
struct Event {
  int64_t instant = 0;
  bool begins = false;  // ends sort before beginnings: lifetimes are half-open
  int32_t item = 0;
  size_t piece = 0;
  auto operator<=>(const Event&) const = default;
};

// The power of two that divides every offset of every plan worth having.
int64_t common_alignment(const Problem& problem) {
  int64_t common = int64_t{1} << 62;
  for (const Buffer& buffer : problem.buffers) {
    if (!is_ever_live(buffer)) continue;
    common = std::min(common, buffer.alignment.count());
    if (buffer.offset) common = std::gcd(common, buffer.offset->count());
  }
  return common;
}

int64_t common_unit(const Instance& instance, const Problem& problem) {
  int64_t unit = 0;
  for (const Item& item : instance.items) {
    unit = std::gcd(unit, item.size);
    if (item.fixed > 0) unit = std::gcd(unit, item.fixed);
  }
  for (const Item& item : instance.items) {
    const int64_t alignment = problem.buffers[item.buffer.index()].alignment.count();
    if (unit % alignment != 0) unit = std::gcd(unit, alignment);
  }
  return std::max<int64_t>(unit, 1);
}

void collect_items(const Problem& problem, Instance& instance) {
  const Alignment granule = Alignment::of(instance.granule);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (!is_ever_live(buffer)) continue;
    Item item{.buffer = BufferId::of(i),
              .size = align_up(buffer.size, granule).count(),
              .alignment = buffer.alignment.count(),
              .useful = buffer.size.count()};
    if (buffer.offset) {
      item.fixed = buffer.offset->count();
      if (item.fixed < 0 || !is_aligned(*buffer.offset, buffer.alignment)) {
        instance.representable = false;
      }
    }
    instance.items.push_back(std::move(item));
  }
}

void divide_by_unit(Instance& instance) {
  for (Item& item : instance.items) {
    item.size /= instance.unit;
    if (item.fixed > 0) item.fixed /= instance.unit;
    item.alignment = std::max<int64_t>(1, item.alignment / instance.unit);
  }
}

std::vector<Event> events_of(const Problem& problem, Instance& instance) {
  std::vector<Event> events;
  for (size_t i = 0; i < instance.items.size(); ++i) {
    Item& item = instance.items[i];
    const auto pieces = occupied_intervals(problem.buffers[item.buffer.index()]);
    item.pieces.resize(pieces.size());
    instance.gapped = instance.gapped || pieces.size() > 1;
    for (size_t k = 0; k < pieces.size(); ++k) {
      item.width = checked_add(item.width, checked_sub(pieces[k].upper, pieces[k].lower));
      events.push_back({pieces[k].lower, true, static_cast<int32_t>(i), k});
      events.push_back({pieces[k].upper, false, static_cast<int32_t>(i), k});
    }
  }
  std::ranges::sort(events);
  return events;
}

// A maximal clique stands where an end follows a beginning.
void find_cliques(const std::vector<Event>& events, Instance& instance) {
  int64_t load = 0;
  bool grew = false;
  int32_t current = -1;
  for (const Event& event : events) {
    Item& item = instance.items[static_cast<size_t>(event.item)];
    if (event.begins) {
      if (!grew) ++current;
      grew = true;
      item.pieces[event.piece].first = current;
      load = checked_add(load, item.size);
      instance.load = std::max(instance.load, load);
    } else {
      grew = false;
      item.pieces[event.piece].last = current;
      load -= item.size;
    }
  }
  instance.cliques = current + 1;
  for (Item& item : instance.items)
    item.span = {item.pieces.front().first, item.pieces.back().last};
}

void number_shapes(Instance& instance) {
  const auto shape = [](const Item& i) {
    return std::tie(i.pieces, i.size, i.useful, i.alignment, i.fixed);
  };
  std::vector<int32_t> order(instance.items.size());
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](int32_t i) -> Item& { return instance.items[static_cast<size_t>(i)]; };
  std::ranges::sort(order, [&](int32_t a, int32_t b) {
    return std::tuple(shape(at(a)), a) < std::tuple(shape(at(b)), b);
  });
  int32_t number = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    if (k > 0 && shape(at(order[k])) != shape(at(order[k - 1]))) ++number;
    at(order[k]).shape = number;
  }
}

}  // namespace

Instance make_instance(const Problem& problem) {
  Instance instance{.granule = common_alignment(problem)};
  collect_items(problem, instance);
  if (instance.items.empty()) return instance;
  instance.unit = common_unit(instance, problem);
  divide_by_unit(instance);
  find_cliques(events_of(problem, instance), instance);
  number_shapes(instance);
  return instance;
}

int64_t capacity_in_units(const Instance& instance, Bytes capacity) {
  return align_up(capacity, Alignment::of(instance.granule)).count() / instance.unit;
}

Bytes padded_load(const Instance& instance) {
  constexpr size_t kMostItems = 5000;
  int64_t most = 0;
  for (const Item& item : instance.items) {
    most = std::max(most, checked_mul(item.size, instance.unit) - item.useful);
  }
  if (most == 0 || instance.items.size() > kMostItems) {
    return Bytes::of(std::max<int64_t>(0, checked_mul(instance.load, instance.unit) - most));
  }
  std::vector<int64_t> total(static_cast<size_t>(instance.cliques), 0);
  std::vector<int64_t> padding(static_cast<size_t>(instance.cliques), 0);
  for (const Item& item : instance.items) {
    const int64_t padded = checked_mul(item.size, instance.unit);
    for (const Span& piece : item.pieces) {
      for (auto k = static_cast<size_t>(piece.first); k <= static_cast<size_t>(piece.last); ++k) {
        total[k] = checked_add(total[k], padded);
        padding[k] = std::max(padding[k], padded - item.useful);
      }
    }
  }
  int64_t bound = 0;
  for (size_t k = 0; k < total.size(); ++k) bound = std::max(bound, total[k] - padding[k]);
  return Bytes::of(bound);
}

int64_t latest_offset(const Instance& instance, const Item& item, Bytes capacity) {
  const int64_t room = capacity.count() - item.useful;
  return room < 0 ? -1 : room / instance.unit;
}

std::vector<int64_t> areas_of(const Instance& instance) {
  int64_t sizes = 0;
  for (const Item& item : instance.items) sizes += item.size;
  const auto excess = static_cast<int>(std::bit_width(static_cast<uint64_t>(sizes)) +
                                       std::bit_width(static_cast<uint64_t>(instance.cliques))) -
                      62;
  std::vector<int64_t> areas;
  for (const Item& item : instance.items) {
    areas.push_back((item.size >> std::max(0, excess)) * (item.span.last - item.span.first + 1));
  }
  return areas;
}

std::vector<std::vector<int32_t>> independent_parts(const Instance& instance) {
  std::vector<int32_t> crossing(static_cast<size_t>(instance.cliques) + 1, 0);
  for (const Item& item : instance.items) {
    ++crossing[static_cast<size_t>(item.span.first)];
    --crossing[static_cast<size_t>(item.span.last)];
  }
  // After the running sum, crossing[k] counts the items live in both clique k and k + 1.
  std::vector<size_t> part_of(static_cast<size_t>(instance.cliques), 0);
  size_t parts = 0;
  int32_t running = 0;
  for (size_t k = 0; k < part_of.size(); ++k) {
    part_of[k] = parts;
    running += crossing[k];
    if (running == 0) ++parts;
  }
  std::vector<std::vector<int32_t>> lists(parts);
  for (size_t i = 0; i < instance.items.size(); ++i) {
    lists[part_of[static_cast<size_t>(instance.items[i].span.first)]].push_back(
        static_cast<int32_t>(i));
  }
  return lists;
}

}  // namespace tidemark::exact

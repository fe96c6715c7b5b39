// Problems for the tests of the planners: the example of problem.h, random ones, and the slow,
// obvious ways to know the answer.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "planner/alloc/planners.h"

namespace tidemark {

inline Buffer buffer(std::string name, int64_t lower, int64_t upper, int64_t size,
                     int64_t alignment = 1) {
  return {std::move(name), Bytes::of(size), {lower, upper}, Alignment::of(alignment)};
}

// The picture at the head of problem.h.
inline Problem five_buffers() {
  return {{buffer("b1", 0, 3, 4), buffer("b2", 3, 9, 4), buffer("b3", 0, 9, 4),
           buffer("b4", 9, 21, 4), buffer("b5", 0, 21, 4)}};
}

inline std::vector<Bytes> bytes(std::initializer_list<int64_t> counts) {
  std::vector<Bytes> list;
  for (const int64_t count : counts) list.push_back(Bytes::of(count));
  return list;
}

inline std::vector<int64_t> counts(const std::vector<Bytes>& list) {
  std::vector<int64_t> plain;
  for (const Bytes item : list) plain.push_back(item.count());
  return plain;
}

// Does it search, and so may prove more than the load and take its time?
inline bool searches(PlannerKind kind) {
  return kind == PlannerKind::kExact || kind == PlannerKind::kPortfolio;
}

// Load from the definition: at every start of a lifetime, add up who is live then.
inline int64_t naive_peak_load(const Problem& problem) {
  int64_t peak = 0;
  for (const Buffer& at : problem.buffers) {
    int64_t load = 0;
    for (const Buffer& other : problem.buffers) {
      if (other.lifetime.lower <= at.lifetime.lower && at.lifetime.lower < other.lifetime.upper) {
        load += other.size.count();
      }
    }
    peak = std::max(peak, load);
  }
  return peak;
}

// The lowest peak of any plan, for a handful of buffers: every order, each buffer at the lowest
// offset that is free, found by trying 0, 1, 2, ... An optimal plan survives this: take its buffers
// in order of offset, and each can only move down.
inline int64_t optimal_peak(const Problem& problem) {
  const auto& all = problem.buffers;
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> offsets(all.size(), 0);
    int64_t peak = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      const Buffer& mine = all[order[k]];
      const auto blocked = [&](int64_t offset) {
        return std::any_of(order.begin(), order.begin() + static_cast<int64_t>(k), [&](size_t j) {
          const Buffer& other = all[j];
          return overlaps(mine.lifetime, other.lifetime) &&
                 offset < offsets[j] + other.size.count() &&
                 offsets[j] < offset + mine.size.count();
        });
      };
      int64_t offset = 0;
      while (blocked(offset)) offset += mine.alignment.count();
      offsets[order[k]] = offset;
      const bool counts = mine.size.count() > 0 && mine.lifetime.lower < mine.lifetime.upper;
      if (counts) peak = std::max(peak, offset + mine.size.count());
    }
    best = std::min(best, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

// What rapidcheck prints of a counterexample.
inline void showValue(const Buffer& buffer, std::ostream& out) {
  out << "[" << buffer.lifetime.lower << "," << buffer.lifetime.upper << ") size "
      << buffer.size.count() << " alignment " << buffer.alignment.count();
}
inline void showValue(const Problem& problem, std::ostream& out) {
  for (const Buffer& buffer : problem.buffers) {
    showValue(buffer, out);
    out << "\n";
  }
}
inline void showValue(PlannerKind kind, std::ostream& out) { out << name_of(kind); }

}  // namespace tidemark

namespace rc {

// Short lifetimes at few instants and small sizes, so that ties, touching ends, lifetimes of no
// length and sizes of zero are all common.
template <>
struct Arbitrary<tidemark::Buffer> {
  static Gen<tidemark::Buffer> arbitrary() {
    const auto make = [](const std::tuple<int64_t, int64_t, int64_t, int64_t>& fields) {
      const auto& [lower, length, size, alignment] = fields;
      return tidemark::buffer("", lower, lower + length, size, alignment);
    };
    return gen::map(gen::tuple(gen::inRange<int64_t>(-3, 9), gen::inRange<int64_t>(0, 7),
                               gen::inRange<int64_t>(0, 10), gen::element<int64_t>(1, 1, 2, 4, 8)),
                    make);
  }
};

template <>
struct Arbitrary<tidemark::Problem> {
  static Gen<tidemark::Problem> arbitrary() {
    return gen::map(gen::arbitrary<std::vector<tidemark::Buffer>>(),
                    [](std::vector<tidemark::Buffer> buffers) {
                      return tidemark::Problem{std::move(buffers)};
                    });
  }
};

template <>
struct Arbitrary<tidemark::PlannerKind> {
  static Gen<tidemark::PlannerKind> arbitrary() {
    std::vector<tidemark::PlannerKind> kinds;
    for (const tidemark::PlannerInfo& info : tidemark::planners()) {
      if (!tidemark::searches(info.kind)) kinds.push_back(info.kind);
    }
    return gen::elementOf(kinds);
  }
};

}  // namespace rc

// Static orders in which the exact search prefers the items of a part among those that can stand
// equally low.
//
//   keys T, W, A of the five buffers (units of 4, instants as time):
//     T  the largest total of a clique it is in     b1 3  b2 3  b3 3  b4 2  b5 3
//     W  instants of its life                       b1 3  b2 6  b3 9  b4 12 b5 21
//     order "TW": b5 b3 b2 b1 b4
//   Checked by ExactRankTest.FiveBuffers.
//
// No order is good everywhere: the search runs several, and disturbs them by seeded noise.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/alloc/exact_instance.h"

namespace tidemark::exact {

enum class Key : uint8_t {
  kTotal,      // largest sum of sizes in a clique of its span
  kWidth,      // instants
  kCliques,    // cliques of its span
  kSize,       //
  kArea,       // size times instants
  kConflicts,  // items it shares a clique with
};
inline constexpr int kKeys = 6;

// Which place the search fills next.
enum class Choice : uint8_t {
  kLowest,    // that of the lowest floor
  kFewest,    // the bottom of the clique whose lowest item can be the fewest
  kTightest,  // ... of the clique that can waste the least
};

struct Order {
  std::array<Key, 3> keys{Key::kTotal, Key::kWidth, Key::kArea};
  Choice choice = Choice::kLowest;
  uint32_t noise = 0;  // in 1/1024: a key counts 1 - noise/2048 to 1 + noise/2048 times
  uint64_t seed = 0;   // of the noise
  // How often a key counts, in 1/kOnce, by shape * 3 + place of the key; empty: as the noise says.
  std::span<const uint32_t> factors{};
};

inline constexpr uint32_t kOnce = 1U << 20;

// One item of a part, with its span in the cliques of that part.
struct Ranked {
  int32_t item = 0;
  int32_t entrant = 0;  // the caller's own number of it
  Span span{};
  std::array<uint64_t, 3> keys{};
  int32_t shape = 0;
};

// Sorts by falling keys, then by shape and item number; items of one shape end up side by side.
void sort_by(const Order& order, const Instance& instance, int32_t cliques,
             std::span<Ranked> items);

// The orders tried first, in turn.
std::span<const Order> standard_orders();

// The order of attempt `number` beyond the standard ones: keys and noise drawn from `seed`.
Order random_order(uint64_t seed, uint64_t number);

// What the noise of the order makes of shapes 0 .. shapes - 1, as Order::factors says it.
std::vector<uint32_t> factors_of(const Order& order, int32_t shapes);

// A well mixed 64-bit number.
constexpr uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace tidemark::exact

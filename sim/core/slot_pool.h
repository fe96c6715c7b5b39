// Values in numbered slots. A slot given back is the next one taken, so there are never more slots
// than values were alive at once, and in steady state nothing is allocated.
//
//   take 0, take 1, give back 0, take 0 again: two slots
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "planner/base/check.h"

namespace tidemark {

using Slot = uint32_t;
inline constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

template <typename T>
class SlotPool {
 public:
  // What the slot holds is what was left in it, or a T{}.
  Slot take() {
    if (free_.empty()) {
      check(values_.size() < kNoSlot, "fewer values at once than slots have numbers");
      values_.emplace_back();
      return static_cast<Slot>(values_.size() - 1);
    }
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }

  void give_back(Slot slot) { free_.push_back(slot); }

  T& operator[](Slot slot) { return values_[slot]; }
  size_t size() const { return values_.size(); }  // taken or not

 private:
  std::vector<T> values_{};
  std::vector<Slot> free_{};
};

}  // namespace tidemark

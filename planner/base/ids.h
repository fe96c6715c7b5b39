// Indices that cannot be mixed up: an OpId does not compile where a TensorId is wanted.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace tidemark {

template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(int64_t value) : value_(value) {}
  template <typename Integer>
  static constexpr Id of(Integer value) {
    return Id(static_cast<int64_t>(value));
  }

  constexpr int64_t value() const { return value_; }
  // For indexing a vector.
  constexpr size_t index() const { return static_cast<size_t>(value_); }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  int64_t value_ = 0;
};

using OpId = Id<struct OpTag>;
using TensorId = Id<struct TensorTag>;
using WeightId = Id<struct WeightTag>;  // index into WeightsInventory::tensors
using UnitId = Id<struct UnitTag>;      // index into the list of weight units
using BufferId = Id<struct BufferTag>;  // index into alloc's Problem::buffers

// Position of an op in the schedule, 0-based.
using StepIndex = Id<struct StepTag>;

// A number of tokens: context cells, prompt length, batch size.
class Tokens {
 public:
  constexpr Tokens() = default;
  constexpr explicit Tokens(int64_t count) : count_(count) {}
  constexpr int64_t count() const { return count_; }
  constexpr auto operator<=>(const Tokens&) const = default;

 private:
  int64_t count_ = 0;
};

}  // namespace tidemark

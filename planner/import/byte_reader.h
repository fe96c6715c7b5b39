// A cursor over a ByteSource: little-endian numbers and texts one after another, read in blocks of
// 64 KiB. A failed call leaves the cursor where it was and says why in state().
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/import/byte_source.h"

namespace tidemark {

class ByteReader {
 public:
  enum class State {
    kGood,
    kEnd,        // the source ends before the bytes asked for
    kLimit,      // they stand beyond the limit
    kUnreadable  // the source failed
  };

  // Reads nothing at or beyond byte `limit`.
  ByteReader(ByteSource& source, int64_t limit);

  int64_t offset() const { return offset_; }
  int64_t remaining() const { return end_ - offset_; }
  State state() const { return state_; }

  bool bytes(std::span<std::byte> into);
  bool skip(int64_t count);  // count >= 0
  // Marks the source as too short, where a count from the file already says so.
  bool fail_at_end();

  template <std::unsigned_integral T>
  std::optional<T> number() {
    std::byte raw[sizeof(T)] = {};
    if (!bytes(raw)) return std::nullopt;
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) value |= std::to_integer<uint64_t>(raw[i]) << (8 * i);
    return static_cast<T>(value);
  }

 private:
  bool refill();

  ByteSource& source_;
  int64_t end_ = 0;
  bool limited_ = false;
  int64_t offset_ = 0;
  State state_ = State::kGood;
  std::vector<std::byte> block_{};
  int64_t block_begin_ = 0;
};

}  // namespace tidemark

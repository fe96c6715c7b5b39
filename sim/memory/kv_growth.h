// A KV cache in one piece, and what it costs to let it grow: while a larger piece is filled from
// the old one, both are there.
//
//   1,000 tokens, one at a time; first piece 256, at most 4,096:
//
//   growth     pieces                  reserved   copied                    peak
//   longest    4096                    4096       0                         4096
//   doubling   256, 512, 1024          1024       256 + 512 = 768           512 + 1024 = 1536
//   steps      256, 512, 768, 1024     1024       256 + 512 + 768 = 1536    768 + 1024 = 1792
//   Checked by KvBufferTest.WorkedInTheHeader.
//
// All in tokens. Doubling copies less than two tokens for each there is, steps of c copy about
// n / 2c for each of n; blocks (kv_blocks.h) need no copies at all.
#pragma once

#include <array>
#include <cstdint>

#include "planner/base/ids.h"

namespace tidemark {

enum class KvGrowth {
  kLongest,   // the longest there may be, from the start
  kDoubling,  // twice as much, whenever it is full
  kSteps,     // one step more, whenever it is full
};
inline constexpr std::array kKvGrowths{KvGrowth::kLongest, KvGrowth::kDoubling, KvGrowth::kSteps};

struct KvBufferOptions {
  KvGrowth growth = KvGrowth::kLongest;
  Tokens step{256};  // the first piece, too
  Tokens longest{4096};
};

struct KvGrown {
  bool done = false;     // false: it would be longer than the longest; nothing has changed
  int64_t copied = 0;    // tokens moved into the new piece, if there is one
  int64_t reserved = 0;  // after it
  int64_t peak = 0;      // while it was copied: the old piece and the new one
};

class KvBuffer {
 public:
  explicit KvBuffer(KvBufferOptions options);

  // One new piece at most, large enough for all of them.
  KvGrown append(Tokens tokens);

  int64_t length() const { return length_; }
  int64_t reserved() const { return reserved_; }

 private:
  int64_t piece_for(int64_t length) const;

  KvBufferOptions options_;
  int64_t length_ = 0;
  int64_t reserved_ = 0;
};

}  // namespace tidemark

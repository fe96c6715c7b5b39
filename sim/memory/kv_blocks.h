// A pool of KV blocks: sequences hold blocks of B tokens, take one more as they grow, share those
// of a common prefix, and copy a shared block before they write into it. When the pool is full, the
// oldest blocks that nobody writes go to RAM or flash.
//
//   B = 4, pool of 6                          held  used   shared   spilled
//   s starts with 10 tokens                   3     10     0                 4 + 4 + 2
//   t forks from s at 10                      3     10     3                 no block is needed
//   t appends 1: the third block is shared,   4     13     2                 4 + 4 + 2 | 3
//     so its 2 tokens are copied
//   s appends 3: its third is its own now     5     16     2                 4 + 4 + 4 + 1 | 3
//   s ends                                    3     11     0                 4 + 4 | 3
//   spill 2                                   1     3      0        2        each step of t reads 2
//   Checked by KvBlockPoolTest.WorkedInTheHeader.
//
// Of what is held, only the last block of a sequence has free cells: (B-1)/2 on average, 1.5 % of
// 499 tokens for B = 16. Blocks are all alike, so nothing is free in pieces; hence they have no
// addresses here. How much of a pool that leaves to tokens under other reservations is a question
// of planner/engine/kv_paging.h. Source: arXiv 2309.06180, sections 4.2 to 4.5.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"

namespace tidemark {

using SequenceId = Id<struct SequenceTag>;
using KvBlockId = Id<struct KvBlockTag>;  // numbered as they are made; never used again

struct KvBlockOptions {
  int64_t blocks = 0;       // that fit the pool
  Tokens block_tokens{16};  // B
  Bytes token_bytes{};      // of all layers, keys and values
};

struct KvAppend {
  bool done = false;         // or nothing has changed
  int64_t missing = 0;       // blocks that must be freed first
  int64_t new_blocks = 0;    // copies included
  int64_t copied = 0;        // tokens, into a block of its own
  int64_t brought_back = 0;  // blocks, to be written
};

// Of the pool; what is spilled stands beside it.
struct KvBlockUse {
  int64_t held = 0;
  int64_t free = 0;
  int64_t shared = 0;  // of all blocks, those of several sequences
  int64_t spilled = 0;
  int64_t tokens = 0;  // in held blocks, each once
  int64_t spilled_tokens = 0;
  int64_t in_sequences = 0;  // tokens: the sum of their lengths
  Bytes reserved{};          // held blocks
  Bytes used{};              // of them, by tokens
  Bytes saved{};             // blocks that sharing makes unnecessary, wherever they would be
  bool operator==(const KvBlockUse&) const = default;
};

class KvBlockPool {
 public:
  explicit KvBlockPool(KvBlockOptions options);
  ~KvBlockPool();
  KvBlockPool(KvBlockPool&& other) noexcept;
  KvBlockPool& operator=(KvBlockPool&& other) noexcept;

  SequenceId start();
  // A sequence that begins with the first `prefix` tokens of `parent`.
  SequenceId fork(SequenceId parent, Tokens prefix);
  // All of `tokens` or none. A shared last block that is not full is copied first; a spilled one
  // comes back.
  KvAppend append(SequenceId sequence, Tokens tokens);
  void end(SequenceId sequence);

  int64_t length(SequenceId sequence) const;
  int64_t spilled_blocks(SequenceId sequence) const;  // to be read for each of its steps

  // Up to `count` blocks, oldest first, of those that are no sequence's unfinished last.
  std::vector<KvBlockId> spill(int64_t count);
  // Up to `count` spilled blocks and as many as there is room for, youngest first.
  std::vector<KvBlockId> bring_back(int64_t count);

  Bytes block_bytes() const;
  KvBlockUse use() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark

#include "sim/memory/kv_blocks.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "planner/base/check.h"
#include "planner/engine/kv_paging.h"
#include "sim/memory/kv_growth.h"

namespace tidemark {
namespace {

using namespace literals;

int64_t number(int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); }

void expect_use(const KvBlockPool& pool, int64_t held, int64_t tokens, int64_t shared,
                int64_t spilled) {
  const KvBlockUse use = pool.use();
  EXPECT_EQ(use.held, held);
  EXPECT_EQ(use.free, 6 - held);
  EXPECT_EQ(use.tokens, tokens);
  EXPECT_EQ(use.shared, shared);
  EXPECT_EQ(use.spilled, spilled);
  EXPECT_EQ(use.reserved, held * 4 * 2_KiB);
  EXPECT_EQ(use.used, tokens * 2_KiB);
}

TEST(KvBlockPoolTest, WorkedInTheHeader) {
  KvBlockPool pool({.blocks = 6, .block_tokens = Tokens(4), .token_bytes = 2_KiB});
  const SequenceId s = pool.start();
  EXPECT_EQ(pool.append(s, Tokens(10)).new_blocks, 3);
  expect_use(pool, 3, 10, 0, 0);
  const SequenceId t = pool.fork(s, Tokens(10));
  expect_use(pool, 3, 10, 3, 0);
  EXPECT_EQ(pool.use().saved, 3 * pool.block_bytes());
  const KvAppend copied = pool.append(t, Tokens(1));
  EXPECT_EQ(copied.copied, 2);
  EXPECT_EQ(copied.new_blocks, 1);
  expect_use(pool, 4, 13, 2, 0);
  const KvAppend grown = pool.append(s, Tokens(3));
  EXPECT_EQ(grown.copied, 0);
  EXPECT_EQ(grown.new_blocks, 1);
  expect_use(pool, 5, 16, 2, 0);
  EXPECT_EQ(pool.use().in_sequences, 13 + 11);
  pool.end(s);
  expect_use(pool, 3, 11, 0, 0);
  EXPECT_EQ(pool.spill(2), (std::vector<KvBlockId>{KvBlockId(0), KvBlockId(1)}));
  expect_use(pool, 1, 3, 0, 2);
  EXPECT_EQ(pool.use().spilled_tokens, 8);
  EXPECT_EQ(pool.spilled_blocks(t), 2);
  EXPECT_EQ(pool.bring_back(9), (std::vector<KvBlockId>{KvBlockId(1), KvBlockId(0)}));
  pool.end(t);
  EXPECT_EQ(pool.use(), (KvBlockUse{.free = 6}));
}

// Room for 8 tokens; 7 are there. Three more need one block too many, and nothing changes; a block
// spilled, they fit. The unfinished last is never spilled.
TEST(KvBlockPoolTest, AFullPoolSaysHowMuchIsMissing) {
  KvBlockPool pool({.blocks = 2, .block_tokens = Tokens(4)});
  const SequenceId s = pool.start();
  pool.append(s, Tokens(7));
  const KvAppend refused = pool.append(s, Tokens(3));
  EXPECT_FALSE(refused.done);
  EXPECT_EQ(refused.missing, 1);
  EXPECT_EQ(pool.length(s), 7);
  EXPECT_EQ(pool.append(s, Tokens(int64_t{1} << 40)).missing, (int64_t{1} << 38) + 2 - 2);
  EXPECT_EQ(pool.spill(5).size(), 1U);
  EXPECT_TRUE(pool.append(s, Tokens(3)).done);
  EXPECT_EQ(pool.spilled_blocks(s), 1);
}

// t shares one block and two tokens of the second with s; both are finished blocks of s, and go.
// When s ends, t writes on in the second, which comes back for it.
TEST(KvBlockPoolTest, ASpilledBlockComesBackToBeWritten) {
  KvBlockPool pool({.blocks = 4, .block_tokens = Tokens(4)});
  const SequenceId s = pool.start();
  pool.append(s, Tokens(8));
  EXPECT_EQ(pool.spill(9).size(), 2U);
  const SequenceId t = pool.fork(s, Tokens(6));
  EXPECT_EQ(pool.use().spilled_tokens, 8);
  pool.end(s);
  EXPECT_EQ(pool.use().spilled_tokens, 6);
  // Others have all of the pool: there is no room for it.
  const SequenceId u = pool.start();
  pool.append(u, Tokens(16));
  EXPECT_EQ(pool.append(t, Tokens(1)).missing, 1);
  pool.end(u);
  const KvAppend grown = pool.append(t, Tokens(1));
  EXPECT_EQ(grown.brought_back, 1);
  EXPECT_EQ(grown.new_blocks, 0);
  EXPECT_EQ(pool.use().tokens, 3);
  EXPECT_EQ(pool.use().spilled_tokens, 4);
}

TEST(KvBlockPoolTest, MisuseIsABug) {
  KvBlockPool pool({.blocks = 4});
  const SequenceId s = pool.start();
  EXPECT_THROW(pool.fork(s, Tokens(1)), InternalError);
  pool.end(s);
  EXPECT_THROW(pool.end(s), InternalError);
  EXPECT_THROW(pool.append(s, Tokens(1)), InternalError);
}

// 512 sequences, one of each length from 244 to 755: 499.5 tokens on average, and every remainder
// modulo B alike, so (B-1)/2 cells each are free. Of 499.5 + (B-1)/2:
//   16: 7.5/507 = 1.48 %    32: 15.5/515 = 3.01 %    128: 63.5/563 = 11.28 %
TEST(KvBlockPoolTest, TheLastBlockIsHalfEmptyOnAverage) {
  for (const int64_t block : {16, 32, 128}) {
    KvBlockPool pool({.blocks = 100000, .block_tokens = Tokens(block), .token_bytes = 1_B});
    for (int64_t length = 244; length < 756; ++length) pool.append(pool.start(), Tokens(length));
    const KvBlockUse use = pool.use();
    EXPECT_EQ(2 * (use.reserved - use.used), Bytes::of(512 * (block - 1)));
    const double waste = static_cast<double>((use.reserved - use.used).count()) /
                         static_cast<double>(use.reserved.count());
    EXPECT_NEAR(waste, block == 16 ? 0.0148 : block == 32 ? 0.0301 : 0.1128, 0.00005);
  }
}

// The batch of planner/engine/kv_paging.h, run on this pool: the same tokens, the same free cells,
// the same requests put back.
TEST(KvBlockPoolTest, HoldsWhatTheBatchOfPagedRequestsHolds) {
  EXPECT_TRUE(rc::check("against kv_use", [] {
    const int64_t block = int64_t{1} << number(0, 3);
    const KvPool cells{.cells = 64, .longest = 32, .block = block, .watermark_per_mille = 100};
    std::vector<KvRequest> trace(static_cast<size_t>(number(1, 5)));
    for (KvRequest& request : trace) {
      request.prompt = number(1, 20);
      request.output = number(1, 32 - request.prompt);
    }
    struct Running {
      SequenceId id{};
      int64_t total = 0;
    };
    KvBlockPool pool({.blocks = cells.cells / block, .block_tokens = Tokens(block)});
    std::vector<Running> running;
    size_t next = 0;
    KvUse sums;
    const auto leave = [&](size_t index) {
      pool.end(running[index].id);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(index));
    };
    const int64_t steps = number(1, 60);
    for (int64_t step = 0; step < steps; ++step) {
      for (;;) {
        const KvRequest& request = trace[next % trace.size()];
        const int64_t blocks = (request.prompt + block - 1) / block;
        const int64_t kept = running.empty() ? 0 : 64 * 100 / 1000;
        if ((pool.use().held + blocks) * block + kept > 64) break;
        running.push_back({pool.start(), request.total()});
        RC_ASSERT(pool.append(running.back().id, Tokens(request.prompt)).done);
        ++next;
      }
      sums.tokens += pool.use().tokens;
      sums.external += pool.use().free * block;
      for (size_t i = 0; i < running.size();) {
        if (pool.length(running[i].id) + 1 >= running[i].total) {
          leave(i);
          continue;
        }
        bool is_there = true;
        while (is_there && !pool.append(running[i].id, Tokens(1)).done) {
          ++sums.preempted;
          is_there = running.size() - 1 != i;
          leave(running.size() - 1);
        }
        if (is_there) ++i;
      }
    }
    const KvUse want = kv_use(trace, KvReservation::kPaged, cells, steps);
    RC_ASSERT(sums.tokens == want.tokens);
    RC_ASSERT(sums.external == want.external);
    RC_ASSERT(sums.preempted == want.preempted);
  }));
}

// Blocks as lists of tokens that sequences point to: who shares a block is who points to it.
class NaivePool {
 public:
  struct Block {
    int64_t made = 0;
    std::vector<int64_t> tokens{};
    bool spilled = false;
  };
  struct Sequence {
    std::vector<std::shared_ptr<Block>> blocks{};
    std::vector<int64_t> tokens{};  // what it should hold
  };

  NaivePool(int64_t blocks, int64_t block_tokens) : blocks_(blocks), per_block_(block_tokens) {}

  std::map<int64_t, Sequence> sequences{};

  void fork(int64_t parent, int64_t prefix, int64_t id) {
    const Sequence& from = sequences.at(parent);
    Sequence child;
    for (int64_t i = 0; i < prefix; i += per_block_)
      child.blocks.push_back(from.blocks[static_cast<size_t>(i / per_block_)]);
    child.tokens.assign(from.tokens.begin(), from.tokens.begin() + prefix);
    sequences[id] = child;
  }

  // Token by token; undone if the pool then holds too much.
  bool append(int64_t id, int64_t count) {
    const Sequence before = sequences.at(id);
    const int64_t made_before = made_;
    std::optional<Block> last_before;
    if (!before.blocks.empty()) last_before = *before.blocks.back();
    Sequence& sequence = sequences.at(id);
    for (int64_t i = 0; i < count; ++i) append_one(sequence);
    if (held() <= blocks_) return true;
    sequence = before;
    if (last_before) *sequence.blocks.back() = *last_before;
    made_ = made_before;
    return false;
  }

  std::set<std::shared_ptr<Block>> all() const {
    std::set<std::shared_ptr<Block>> blocks;
    for (const auto& [id, sequence] : sequences)
      blocks.insert(sequence.blocks.begin(), sequence.blocks.end());
    return blocks;
  }
  int64_t held() const {
    const auto blocks = all();
    return std::count_if(blocks.begin(), blocks.end(), [](const auto& b) { return !b->spilled; });
  }
  int64_t sharers(const std::shared_ptr<Block>& block) const {
    return std::count_if(sequences.begin(), sequences.end(), [&](const auto& entry) {
      return std::count(entry.second.blocks.begin(), entry.second.blocks.end(), block) > 0;
    });
  }
  // Cells that some living sequence reads.
  int64_t filled(const std::shared_ptr<Block>& block) const {
    int64_t most = 0;
    for (const auto& [id, sequence] : sequences) {
      for (size_t i = 0; i < sequence.blocks.size(); ++i) {
        if (sequence.blocks[i] != block) continue;
        const auto rest = static_cast<int64_t>(sequence.tokens.size() - i * size());
        most = std::max(most, std::min(rest, per_block_));
      }
    }
    return most;
  }

  std::vector<int64_t> spill(int64_t count) {
    std::map<int64_t, std::shared_ptr<Block>> by_age;
    for (const auto& block : all()) by_age[block->made] = block;
    for (const auto& [id, sequence] : sequences) {
      if (sequence.tokens.size() % size() != 0) by_age.erase(sequence.blocks.back()->made);
    }
    std::vector<int64_t> moved;
    for (const auto& [made, block] : by_age) {
      if (block->spilled || static_cast<int64_t>(moved.size()) >= count) continue;
      block->spilled = true;
      moved.push_back(made);
    }
    return moved;
  }

  void expect(const KvBlockUse& use) const {
    KvBlockUse want{.held = held(), .free = blocks_ - held()};
    int64_t references = 0;
    for (const auto& block : all()) {
      references += sharers(block);
      want.shared += sharers(block) > 1 ? 1 : 0;
      want.spilled += block->spilled ? 1 : 0;
      (block->spilled ? want.spilled_tokens : want.tokens) += filled(block);
    }
    for (const auto& [id, sequence] : sequences) {
      want.in_sequences += static_cast<int64_t>(sequence.tokens.size());
      std::vector<int64_t> held_tokens;
      for (const auto& block : sequence.blocks)
        held_tokens.insert(held_tokens.end(), block->tokens.begin(), block->tokens.end());
      held_tokens.resize(sequence.tokens.size());
      RC_ASSERT(held_tokens == sequence.tokens);  // the judge itself has lost nothing
    }
    want.reserved = Bytes::of(want.held * per_block_);
    want.used = Bytes::of(want.tokens);
    want.saved = Bytes::of((references - want.held - want.spilled) * per_block_);
    RC_ASSERT(use == want);
    RC_ASSERT(use.used <= use.reserved);
    RC_ASSERT(use.tokens + use.spilled_tokens <= use.in_sequences);
  }

 private:
  size_t size() const { return static_cast<size_t>(per_block_); }

  void append_one(Sequence& sequence) {
    const size_t fill = sequence.tokens.size() % size();
    if (fill == 0) {
      sequence.blocks.push_back(std::make_shared<Block>(Block{.made = made_++}));
    } else if (sharers(sequence.blocks.back()) > 1) {
      const std::vector<int64_t>& old = sequence.blocks.back()->tokens;
      Block own{.made = made_++};
      own.tokens.assign(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(fill));
      sequence.blocks.back() = std::make_shared<Block>(own);
    }
    sequence.blocks.back()->spilled = false;
    sequence.blocks.back()->tokens.resize(fill);
    sequence.blocks.back()->tokens.push_back(next_token_);
    sequence.tokens.push_back(next_token_++);
  }

  int64_t blocks_;
  int64_t per_block_;
  int64_t made_ = 0;
  int64_t next_token_ = 0;
};

std::vector<int64_t> numbers(const std::vector<KvBlockId>& ids) {
  std::vector<int64_t> all;
  for (const KvBlockId id : ids) all.push_back(id.value());
  return all;
}

TEST(KvBlockPoolLawsTest, CountsAsItsNaiveJudgeAndLeaksNothing) {
  EXPECT_TRUE(rc::check("pointers to lists of tokens", [] {
    const int64_t blocks = number(0, 12);
    const int64_t per_block = number(1, 5);
    KvBlockPool pool(
        {.blocks = blocks, .block_tokens = Tokens(per_block), .token_bytes = Bytes::of(1)});
    NaivePool judge(blocks, per_block);
    std::vector<SequenceId> ids;
    for (int64_t step = number(0, 40); step > 0; --step) {
      const int64_t what = number(0, 9);
      if (ids.empty() || what == 0) {
        ids.push_back(pool.start());
        judge.sequences[ids.back().value()] = {};
      } else {
        const auto at = static_cast<size_t>(number(0, static_cast<int64_t>(ids.size()) - 1));
        const SequenceId id = ids[at];
        if (what <= 5) {
          const int64_t count = number(0, 6);
          RC_ASSERT(pool.append(id, Tokens(count)).done == judge.append(id.value(), count));
        } else if (what <= 7) {
          const int64_t prefix = number(0, pool.length(id));
          ids.push_back(pool.fork(id, Tokens(prefix)));
          judge.fork(id.value(), prefix, ids.back().value());
        } else if (what == 8) {
          const int64_t count = number(0, 3);
          RC_ASSERT(numbers(pool.spill(count)) == judge.spill(count));
        } else {
          pool.end(id);
          judge.sequences.erase(id.value());
          ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at));
        }
      }
      judge.expect(pool.use());
    }
    for (const SequenceId id : ids) pool.end(id);
    RC_ASSERT(pool.use() == KvBlockUse{.free = blocks});
  }));
}

// The same lengths, once as forks of a common prompt and once each for itself.
TEST(KvBlockPoolLawsTest, SharingNeverRaisesWhatIsHeld) {
  EXPECT_TRUE(rc::check([] {
    const int64_t per_block = number(1, 8);
    const KvBlockOptions options{.blocks = 1000, .block_tokens = Tokens(per_block)};
    KvBlockPool shared(options);
    KvBlockPool apart(options);
    const int64_t prompt = number(0, 40);
    const SequenceId first = shared.start();
    shared.append(first, Tokens(prompt));
    apart.append(apart.start(), Tokens(prompt));
    for (int64_t i = number(0, 6); i > 0; --i) {
      const int64_t more = number(0, 20);
      shared.append(shared.fork(first, Tokens(prompt)), Tokens(more));
      apart.append(apart.start(), Tokens(prompt + more));
      RC_ASSERT(shared.use().held <= apart.use().held);
      RC_ASSERT(shared.use().tokens <= apart.use().tokens);
      RC_ASSERT(shared.use().in_sequences == apart.use().in_sequences);
    }
  }));
}

TEST(KvBufferTest, WorkedInTheHeader) {
  struct Row {
    KvGrowth growth{};
    int64_t reserved = 0, copied = 0, peak = 0;
  };
  for (const Row& row :
       {Row{KvGrowth::kLongest, 4096, 0, 4096}, Row{KvGrowth::kDoubling, 1024, 768, 1536},
        Row{KvGrowth::kSteps, 1024, 1536, 1792}}) {
    KvBuffer buffer({.growth = row.growth});
    int64_t copied = 0;
    int64_t peak = 0;
    for (int i = 0; i < 1000; ++i) {
      const KvGrown grown = buffer.append(Tokens(1));
      ASSERT_TRUE(grown.done);
      copied += grown.copied;
      peak = std::max(peak, grown.peak);
    }
    EXPECT_EQ(buffer.reserved(), row.reserved);
    EXPECT_EQ(copied, row.copied);
    EXPECT_EQ(peak, row.peak);
  }
}

TEST(KvBufferTest, ALongPromptNeedsOnePieceAndTheLongestIsKept) {
  for (const KvGrowth growth : kKvGrowths) {
    KvBuffer buffer({.growth = growth, .step = Tokens(100), .longest = Tokens(1050)});
    EXPECT_EQ(buffer.append(Tokens(350)).copied, 0);
    EXPECT_EQ(buffer.reserved(), growth == KvGrowth::kLongest ? 1050 : 400);
    EXPECT_TRUE(buffer.append(Tokens(700)).done);
    EXPECT_EQ(buffer.reserved(), 1050);
    EXPECT_FALSE(buffer.append(Tokens(1)).done);
    EXPECT_FALSE(buffer.append(Tokens(INT64_MAX)).done);
    EXPECT_EQ(buffer.length(), 1050);
  }
}

TEST(KvBufferTest, HoldsItsTokensAndCopiesLessThanTwoEachByDoubling) {
  EXPECT_TRUE(rc::check([] {
    const auto growth = kKvGrowths.at(static_cast<size_t>(number(0, 2)));
    KvBuffer buffer({.growth = growth, .step = Tokens(number(1, 50)), .longest = Tokens(2000)});
    int64_t copied = 0;
    while (true) {
      const KvGrown grown = buffer.append(Tokens(number(1, 200)));
      if (!grown.done) break;
      copied += grown.copied;
      RC_ASSERT(buffer.length() <= buffer.reserved());
      RC_ASSERT(buffer.reserved() <= 2000);
      RC_ASSERT(grown.peak >= grown.reserved);
      if (growth == KvGrowth::kDoubling) RC_ASSERT(copied < 2 * buffer.length());
    }
  }));
}

}  // namespace
}  // namespace tidemark

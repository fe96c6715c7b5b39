#include "sim/memory/kv_blocks.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "planner/base/check.h"
#include "planner/engine/kv_paging.h"

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

}  // namespace
}  // namespace tidemark

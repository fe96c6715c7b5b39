#include "sim/memory/kv_growth.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace tidemark {
namespace {

int64_t number(int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); }

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

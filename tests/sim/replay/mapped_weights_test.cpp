#include "sim/replay/mapped_weights.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/replay/mapping.h"

namespace tidemark {
namespace {

constexpr int64_t kPages = 64;

struct File {
  File() : scratch(::testing::TempDir()) {
    const std::vector<std::byte> page(static_cast<size_t>(page_size().count()), std::byte{7});
    for (int64_t i = 0; i < kPages; ++i) scratch.append(page);
  }
  ScratchFile scratch;
};

Interval<Bytes> pages(int64_t first, int64_t end) {
  return {page_size() * first, page_size() * end};
}

TEST(MappedWeightsTest, BeginsColdHoweverTheFileWasWritten) {
  const File file;
  const MappedWeights weights(file.scratch, false);
  EXPECT_EQ(weights.resident(), Bytes{});
  EXPECT_EQ(weights.end(), page_size() * kPages);
}

TEST(MappedWeightsTest, HoldsThePagesThatWereTouchedAndNoOthers) {
  const File file;
  const MappedWeights weights(file.scratch, false);
  weights.touch(pages(3, 5));
  EXPECT_EQ(weights.resident(), page_size() * 2);
  EXPECT_EQ(weights.resident(pages(3, 5)), page_size() * 2);
  weights.touch({page_size() * 10 + Bytes::of(1), page_size() * 10 + Bytes::of(2)});
  EXPECT_EQ(weights.resident(), page_size() * 3) << "a byte is a page";
  EXPECT_EQ(weights.bytes()[0], std::byte{7});
  EXPECT_EQ(weights.resident(), page_size() * 4) << "reading is touching";
}

TEST(MappedWeightsTest, WhatIsAskedForComesAndWhatIsDroppedGoes) {
  const File file;
  const MappedWeights weights(file.scratch, false);
  weights.ask_for(pages(0, 40));
  weights.wait_for(pages(0, 40));
  EXPECT_EQ(weights.resident(), page_size() * 40);
  weights.touch(pages(0, 40));
  weights.drop(pages(10, 30));
  EXPECT_EQ(weights.resident(pages(0, 10)), page_size() * 10);
  EXPECT_EQ(weights.resident(pages(10, 30)), Bytes{});
  weights.touch(pages(12, 13));
  EXPECT_EQ(weights.bytes()[static_cast<size_t>((page_size() * 12).count())], std::byte{7});
  EXPECT_EQ(weights.resident(), page_size() * 21);
}

TEST(MappedWeightsTest, WhatLiesPastTheEndIsLeftOut) {
  const File file;
  const MappedWeights weights(file.scratch, false);
  weights.ask_for(pages(60, 100));
  weights.touch(pages(60, 100));
  weights.drop(pages(200, 300));
  EXPECT_EQ(weights.resident(), page_size() * 4);
}

TEST(MappedWeightsTest, AWarmOneIsThereFromTheStart) {
  const File file;
  const MappedWeights weights(file.scratch, true);
  EXPECT_EQ(weights.resident(), page_size() * kPages);
}

}  // namespace
}  // namespace tidemark

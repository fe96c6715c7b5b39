#include "sim/replay/weight_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/kernels/rows.h"
#include "sim/replay/mapping.h"
#include "tiny.h"

namespace tidemark {
namespace {

using testing::plan_of;
using testing::tiny_scenario;

struct Written {
  explicit Written(const MemoryPlan& plan, uint64_t seed = 1,
                   const WeightFile::Progress& progress = nullptr)
      : layout(plan), source(seed, 2), file(plan.weights, source, ::testing::TempDir(), progress) {}

  LoadedPiece unit(UnitId id) const {
    LoadedPiece piece = pages_for(layout.extent(id));
    read_piece(file, layout.extent(id), piece.pages.bytes());
    return piece;
  }

  UnitLayout layout;
  MadeUpWeights source;
  WeightFile file;
};

TEST(WeightFileTest, HoldsTensorAfterTensorWithoutGaps) {
  const MemoryPlan plan = plan_of(tiny_scenario());
  int64_t written = 0;
  const Written weights(plan, 1, [&](int64_t done, int64_t total) {
    EXPECT_EQ(total, weight_file_bytes(plan));
    written = done;
    return true;
  });
  EXPECT_EQ(written, weight_file_bytes(plan));
  EXPECT_EQ(written, whole_pages(plan.weights.bytes).count());
  // token_embd 300 x 34 B = 10,200 B, so blk.0 begins within the third page of 4 KiB.
  ASSERT_EQ(plan.units.size(), 4U);
  EXPECT_EQ(weights.layout.extent(UnitId(0)), (Interval<Bytes>{Bytes{}, Bytes::of(10'200)}));
  EXPECT_EQ(weights.layout.extent(UnitId(1)).lower, Bytes::of(10'200));
  EXPECT_EQ(weights.layout.extent(UnitId(3)).upper, plan.weights.bytes);
  const WeightPlace& gain = weights.layout.place(plan.weights.find(WeightRole::kAttentionNorm, 1));
  EXPECT_EQ(gain.unit, UnitId(2));
  EXPECT_EQ(gain.offset, 0U);
  EXPECT_EQ(gain.bytes, 32U * 4U);
  const WeightPlace& query = weights.layout.place(plan.weights.find(WeightRole::kQuery, 1));
  EXPECT_EQ(query.offset, 128U);
  EXPECT_EQ(query.bytes, 32U * 34U);
}

// The same bytes of the file, whatever a strategy takes for a unit.
TEST(WeightFileTest, AChunkIsItsUnitsOneAfterTheOther) {
  const MemoryPlan plan = plan_of(tiny_scenario());
  const MemoryPlan chunked = plan_of(tiny_scenario(StrategyKind::kChunked));
  ASSERT_EQ(chunked.units.size(), 3U) << "token_embd-blk.0, blk.1, output";
  const Written whole(plan);
  const Written chunks(chunked);
  const LoadedPiece embedding = whole.unit(UnitId(0));
  const LoadedPiece first = whole.unit(UnitId(1));
  const LoadedPiece chunk = chunks.unit(UnitId(0));
  ASSERT_EQ(chunk.bytes.size(), embedding.bytes.size() + first.bytes.size());
  EXPECT_TRUE(std::equal(embedding.bytes.begin(), embedding.bytes.end(), chunk.bytes.begin()));
  EXPECT_TRUE(std::equal(first.bytes.rbegin(), first.bytes.rend(), chunk.bytes.rbegin()));
}

TEST(WeightFileTest, RowsAreInt8OfTheSizeTheRoleAsksFor) {
  const MemoryPlan plan = plan_of(tiny_scenario());
  const Written weights(plan);
  for (size_t i = 0; i < plan.weights.tensors.size(); ++i) {
    const WeightTensor& tensor = plan.weights.tensors[i];
    if (tensor.dtype != DType::kInt8) continue;
    const WeightPlace& place = weights.layout.place(WeightId::of(i));
    const LoadedPiece unit = weights.unit(place.unit);
    const std::span<const std::byte> bytes = unit.bytes.subspan(place.offset, place.bytes);
    double squares = 0.0;
    for (int64_t row = 0; row < tensor.rows; ++row) {
      const auto stored = row_of(bytes, row, stored_row_bytes(tensor.columns));
      for (const int8_t value : stored_values(stored)) {
        EXPECT_NE(value, -128);
        squares += std::pow(value * stored_scale(stored), 2);
      }
    }
    const double size = std::sqrt(squares / static_cast<double>(tensor.parameters()));
    const double wished = weight_scale(tensor, 2) * 127.0 / std::sqrt(3.0);
    EXPECT_NEAR(size / wished, 1.0, 0.05) << tensor.name;
  }
}

TEST(WeightFileTest, TheSeedDecidesAndNothingElse) {
  const MemoryPlan plan = plan_of(tiny_scenario());
  std::set<uint64_t> contents;
  for (const uint64_t seed : {1U, 1U, 2U}) {
    const Written weights(plan, seed);
    uint64_t sum = 0;
    for (size_t i = 0; i < plan.units.size(); ++i) {
      const LoadedPiece unit = weights.unit(UnitId::of(i));
      for (const std::byte byte : unit.bytes) sum = sum * 31 + std::to_integer<uint64_t>(byte);
    }
    contents.insert(sum);
  }
  EXPECT_EQ(contents.size(), 2U);
}

TEST(WeightFileTest, AFullDiskIsToldAsSuch) {
  // Where the system has it, a device on which every write fails for want of space.
  const MemoryPlan plan = plan_of(tiny_scenario());
  MadeUpWeights source(1, 2);
  EXPECT_THROW(WeightFile(plan.weights, source, "/dev/full", nullptr), std::system_error);
}

}  // namespace
}  // namespace tidemark

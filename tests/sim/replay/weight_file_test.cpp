#include "sim/replay/weight_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sim/kernels/rows.h"
#include "sim/replay/mapping.h"
#include "tiny.h"

namespace tidemark {
namespace {

using testing::plan_of;
using testing::tiny_scenario;

Mapping unit_of(const WeightFile& file, UnitId unit) {
  Mapping pages(file.unit_bytes(unit), Fault::kNow);
  file.read_unit(unit, pages.bytes());
  return pages;
}

TEST(WeightFileTest, HoldsEveryUnitOfThePlanFromAPageOn) {
  const MemoryPlan plan = plan_of(tiny_scenario());
  int64_t written = 0;
  const WeightFile file(plan, 1, 2, ::testing::TempDir(), [&](int64_t done, int64_t total) {
    EXPECT_EQ(total, weight_file_bytes(plan));
    written = done;
    return true;
  });
  EXPECT_EQ(written, weight_file_bytes(plan));
  // token_embd 300 x 34 B = 10,200 B: three pages of 4 KiB; each layer and the final norm whole
  // pages as well.
  ASSERT_EQ(plan.units.size(), 4U);
  EXPECT_EQ(plan.units[0].bytes, Bytes::of(300 * 34));
  int64_t pages = 0;
  for (const WeightUnit& unit : plan.units) pages += whole_pages(unit.bytes).count();
  EXPECT_EQ(written, pages);
  const WeightPlace& gain = file.place(plan.weights.find(WeightRole::kAttentionNorm, 1));
  EXPECT_EQ(gain.unit, UnitId(2));
  EXPECT_EQ(gain.offset, 0U);
  EXPECT_EQ(gain.bytes, 32U * 4U);
  const WeightPlace& query = file.place(plan.weights.find(WeightRole::kQuery, 1));
  EXPECT_EQ(query.offset, 128U);
  EXPECT_EQ(query.bytes, 32U * 34U);
}

TEST(WeightFileTest, RowsAreInt8OfTheSizeTheRoleAsksFor) {
  const MemoryPlan plan = plan_of(tiny_scenario());
  const WeightFile file(plan, 1, 2, ::testing::TempDir(), nullptr);
  for (size_t i = 0; i < plan.weights.tensors.size(); ++i) {
    const WeightTensor& tensor = plan.weights.tensors[i];
    if (tensor.dtype != DType::kInt8) continue;
    const WeightPlace& place = file.place(WeightId::of(i));
    const Mapping unit = unit_of(file, place.unit);
    const std::span<const std::byte> bytes = unit.bytes().subspan(place.offset, place.bytes);
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
    const WeightFile file(plan, seed, 2, ::testing::TempDir(), nullptr);
    uint64_t sum = 0;
    for (size_t i = 0; i < plan.units.size(); ++i) {
      const Mapping unit = unit_of(file, UnitId::of(i));
      for (const std::byte byte : unit.bytes()) sum = sum * 31 + std::to_integer<uint64_t>(byte);
    }
    contents.insert(sum);
  }
  EXPECT_EQ(contents.size(), 2U);
}

TEST(WeightFileTest, AFullDiskIsToldAsSuch) {
  // Where the system has it, a device on which every write fails for want of space.
  const MemoryPlan plan = plan_of(tiny_scenario());
  EXPECT_THROW(WeightFile(plan, 1, 2, "/dev/full", nullptr), std::system_error);
}

}  // namespace
}  // namespace tidemark

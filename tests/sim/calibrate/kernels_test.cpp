#include "sim/calibrate/kernels.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/calibrate/small_kernels.h"

namespace tidemark {
namespace {

// Which clock measures is not the kernels' business: each look at it is a microsecond later.
TEST(KernelsTest, EveryKindIsMeasuredOnce) {
  int64_t looks = 0;
  Rounds rounds(
      {.count = 1, .least = Duration::ns(1), .clock = [&looks] { return Duration::us(++looks); }});
  WeightPool pool(Bytes::of(int64_t{40} << 20));
  const KernelProbes probes(
      rounds, {.product_tokens = {1, 2}, .attention_tokens = {1}, .expert_tokens = {1}}, pool);
  rounds.run();
  std::multiset<OpKind> kinds;
  for (const MeasuredOp& op : probes.ops()) {
    EXPECT_GT(op.rate.rate, OpsPerSecond{}) << name_of(op.rate.kind);
    kinds.insert(op.rate.kind);
  }
  EXPECT_EQ(kinds, (std::multiset<OpKind>{OpKind::kMatMul, OpKind::kMatMul, OpKind::kFlashAttention,
                                          OpKind::kExpertMatMul, OpKind::kEmbed, OpKind::kRmsNorm,
                                          OpKind::kLayerNorm, OpKind::kAddBias, OpKind::kRope,
                                          OpKind::kStoreKv, OpKind::kAdd, OpKind::kSilu,
                                          OpKind::kActivation, OpKind::kMul, OpKind::kSelectRows}));
}

TEST(KernelsTest, APoolGoesRound) {
  const Bytes page = page_size();
  WeightPool pool(page * 2);
  const auto first = pool.next(page.count() - 60);
  const auto second = pool.next(page.count() - 60);  // on the next cache line
  EXPECT_EQ(second.data() - first.data(), page.count());
  EXPECT_EQ(pool.next(61).data(), first.data());  // 60 B are left
}

TEST(KernelsTest, SmallKernelsRunOnAnyNumberOfRows) {
  for (const SmallKernel& kernel : small_kernels()) {
    EXPECT_GT(kernel.row_outputs, 0) << name_of(kernel.kind);
    for (const int64_t rows : {1, 3}) kernel.make(rows)();
  }
}

}  // namespace
}  // namespace tidemark

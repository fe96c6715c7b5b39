#include "sim/kernels/isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planner/base/check.h"

namespace tidemark {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(IsaTest, NamesAreReadBack) {
  for (const Isa isa :
       {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512Vnni, Isa::kAmxInt8, Isa::kNeonDot}) {
    EXPECT_EQ(parse_isa(isa_name(isa)), isa);
  }
  EXPECT_EQ(parse_isa("avx512-vnni"), Isa::kAvx512Vnni);
  for (const std::string_view text : {"", "AVX2", "avx", "avx2 ", "best"}) {
    EXPECT_EQ(parse_isa(text), std::nullopt) << text;
  }
}

TEST(IsaTest, TheBaselineIsAlwaysThereAndTheBestIsLast) {
  const std::vector<Isa> isas = supported_isas();
  EXPECT_THAT(isas, Contains(Isa::kBaseline));
  EXPECT_TRUE(std::ranges::is_sorted(isas));
  EXPECT_EQ(isas.back(), best_isa());
  for (const Isa isa : isas) EXPECT_TRUE(supported(isa));
}

TEST(IsaTest, AWishForMoreThanThereIsGetsTheNextBelow) {
  EXPECT_EQ(best_isa_up_to(Isa::kBaseline), Isa::kBaseline);
  EXPECT_EQ(best_isa_up_to(Isa::kNeonDot), best_isa());
  for (const Isa isa : supported_isas()) EXPECT_EQ(best_isa_up_to(isa), isa);
}

TEST(IsaTest, TheEnvironmentHoldsTheLevelDownAndNeverUp) {
  EXPECT_EQ(isa_for_wish(nullptr), best_isa());
  EXPECT_EQ(isa_for_wish(""), best_isa());
  EXPECT_EQ(isa_for_wish("fastest"), best_isa());
  EXPECT_EQ(isa_for_wish("baseline"), Isa::kBaseline);
  EXPECT_EQ(isa_for_wish("neon-dot"), best_isa());  // the last of the list
  EXPECT_EQ(isa_for_wish("avx2"), supported(Isa::kAvx2) ? Isa::kAvx2 : Isa::kBaseline);
}

TEST(IsaTest, AHoldEndsWithItsScope) {
  const Isa before = isa_in_use();
  {
    const IsaHold outer(Isa::kBaseline);
    EXPECT_EQ(isa_in_use(), Isa::kBaseline);
    {
      const IsaHold inner(best_isa());
      EXPECT_EQ(isa_in_use(), best_isa());
    }
    EXPECT_EQ(isa_in_use(), Isa::kBaseline);
  }
  EXPECT_EQ(isa_in_use(), before);
}

TEST(IsaTest, OfTwoFamiliesAMachineHasOne) {
  EXPECT_FALSE(supported(Isa::kAvx2) && supported(Isa::kNeonDot));
  const Isa other = supported(Isa::kNeonDot) ? Isa::kAvx2 : Isa::kNeonDot;
  EXPECT_THROW(IsaHold{other}, InternalError);
}

}  // namespace
}  // namespace tidemark

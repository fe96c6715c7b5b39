#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/quant/quantize_file.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> formats_of(const QuantRequest& request) {
  const Result<QuantPlan> plan = read_quant_request(request);
  EXPECT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  std::vector<std::string> names;
  if (!plan) return names;
  for (const QuantScheme& scheme : plan->schemes) names.emplace_back(name_of(scheme.dtype));
  return names;
}

std::string problems_of(const QuantRequest& request) {
  return to_string(read_quant_request(request).diagnostics());
}

TEST(QuantRequestTest, TheDefault) {
  EXPECT_THAT(formats_of({}), ElementsAre("int8", "int4", "Q8_0", "Q4_0"));
  const Result<QuantPlan> plan = read_quant_request({});
  EXPECT_EQ(plan->rule, RangeRule{});
  EXPECT_EQ(plan->granularity, "channel");
  EXPECT_EQ(plan->range, "minmax");
  EXPECT_THAT(plan->notes, IsEmpty());
}

TEST(QuantRequestTest, GranularityAndZeroPointChangeBareIntegersAlone) {
  EXPECT_THAT(formats_of({.to = "int8, INT4,int8_g32 ,q4_0", .granularity = "group=64"}),
              ElementsAre("int8_g64", "int4_g64", "int8_g32", "Q4_0"));
  EXPECT_THAT(formats_of({.to = "int8,int4_tensor", .asymmetric = true}),
              ElementsAre("int8_channel_zp", "int4_tensor"));
  EXPECT_THAT(formats_of({.to = "int4", .granularity = "tensor"}), ElementsAre("int4_tensor"));
  // One word for all integers is there only when they are alike.
  EXPECT_EQ(read_quant_request({.to = "int4,q4_0"})->granularity, "channel");
  EXPECT_EQ(read_quant_request({.to = "int4,int4_g64"})->granularity, "");
}

TEST(QuantRequestTest, Ranges) {
  EXPECT_EQ(read_quant_request({.range = "mse"})->rule, RangeRule{.kind = RangeKind::kMse});
  EXPECT_EQ(read_quant_request({.range = "percentile=99.95"})->rule,
            (RangeRule{.kind = RangeKind::kPercentile, .percentile = 99.95}));
}

TEST(QuantRequestTest, SaysWhatDoesNothing) {
  const Result<QuantPlan> plan = read_quant_request(
      {.to = "q8_0", .granularity = "tensor", .range = "mse", .asymmetric = true});
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan->notes, ElementsAre(HasSubstr("--granularity and --asymmetric do nothing"),
                                       HasSubstr("--range does nothing")));
  EXPECT_EQ(plan->granularity, "");
  EXPECT_EQ(plan->range, "");
  EXPECT_FALSE(plan->asymmetric);
}

TEST(QuantRequestTest, EveryProblemByItsFlag) {
  EXPECT_THAT(problems_of({.to = "int9"}), HasSubstr("error: --to: \"int9\" is no format"));
  EXPECT_THAT(problems_of({.to = ""}), HasSubstr("error: --to: \"\" is no format"));
  EXPECT_THAT(problems_of({.to = "q4_k"}),
              HasSubstr("error: --to: the error of Q4_K cannot be measured here"));
  EXPECT_THAT(problems_of({.to = "q4_k"}),
              HasSubstr("these can: f16, bf16, Q8_0, Q4_0, int8 and int4"));
  EXPECT_THAT(problems_of({.to = "int8,q4_0,int8"}), HasSubstr("int8 is asked for twice"));
  EXPECT_THAT(problems_of({.to = "int8,int8_g64", .granularity = "group=64"}),
              HasSubstr("int8_g64 is asked for twice"));
  EXPECT_THAT(problems_of({.granularity = "group=48"}),
              HasSubstr("error: --granularity: no format has groups of 48"));
  for (const char* text : {"rows", "group=", "group=x", "group=64.5", ""}) {
    EXPECT_THAT(problems_of({.granularity = text}), HasSubstr("error: --granularity: ")) << text;
  }
  for (const char* text : {"max", "percentile=", "percentile=50", "percentile=101",
                           "percentile=99 %", "percentile=-1", "percentile=nan", ""}) {
    EXPECT_THAT(problems_of({.range = text}), HasSubstr("error: --range: ")) << text;
  }
  EXPECT_THAT(problems_of({.tensors = "a{2}"}), HasSubstr("error: --tensors: \"a{2}\": not a"));
}

TEST(QuantRequestTest, AllProblemsAtOnce) {
  const Result<QuantPlan> plan = read_quant_request(
      {.to = "int9,int8,int4", .granularity = "group=1", .range = "x", .tensors = "("});
  EXPECT_EQ(plan.diagnostics().size(), 4U) << to_string(plan.diagnostics());
}

}  // namespace
}  // namespace tidemark

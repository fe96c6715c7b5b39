#include "planner/engine/llama_cpp/llama_override.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark {
namespace {

using ::testing::HasSubstr;

// The index of the first that is found, or none.
std::optional<size_t> first_in(const std::vector<LlamaOverride>& overrides, std::string_view name) {
  for (size_t i = 0; i < overrides.size(); ++i) {
    if (overrides[i].pattern.found_in(name)) return i;
  }
  return std::nullopt;
}

TEST(LlamaOverrideTest, WorkedInTheHeader) {
  const auto made =
      parse_buffer_overrides(R"(blk\.([0-9]|1[0-9])\.ffn_.*_exps=CPU,attn_k=CUDA1)", 2).value();
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].device, std::nullopt);
  EXPECT_EQ(made[1].device, 1U);
  EXPECT_EQ(first_in(made, "blk.3.ffn_up_exps.weight"), 0U);
  EXPECT_EQ(first_in(made, "blk.3.attn_k.weight"), 1U);
  EXPECT_EQ(first_in(made, "blk.3.attn_k_norm.weight"), 1U);
  EXPECT_EQ(first_in(made, "blk.20.ffn_up_exps.weight"), std::nullopt);
}

TEST(LlamaOverrideTest, Buffers) {
  const auto device = [](std::string_view buffer) {
    return parse_buffer_overrides("a=" + std::string(buffer), 16).value().front().device;
  };
  EXPECT_EQ(device("CPU"), std::nullopt);
  for (const char* buffer : {"GPU", "GPU0", "CUDA0", "Metal", "MTL0", "Vulkan0"}) {
    EXPECT_EQ(device(buffer), 0U) << buffer;
  }
  EXPECT_EQ(device("ROCm15"), 15U);
}

// Groups that keep nothing are groups; an escaped parenthesis is none.
TEST(LlamaOverrideTest, GroupsThatKeepNothing) {
  const auto made = parse_buffer_overrides(R"(blk\.(?:1|2)\.ffn=CPU,a\(?b=CPU)", 1).value();
  EXPECT_TRUE(made[0].pattern.found_in("blk.2.ffn_up.weight"));
  EXPECT_FALSE(made[0].pattern.found_in("blk.3.ffn_up.weight"));
  EXPECT_TRUE(made[1].pattern.found_in("ab"));
  EXPECT_TRUE(made[1].pattern.found_in("a(b"));
}

TEST(LlamaOverrideTest, Refused) {
  const auto problem = [](std::string_view text) {
    return to_string(parse_buffer_overrides(text, 2).diagnostics());
  };
  EXPECT_THAT(problem("exps"), HasSubstr("\"exps\" is not PATTERN=BUFFER"));
  EXPECT_THAT(problem("=CPU"), HasSubstr("is not PATTERN=BUFFER"));
  EXPECT_THAT(problem("a=CPU,"), HasSubstr("\"\" is not PATTERN=BUFFER"));
  EXPECT_THAT(problem("(a=CPU"), HasSubstr("an unmatched ("));
  EXPECT_THAT(problem("a{2}=CPU"), HasSubstr("not a pattern of tensor names"));
  EXPECT_THAT(problem("a=CUP"), HasSubstr("\"CUP\" is no buffer"));
  EXPECT_THAT(problem("a=CUDA99999999999999999999"), HasSubstr("is no buffer"));
  EXPECT_THAT(problem("a=CUDA2"), HasSubstr("\"CUDA2\" is none of the 2 devices"));
  EXPECT_THAT(problem(std::string(201, 'a') + "=CPU"), HasSubstr("longer than 200"));
  // Both problems of one list.
  EXPECT_EQ(parse_buffer_overrides("x,y", 1).diagnostics().size(), 2U);
}

TEST(LlamaOverrideTest, AtMost32) {
  std::string list = "a=CPU";
  for (size_t i = 1; i < kMostLlamaOverrides; ++i) list += ",a=CPU";
  EXPECT_EQ(parse_buffer_overrides(list, 1)->size(), kMostLlamaOverrides);
  EXPECT_FALSE(parse_buffer_overrides(list + ",a=CPU", 1).ok());
}

// Nested repetitions cost no more than others: steps x characters.
TEST(LlamaOverrideTest, NoPatternIsSlow) {
  const auto made = parse_buffer_overrides("((a*)*)*((a*)*)*b=CPU", 1).value();
  EXPECT_FALSE(made[0].pattern.found_in(std::string(10'000, 'a')));
}

TEST(LlamaOverrideTest, MatricesOfExperts) {
  for (const char* name : {"blk.0.ffn_up_exps.weight", "blk.12.ffn_gate_exps.bias",
                           "blk.1.ffn_down_chexps.weight", "blk.1.ffn_gate_up_exps.weight"}) {
    EXPECT_TRUE(is_of_experts(name)) << name;
  }
  for (const char* name : {"blk.0.ffn_up_shexp.weight", "blk.0.ffn_gate_inp.weight",
                           "blk.0.ffn_up.weight", "blk.0.exp_probs_b.bias"}) {
    EXPECT_FALSE(is_of_experts(name)) << name;
  }
}

}  // namespace
}  // namespace tidemark

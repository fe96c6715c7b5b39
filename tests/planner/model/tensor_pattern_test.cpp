#include "planner/model/tensor_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <regex>
#include <string>

namespace tidemark {
namespace {

using ::testing::HasSubstr;

bool found(std::string_view pattern, std::string_view name) {
  return TensorPattern::parse(pattern).value().found_in(name);
}

struct FoundCase {
  std::string_view pattern{};
  std::string_view name{};
  bool found = false;
};

TEST(TensorPatternTest, FoundByHand) {
  const FoundCase cases[] = {
      {"attn_v", "blk.3.attn_v.weight", true},
      {"attn_v", "blk.3.attn_q.weight", false},
      {"ATTN_V", "blk.3.attn_v.weight", true},  // read in lower case
      {"attn_v", "blk.3.ATTN_V.weight", false},
      {"blk.3", "blk.33.ffn_up.weight", true},
      {"blk\\.3\\.", "blk.33.ffn_up.weight", false},
      {"^output", "output.weight", true},
      {"^output", "blk.0.attn_output.weight", false},
      {"weight$", "output.weight", true},
      {"output$", "output.weight", false},
      {"blk\\.([0-3]|1[02])\\.", "blk.12.ffn_up.weight", true},
      {"blk\\.([0-3]|1[02])\\.", "blk.11.ffn_up.weight", false},
      {"ffn_(up|gate)_exps", "blk.0.ffn_gate_exps.weight", true},
      {"ffn_(up|gate)_exps", "blk.0.ffn_down_exps.weight", false},
      {"blk\\.\\d+\\.ffn", "blk.123.ffn_up.weight", true},
      {"blk\\.\\d+\\.ffn", "blk..ffn_up.weight", false},
      {"attn_[^qk]\\.", "blk.0.attn_v.weight", true},
      {"attn_[^qk]\\.", "blk.0.attn_k.weight", false},
      {"ffn.*weight", "blk.0.ffn_up.weight", true},
      {"ab?c", "ac", true},
      {"ab+c", "ac", false},
      {"()", "anything", true},
      {"a|", "b", true},
      {"^$", "", true},
      {"^$", "x", false},
      {"[a-]x", "-x", true},
  };
  for (const FoundCase& c : cases) {
    EXPECT_EQ(found(c.pattern, c.name), c.found) << c.pattern << " in " << c.name;
  }
  EXPECT_TRUE(TensorPattern{}.found_in("anything"));
}

TEST(TensorPatternTest, WhatIsNotUnderstoodIsRefused) {
  for (const std::string text : {"", "a{2}", "(a", "a)", "[a", "*a", "a|*", "\\", "\\w", "[z-a]",
                                 "a\nb", "caf\xc3\xa9", "[a\\", "(?:a)"}) {
    const Result<TensorPattern> refused = TensorPattern::parse(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_THAT(refused.diagnostics().front().message, HasSubstr("not a pattern"));
  }
  EXPECT_FALSE(TensorPattern::parse(std::string(201, 'a')).ok());
  EXPECT_TRUE(TensorPattern::parse(std::string(200, 'a')).ok());
  EXPECT_FALSE(TensorPattern::parse(std::string(100, '(') + std::string(100, ')')).ok());
}

// Patterns that a backtracking matcher would not finish.
TEST(TensorPatternTest, HardPatternsAreQuick) {
  std::string pattern = "(((a*)*)*)*";
  for (int i = 0; i < 60; ++i) pattern += "a?";
  pattern += "b$";
  EXPECT_FALSE(found(pattern, std::string(500, 'a')));
}

// The standard library's engine, which llama-quantize uses, as the judge.
TEST(TensorPatternTest, AgreesWithTheStandardLibrary) {
  EXPECT_TRUE(rc::check("same answer as std::regex_search", [] {
    const std::string parts[] = {"a", "b", ".", "[ab]", "[^a]", "(a|b)", "(a|bc)", "c", "^", "$"};
    const std::string signs[] = {"", "", "*", "+", "?"};
    std::string pattern;
    const int length = *rc::gen::inRange(1, 6);
    for (int i = 0; i < length; ++i) {
      const std::string part =
          *rc::gen::elementOf(std::vector<std::string>(parts, std::end(parts)));
      pattern += part;
      if (part == "^" || part == "$") continue;
      pattern += *rc::gen::elementOf(std::vector<std::string>(signs, std::end(signs)));
      if (*rc::gen::inRange(0, 5) == 0) pattern += "|";
    }
    if (pattern.ends_with('|')) pattern += "a";
    const auto name = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc.")));
    RC_ASSERT(found(pattern, name) == std::regex_search(name, std::regex(pattern)));
  }));
}

}  // namespace
}  // namespace tidemark

#include "sim/sweep/axis_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<std::string>;

Values values_of(AxisKind kind, std::string_view text) {
  const Parsed<Values> parsed = axis_values(kind, text);
  if (const auto* error = std::get_if<UnitError>(&parsed)) {
    ADD_FAILURE() << text << ": " << error->message;
    return {};
  }
  return std::get<Values>(parsed);
}

struct Good {
  AxisKind kind = AxisKind::kNumber;
  std::string_view text{};
  Values values{};
};

TEST(AxisTextTest, WorkedExamples) {
  const Good rows[] = {
      {AxisKind::kNumber, "512", {"512"}},
      {AxisKind::kNumber, "512,1024-8192*2", {"512", "1024", "2048", "4096", "8192"}},
      {AxisKind::kNumber, "1-8+3", {"1", "4", "7"}},
      {AxisKind::kNumber, "1-4", {"1", "2", "3", "4"}},
      {AxisKind::kNumber, "512-1000*2", {"512"}},
      {AxisKind::kNumber, "7-7+1", {"7"}},
      {AxisKind::kNumber, "7-7*2", {"7"}},
      {AxisKind::kNumber, "0-4+2", {"0", "2", "4"}},
      {AxisKind::kNumber, "-4", {"-4"}},
      {AxisKind::kNumber, " 1 , 2-6*3 ", {"1", "2", "6"}},
      {AxisKind::kNumber, "8,4,8", {"8", "4"}},
      {AxisKind::kNumber, "512,512-2048*2", {"512", "1024", "2048"}},
      {AxisKind::kSize, "1 GiB,2 GiB", {"1 GiB", "2 GiB"}},
      {AxisKind::kCountOrSize, "8-32*2,1 GiB", {"8", "16", "32", "1 GiB"}},
      {AxisKind::kCountOrSize, "1 GiB-3 GiB+1 GiB", {"1 GiB", "2 GiB", "3 GiB"}},
      {AxisKind::kSize, "512 MiB-2 GiB*2", {"512 MiB", "1024 MiB", "2048 MiB"}},
      {AxisKind::kSize, "1GB-2 GB+500 MB", {"1 GB", "1500000000 B", "2 GB"}},
      {AxisKind::kSize, "1.5 GiB-3 GiB*2", {"1610612736 B", "3 GiB"}},
      {AxisKind::kName, "int4,Q4_0", {"int4", "Q4_0"}},
      {AxisKind::kName, "llama-3.1-8b", {"llama-3.1-8b"}},
      {AxisKind::kName, "3-8*2,double-buffer", {"3-8*2", "double-buffer"}},
      {AxisKind::kWhole, "token_embd,blk.0", {"token_embd,blk.0"}},
  };
  for (const Good& row : rows) EXPECT_EQ(values_of(row.kind, row.text), row.values) << row.text;
}

struct Bad {
  AxisKind kind = AxisKind::kNumber;
  std::string_view text{};
  std::string_view message{};
  std::string_view hint{};
};

TEST(AxisTextTest, EveryMistakeIsNamedWithAWayOut) {
  const Bad rows[] = {
      {AxisKind::kNumber, "", "no value", "between commas"},
      {AxisKind::kName, "a,,b", "empty value", "between commas"},
      {AxisKind::kName, "a,", "empty value", "between commas"},
      {AxisKind::kNumber, "8-4*2", "ends at 4, below its start 8", "write 4-8*2"},
      {AxisKind::kNumber, "1-8+0", "never ends", "+N"},
      {AxisKind::kNumber, "1-8*0", "never ends", "*N"},
      {AxisKind::kNumber, "1-8*1", "never ends", "*2"},
      {AxisKind::kNumber, "0-8*2", "cannot start at 0", "0,1-8*2"},
      {AxisKind::kNumber, "1-8+-1", "the step -1 is negative", "counts upwards"},
      {AxisKind::kNumber, "1-8*-2", "the step -2 is negative", "counts upwards"},
      {AxisKind::kNumber, "1--8+1", "no negative end", "one by one"},
      {AxisKind::kNumber, "1-8*x", "x", ""},
      {AxisKind::kNumber, "1-8*", "1-8*", ""},
      {AxisKind::kNumber, "1-", "1-", ""},
      {AxisKind::kNumber, "1-99999999999999999999*2", "99999999999999999999", ""},
      {AxisKind::kNumber, "1-1000001", "more than 1,000,000 values", "larger step"},
      {AxisKind::kNumber, "1-9223372036854775807", "more than 1,000,000 values", "larger step"},
      {AxisKind::kNumber, "1-600000,1-600000", "more than 1,000,000 values", "larger step"},
      {AxisKind::kSize, "1-4*2", "1", ""},
      {AxisKind::kCountOrSize, "1-4 GiB*2", "4 GiB", ""},
      {AxisKind::kCountOrSize, "1 GiB-4*2", "4", ""},
      {AxisKind::kSize, "1 G-4 G*2", "ambiguous", "GiB"},
      {AxisKind::kSize, "1 GiB-4 GiB", "no step", "1 GiB-4 GiB*2"},
      {AxisKind::kSize, "1 GiB-4 GiB*2 GiB", "2 GiB", ""},
      {AxisKind::kSize, "1 GiB-4 GiB+1", "1", ""},
  };
  for (const Bad& row : rows) {
    const Parsed<Values> parsed = axis_values(row.kind, row.text);
    const auto* error = std::get_if<UnitError>(&parsed);
    ASSERT_NE(error, nullptr) << row.text;
    EXPECT_THAT(error->message, HasSubstr(std::string(row.message))) << row.text;
    EXPECT_THAT(error->hint, HasSubstr(std::string(row.hint))) << row.text;
  }
}

TEST(AxisTextTest, ARangeUpToTheLargestNumberEnds) {
  const Values values = values_of(AxisKind::kNumber, "1-9223372036854775807*2");
  ASSERT_EQ(values.size(), 63u);
  EXPECT_EQ(values.back(), "4611686018427387904");
  EXPECT_EQ(values_of(AxisKind::kNumber, "9223372036854775806-9223372036854775807+5"),
            (Values{"9223372036854775806"}));
}

TEST(AxisTextTest, AsManyValuesAsAllowedAreAllowed) {
  EXPECT_EQ(values_of(AxisKind::kNumber, "1-1000000").size(), 1000000u);
}

// The definition, counted naively.
TEST(AxisTextTest, ARangeHasEveryValueOfItsDefinition) {
  EXPECT_TRUE(rc::check([] {
    const int64_t first = *rc::gen::inRange<int64_t>(1, 200);
    const int64_t last = *rc::gen::inRange<int64_t>(first, 2000);
    const bool factor = *rc::gen::arbitrary<bool>();
    const int64_t step = *rc::gen::inRange<int64_t>(factor ? 2 : 1, 50);
    Values expected;
    for (int64_t value = first; value <= last; value = factor ? value * step : value + step) {
      expected.push_back(std::to_string(value));
    }
    const std::string text = std::to_string(first) + "-" + std::to_string(last) +
                             (factor ? "*" : "+") + std::to_string(step);
    RC_ASSERT(std::get<Values>(axis_values(AxisKind::kNumber, text)) == expected);
  }));
}

TEST(AxisTextTest, NoTextCrashesIt) {
  EXPECT_TRUE(rc::check([] {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("0123456789-+*, GiMB.\x80\n")));
    for (const AxisKind kind :
         {AxisKind::kName, AxisKind::kNumber, AxisKind::kSize, AxisKind::kCountOrSize}) {
      const Parsed<Values> parsed = axis_values(kind, text);
      if (const auto* values = std::get_if<Values>(&parsed)) RC_ASSERT(!values->empty());
    }
  }));
}

}  // namespace
}  // namespace tidemark

#include "planner/base/diagnostic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "planner/base/check.h"
#include "planner/base/result.h"

namespace tidemark {
namespace {

TEST(DiagnosticTest, NamesPlacePathMessageAndHint) {
  const Diagnostic diagnostic{.where = {"configs/models/x.yaml", 12, 14},
                              .path = "n_head_kv",
                              .message = "7 does not divide n_head 32",
                              .hint = "grouped-query attention needs a divisor"};
  EXPECT_EQ(to_string(diagnostic),
            "configs/models/x.yaml:12:14: error: n_head_kv: 7 does not divide n_head 32\n"
            "  hint: grouped-query attention needs a divisor\n");
}

TEST(DiagnosticTest, PrintsOnlyWhatIsKnown) {
  EXPECT_EQ(to_string(Diagnostic{.message = "no"}), "error: no\n");
  EXPECT_EQ(to_string(Diagnostic{.where = {.file = "x.yaml"}, .message = "no"}),
            "x.yaml: error: no\n");
  EXPECT_EQ(
      to_string(Diagnostic{.severity = Severity::kWarning, .path = "--seed", .message = "hm"}),
      "warning: --seed: hm\n");
}

TEST(DiagnosticTest, AListIsPrintedOneAfterTheOther) {
  const Diagnostics two{{.message = "a"}, {.message = "b"}};
  EXPECT_EQ(to_string(two), "error: a\nerror: b\n");
}

TEST(DiagnosticTest, WarningsAreNoErrors) {
  EXPECT_FALSE(has_errors({}));
  EXPECT_FALSE(has_errors({{.severity = Severity::kWarning}}));
  EXPECT_TRUE(has_errors({{.severity = Severity::kWarning}, {.severity = Severity::kError}}));
  EXPECT_TRUE(has_errors(one_error("--seed", "no")));
}

TEST(DiagnosticTest, QuotedTextIsSafeToPrint) {
  EXPECT_EQ(in_quotes("int4"), "\"int4\"");
  EXPECT_EQ(in_quotes("a\nb\x7f"), "\"a\\x0ab\\x7f\"");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), "\"" + std::string(60, 'x') + "\"");
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "\"" + std::string(60, 'x') + "...\"");
  // 59 x and a three-byte letter: the cut falls before the letter, not inside it.
  EXPECT_EQ(in_quotes(std::string(59, 'x') + "\xe2\x82\xac"),
            "\"" + std::string(59, 'x') + "...\"");
}

TEST(ResultTest, HoldsAValueOrTheProblems) {
  const Result<int> good = 7;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 7);
  EXPECT_TRUE(good.diagnostics().empty());
  const Result<int> bad = one_error("--seed", "no");
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.diagnostics(), one_error("--seed", "no"));
}

TEST(ResultTest, GivesUpAValueThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 3);
}

TEST(ResultTest, MisuseIsABug) {
  const Result<int> bad = one_error("--seed", "no");
  EXPECT_THROW(bad.value(), InternalError);
  EXPECT_THROW(Result<int>(Diagnostics{}), InternalError);
  EXPECT_THROW(Result<int>(Diagnostics{{.severity = Severity::kWarning}}), InternalError);
}

TEST(CheckTest, ThrowsWithTheCallersPlace) {
  EXPECT_NO_THROW(check(true, "fine"));
  try {
    check(false, "time went backwards");
    FAIL() << "check did not throw";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("diagnostic_test.cpp:"));
    EXPECT_THAT(error.what(), testing::HasSubstr("time went backwards"));
  }
}

}  // namespace
}  // namespace tidemark

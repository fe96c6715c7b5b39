#include "planner/compare/log_text.h"

#include <gtest/gtest.h>

#include <array>

namespace tidemark {
namespace {

TEST(LogTextTest, WorkedInTheHeader) {
  const std::string line = clean_line("\x1b[34m1.14.608 I llama_context: n_ctx     = 4096\r");
  EXPECT_EQ(line, "1.14.608 I llama_context: n_ctx     = 4096");
  constexpr std::array<std::string_view, 1> kTags{"llama_context"};
  const auto found = tagged(line, kTags);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->tag, "llama_context");
  EXPECT_EQ(found->body, "n_ctx     = 4096");
  const auto pair = assignment(found->body);
  ASSERT_TRUE(pair.has_value());
  EXPECT_EQ(pair->first, "n_ctx");
  EXPECT_EQ(pair->second, "4096");
  // 164.01 x 1,048,576 = 171,976,949.8; half of 0.01 MiB = 5,242.9
  EXPECT_EQ(figure("164.01 MiB"), (LoggedFigure{171'976'950, 5'243}));
}

TEST(LogTextTest, FiguresByTheirUnit) {
  EXPECT_EQ(figure("5.1 GiB"), (LoggedFigure{5'476'083'302, 53'687'092}));  // 5.1 x 2^30
  EXPECT_EQ(figure("147.37 MB"), (LoggedFigure{147'370'000, 5'000}));
  EXPECT_EQ(figure("140.54 MB", true), (LoggedFigure{147'366'871, 5'243}));  // as MiB
  EXPECT_EQ(figure("0 B"), (LoggedFigure{0, 0}));
  EXPECT_EQ(figure("411.0 MiB)"), (LoggedFigure{430'964'736, 52'429}));
  EXPECT_EQ(figure("67.7229 GB", true)->value, 72'716'910'173);
}

TEST(LogTextTest, NoFigures) {
  for (const char* text : {"", " ", "MiB", ".5 MiB", "-3 MiB", "12", "12 MiBs", "nan MiB",
                           "99999999999999999999 MiB", "1e9 GiB"}) {
    EXPECT_EQ(figure(text), std::nullopt) << text;
  }
}

TEST(LogTextTest, ListsAndSingleNumbers) {
  EXPECT_EQ(integers("[8, 8, 4]"), (std::vector<int64_t>{8, 8, 4}));
  EXPECT_EQ(integers("32 layers"), (std::vector<int64_t>{32}));
  EXPECT_EQ(integers("[]"), std::vector<int64_t>{});
  EXPECT_EQ(integers("none"), std::vector<int64_t>{});
}

TEST(LogTextTest, ATagIsAWholeWordAnywhereInTheLine) {
  constexpr std::array<std::string_view, 2> kTags{"init", "main"};
  EXPECT_TRUE(tagged("srv 12:00:01 init: kv_size = 1", kTags).has_value());
  EXPECT_FALSE(tagged("whisper_init: kv_size = 1", kTags).has_value());
  EXPECT_FALSE(tagged("init = 1", kTags).has_value());
}

TEST(LogTextTest, EscapesCutShortEndWithTheLine) {
  EXPECT_EQ(clean_line("a\x1b["), "a");
  EXPECT_EQ(clean_line("a\x1b"), "a");
  EXPECT_EQ(clean_line("\x1b]0;title"), "0;title");
  EXPECT_EQ(clean_line("> > x"), "x");
}

TEST(LogTextTest, LinesAreCountedFromOneAndBounded) {
  std::vector<std::pair<int64_t, size_t>> seen;
  each_log_line(
      std::string("a\n\n") + std::string(20'000, 'x') + "\nend",
      [&](int64_t number, const std::string& line) { seen.emplace_back(number, line.size()); });
  EXPECT_EQ(seen, (std::vector<std::pair<int64_t, size_t>>{
                      {1, 1}, {2, 0}, {3, kLongestLogLine}, {4, 3}}));
}

}  // namespace
}  // namespace tidemark

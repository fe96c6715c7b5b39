#include "sim/strategy/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Request> parsed(std::string_view text) {
  const Result<std::vector<Request>> requests = parse_requests("t.csv", text);
  EXPECT_TRUE(requests.ok()) << to_string(requests.diagnostics());
  return requests.ok() ? *requests : std::vector<Request>{};
}

std::string refused(std::string_view text) {
  const Result<std::vector<Request>> requests = parse_requests("t.csv", text);
  EXPECT_FALSE(requests.ok());
  return to_string(requests.diagnostics());
}

TEST(RequestsTest, WorkedInTheHeader) {
  EXPECT_THAT(parsed("arrival_ms,prompt,generate,prefix,prefix_tokens\n"
                     "0,900,20,chat,512\n"
                     "12.5,700,40,chat,512\n"
                     "13,80,10,,\n"),
              ElementsAre(Request{.prompt = 900, .generate = 20, .prefix = 0, .prefix_tokens = 512},
                          Request{.arrival = Duration::us(12'500),
                                  .prompt = 700,
                                  .generate = 40,
                                  .prefix = 0,
                                  .prefix_tokens = 512},
                          Request{.arrival = Duration::ms(13), .prompt = 80, .generate = 10}));
}

TEST(RequestsTest, ColumnsInAnyOrderCommentsBlanksAndTheLineEndsOfOtherSystems) {
  EXPECT_THAT(parsed("\xEF\xBB\xBFgenerate, arrival_ms ,prompt\r\n# later\r\n\r\n3, 2 ,1\r\n5,1,4"),
              ElementsAre(Request{.arrival = Duration::ms(1), .prompt = 4, .generate = 5},
                          Request{.arrival = Duration::ms(2), .prompt = 1, .generate = 3}));
}

TEST(RequestsTest, EqualArrivalsStayAsTheyStand) {
  const std::vector<Request> requests =
      parsed("arrival_ms,prompt,generate\n7,1,1\n0.000001,2,1\n7,3,1\n7,4,1\n");
  EXPECT_EQ(requests.front().arrival, Duration::ns(1));
  EXPECT_THAT(std::vector<int64_t>({requests[1].prompt, requests[2].prompt, requests[3].prompt}),
              ElementsAre(1, 3, 4));
}

TEST(RequestsTest, EachMistakeIsToldAtItsPlace) {
  EXPECT_EQ(refused("arrival_ms,prompt,generate,prefix,prefix_tokens\n"
                    "1e3,10,5,,\n"
                    "0,0,5,,\n"
                    "0,10,16777217,,\n"
                    "0,10,5\n"
                    "0,10,5,chat,\n"
                    "0,10,5,chat,10\n"),
            "t.csv:2:1: error: requests: \"1e3\" is not a time in milliseconds\n"
            "  hint: such as 1500 or 0.25, with six decimals at most\n"
            "t.csv:3:3: error: requests: \"0\" is not a number of tokens for prompt\n"
            "  hint: from 1 to 16,777,216\n"
            "t.csv:4:6: error: requests: \"16777217\" is not a number of tokens for generate\n"
            "  hint: from 1 to 16,777,216\n"
            "t.csv:5:1: error: requests: has 3 fields, the header 5\n"
            "t.csv:6:8: error: requests: prefix and prefix_tokens go together\n"
            "  hint: give a short name and a number of tokens, or leave both empty\n"
            "t.csv:7:13: error: requests: a prefix of 10 tokens is not shorter than the prompt of "
            "10\n"
            "  hint: the last token of a prompt is always computed\n");
}

TEST(RequestsTest, AHeaderThatIsNoneIsToldByWhatItShouldBe) {
  EXPECT_THAT(refused("0,10,5\n"), HasSubstr("t.csv:1:1: error: requests: \"0\" is not a column"));
  EXPECT_THAT(refused("arrival_ms,prompt\n"), HasSubstr("the column generate is missing"));
  EXPECT_THAT(refused("prompt,prompt\n"), HasSubstr("1:8: error: requests: prompt stands there"));
  EXPECT_THAT(refused("arrival_ms,prompt,generate,prefix\n"), HasSubstr("go together"));
  EXPECT_THAT(refused(""), HasSubstr("there are no requests"));
  EXPECT_THAT(refused("arrival_ms,prompt,generate\n"), HasSubstr("there are no requests"));
}

TEST(RequestsTest, AThousandMistakesAreNotAThousandMessages) {
  std::string text = "arrival_ms,prompt,generate\n";
  for (int i = 0; i < 1000; ++i) text += "x,1,1\n";
  EXPECT_EQ(parse_requests("t.csv", text).diagnostics().size(), 20U);
}

// 20,000 draws: the mean of an exponential number is within 3 standard errors, 3 / sqrt(20,000) =
// 2.1 %, of its own; of a uniform one on 1 .. 199 (deviation 57.4) within 1.2 tokens.
TEST(RequestsTest, DrawnRequestsKeepTheirMeans) {
  const std::vector<Request> requests = draw_requests({.count = 20'001,
                                                       .per_million_seconds = 2'500'000,
                                                       .prompt = Tokens(100),
                                                       .generate = Tokens(1),
                                                       .seed = 7});
  ASSERT_EQ(requests.size(), 20'001U);
  EXPECT_EQ(requests.front().arrival, Duration{});
  EXPECT_NEAR(static_cast<double>(requests.back().arrival.count()) / 20'000, 4e8, 4e8 * 0.021);
  int64_t prompts = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    prompts += requests[i].prompt;
    EXPECT_TRUE(requests[i].prompt >= 1 && requests[i].prompt <= 199);
    EXPECT_EQ(requests[i].generate, 1);
    EXPECT_GE(requests[i].arrival, requests[i == 0 ? 0 : i - 1].arrival);
  }
  EXPECT_NEAR(static_cast<double>(prompts) / 20'001, 100.0, 1.3);
}

// Half of all exponential numbers lie below ln 2.
TEST(RequestsTest, HalfOfTheGapsAreShorterThanTheirMedian) {
  const std::vector<Request> requests = draw_requests({.count = 20'001, .seed = 3});
  int64_t shorter = 0;
  for (size_t i = 1; i < requests.size(); ++i) {
    const Duration gap = requests[i].arrival - requests[i - 1].arrival;
    if (gap < Duration::ns(693'147'181)) ++shorter;
  }
  EXPECT_NEAR(static_cast<double>(shorter), 10'000.0, 3 * 71.0);  // sqrt(20,000) / 2 = 71
}

TEST(RequestsTest, ASeedIsARun) {
  const RequestDraw draw{.count = 50, .prompt = Tokens(40), .generate = Tokens(9), .seed = 1};
  RequestDraw other = draw;
  other.seed = 2;
  EXPECT_EQ(draw_requests(draw), draw_requests(draw));
  EXPECT_NE(draw_requests(draw), draw_requests(other));
}

TEST(RequestsTest, ARequestLongerThanTheContextIsRefusedWithTheContextThatWouldDo) {
  Scenario scenario = testing::decoder_scenario(1, StrategyKind::kResident);
  scenario.n_seq = 4;  // 64 cells each
  scenario.serving = {.file = "t.csv", .text = "arrival_ms,prompt,generate\n0,60,5\n"};
  EXPECT_TRUE(requests_of(scenario).ok());
  scenario.serving.text = "arrival_ms,prompt,generate\n0,60,6\n";
  EXPECT_EQ(to_string(requests_of(scenario).diagnostics()),
            "error: requests: the longest needs 65 cells, a sequence has 64\n"
            "  hint: raise ctx_size to 260\n");
}

}  // namespace
}  // namespace tidemark

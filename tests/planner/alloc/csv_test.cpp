#include "planner/alloc/csv.h"

#include <gtest/gtest.h>

#include "problems.h"

namespace tidemark {
namespace {

std::string errors(std::string_view text) {
  const Result<CsvProblem> read = read_csv(text, "x.csv");
  return read ? "none" : to_string(read.diagnostics());
}

TEST(CsvTest, AllColumns) {
  const auto read = read_csv(
      "id,lower,upper,size,alignment,gaps,offset,hint\nb1,0,9,100,64,2-4 6-7,-1,0\n", "x.csv");
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  const Buffer& b = read->problem.buffers.at(0);
  EXPECT_EQ(b.name, "b1");
  EXPECT_EQ(b.alignment.count(), 64);
  EXPECT_EQ(b.offset, std::nullopt);
  EXPECT_EQ(b.hint, Bytes{});
  const std::vector<Interval<int64_t>> live{{0, 2}, {4, 6}, {7, 9}};
  EXPECT_EQ(occupied_intervals(b), live);
}

// "end" is the last instant at which a buffer is live, also of a gap: [0,9] is [0,10).
TEST(CsvTest, ClosedEndsAreOneLater) {
  const auto read = read_csv("buffer,start,end,size,gaps\r\na,0,9,4,3-5\r\n\r\n", "x.csv");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->closed_ends);
  EXPECT_EQ(read->problem.buffers[0].lifetime, (Interval<int64_t>{0, 10}));
  EXPECT_EQ(read->problem.buffers[0].gaps[0], (Interval<int64_t>{3, 6}));
  EXPECT_EQ(write_csv(read->problem, nullptr, true), "id,start,end,size,gaps\na,0,9,4,3-5\n");
}

TEST(CsvTest, WhatIsWrittenReadsBack) {
  Problem problem = five_buffers();
  problem.buffers[0].alignment = Alignment::of(8);
  problem.buffers[1].gaps = {{4, 5}, {6, 8}};
  problem.buffers[2].offset = Bytes::of(16);
  problem.buffers[3].hint = Bytes::of(4);
  const std::string text = write_csv(problem);
  const auto read = read_csv(text, "x.csv");
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(write_csv(read->problem), text);
  const Plan made{.offsets = bytes({0, 8, 16, 24, 32})};
  EXPECT_EQ(write_csv(five_buffers(), &made).substr(0, 40),
            "id,lower,upper,size,offset\nb1,0,3,4,0\nb2");
}

TEST(CsvTest, ErrorsNameLineAndColumn) {
  EXPECT_EQ(errors(""), "x.csv: error: no header\n  hint: id,lower,upper,size\n");
  EXPECT_EQ(errors("id,lower,upper\n"), "x.csv:1:1: error: size: the column is missing\n");
  EXPECT_EQ(errors("id,lower,upper,size\na,0,9\n"),
            "x.csv:2:1: error: 3 fields, the header has 4\n");
  EXPECT_EQ(errors("id,lower,upper,size\na,0,9,4\na,0,9,4\n"),
            "x.csv:3:1: error: id: \"a\" is also the buffer of line 2\n");
  EXPECT_EQ(errors("id,lower,upper,size\na,0,9,-4\n"),
            "x.csv:2:7: error: size: \"-4\" is no integer from 0 to 9007199254740992\n");
  EXPECT_EQ(errors("id,lower,upper,size\na,9,0,4\n"),
            "x.csv:2:1: error: upper: ends at 0, before its start 9\n");
  EXPECT_EQ(errors("id,lower,upper,size,alignment\na,0,9,4,3\n"),
            "x.csv:2:9: error: alignment: 3 is no power of two\n");
}

}  // namespace
}  // namespace tidemark

#include "planner/report/stage_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "planner/report/writers.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Line breaks and indents as one space.
std::string flowing(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const char shown = c == '\n' ? ' ' : c;
    if (shown != ' ' || (!out.empty() && out.back() != ' ')) out += shown;
  }
  return out;
}

SimReport sample() {
  SimReport report;
  report.end = Duration::s(4);
  report.stages = {.read = Duration::ms(432),
                   .compute = Duration::s(3),
                   .arithmetic = Duration::ms(600),
                   .memory = Duration::ms(2'370),
                   .overhead = Duration::ms(30),
                   .limited_by = "compute"};
  return report;
}

TEST(StageTextTest, WhatOpsWaitedForTheLongestFirst) {
  SimReport report = sample();
  EXPECT_EQ(flowing(stage_line(report)),
            "Stages busy: read 432 ms, compute 3.00 s (memory 2.37 s, arithmetic 600 ms, overhead "
            "30.0 ms); limited by compute (memory) ");
  report.stages.limited_by = "read";
  report.stages.overhead = {};
  EXPECT_EQ(flowing(stage_line(report)),
            "Stages busy: read 432 ms, compute 3.00 s (memory 2.37 s, arithmetic 600 ms); limited "
            "by read ");
  report.stages.memory = report.stages.arithmetic = {};
  EXPECT_EQ(flowing(stage_line(report)),
            "Stages busy: read 432 ms, compute 3.00 s; limited by read ");
  EXPECT_EQ(compute_limited_by(report.stages), "");
}

// The worked example of planner/capacity/device_energy.h: 7.76 J in 4 s.
TEST(StageTextTest, EnergyAndItsParts) {
  SimReport report = sample();
  EXPECT_EQ(energy_line(report), "");
  report.energy = EnergyFacts{.compute_microjoules = 6'500'000,
                              .memory_microjoules = 200'000,
                              .storage_microjoules = 60'000,
                              .idle_microjoules = 1'000'000};
  EXPECT_EQ(flowing(energy_line(report)),
            "Energy 7.76 J: compute 6.50 J, memory 200 mJ, storage 60.0 mJ, idle 1.00 J; a mean of "
            "1.94 W ");
  report.energy = EnergyFacts{.memory_microjoules = 999};
  EXPECT_THAT(flowing(energy_line(report)), HasSubstr("Energy 999 uJ: compute 0 uJ"));
}

TEST(StageTextTest, DocumentsHaveTheKeysWhereTheyAreKnown) {
  SimReport report = sample();
  const std::string split = to_json(std::span<const SimReport>(&report, 1));
  EXPECT_THAT(split, HasSubstr("\"compute_limited_by\": \"memory\""));
  EXPECT_THAT(split, HasSubstr("\"arithmetic_ns\": 600000000"));
  EXPECT_THAT(split, Not(HasSubstr("\"energy\"")));
  report.stages = {.limited_by = "compute"};
  report.energy = EnergyFacts{.compute_microjoules = 2, .idle_microjoules = 3};
  const std::string bare = to_json(std::span<const SimReport>(&report, 1));
  EXPECT_THAT(bare, Not(HasSubstr("arithmetic_ns")));
  EXPECT_THAT(bare, HasSubstr("\"total_uj\": 5"));
}

}  // namespace
}  // namespace tidemark

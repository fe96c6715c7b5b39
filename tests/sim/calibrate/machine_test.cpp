#include "sim/calibrate/machine.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(MachineTest, MeminfoByHand) {
  const MemoryFacts facts = parse_meminfo(
      "MemTotal:       24684092 kB\nMemFree:  1 kB\nMemAvailable:   23482732 kB\n"
      "SwapTotal:             8 kB\n");
  EXPECT_EQ(facts.total, Bytes::of(24'684'092 * int64_t{1024}));
  EXPECT_EQ(facts.available, Bytes::of(23'482'732 * int64_t{1024}));
  EXPECT_EQ(facts.swap, Bytes::of(8192));
}

TEST(MachineTest, WhatIsMissingOrNoNumberIsZero) {
  for (const char* text : {"", "MemTotal:", "MemTotal: many kB", "MemTotal: -5 kB",
                           "MemTotal: 99999999999999999999 kB", "MemTotal: 9000000000000000 kB"}) {
    EXPECT_EQ(parse_meminfo(text).total, Bytes{}) << text;
  }
}

TEST(MachineTest, TheFirstProcessorsName) {
  EXPECT_EQ(parse_cpu_name("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name : other\n"),
            "Some CPU @ 2 GHz");
  EXPECT_EQ(parse_cpu_name("Hardware : board\n"), "");
}

TEST(MachineTest, ThisMachineHasMemoryAndACore) {
  EXPECT_GT(memory_facts().total, Bytes{});
  EXPECT_LE(memory_facts().available, memory_facts().total);
  EXPECT_GE(cores(), 1);
}

}  // namespace
}  // namespace tidemark

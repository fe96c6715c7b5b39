#include "sim/replay/system_text.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(SystemTextTest, TheRestOfALine) {
  const std::string text = "model name\t: Some CPU @ 2 GHz\nVmHWM:\t      8 kB\nempty:\nlast 7";
  EXPECT_EQ(line_after(text, "model name"), "Some CPU @ 2 GHz");
  EXPECT_EQ(line_after(text, "VmHWM:"), "8 kB");
  EXPECT_EQ(line_after(text, "empty:"), "");
  EXPECT_EQ(line_after(text, "last "), "7");
  EXPECT_EQ(line_after(text, "name"), "") << "a line begins with its key";
  EXPECT_EQ(line_after("", "key"), "");
}

TEST(SystemTextTest, Numbers) {
  EXPECT_EQ(leading_number("123\n"), 123);
  EXPECT_EQ(leading_number("0"), 0);
  for (const char* none : {"", "max\n", "-1", " 5", "99999999999999999999"}) {
    EXPECT_EQ(leading_number(none), std::nullopt) << none;
  }
}

TEST(SystemTextTest, Kibibytes) {
  EXPECT_EQ(kib_in("  8 kB"), Bytes::of(8192));
  EXPECT_EQ(kib_after("A: 1 kB\nB:\t2 kB\n", "B:"), Bytes::of(2048));
  for (const char* none : {"", "many kB", "-5 kB", "9000000000000000 kB"}) {
    EXPECT_EQ(kib_in(none), std::nullopt) << none;
  }
}

TEST(SystemTextTest, WhatCannotBeReadIsEmpty) {
  EXPECT_NE(line_after(system_text("/proc/self/status"), "Name:"), "");
  EXPECT_EQ(system_text("/proc/no-such-file"), "");
  EXPECT_EQ(system_text("/proc"), "");
}

}  // namespace
}  // namespace tidemark

#include "sim/replay/mapping.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/replay/resident.h"

namespace tidemark {
namespace {

using literals::operator""_KiB;

TEST(MappingTest, IsResidentAtOnceOrPageByPage) {
  ResidentReader reader;
  const Bytes size = page_size() * 100;
  const Mapping now(size, Fault::kNow);
  const Mapping on_touch(size, Fault::kOnTouch);
  EXPECT_EQ(reader.resident(std::array{now.range()}), size);
  EXPECT_EQ(reader.resident(std::array{on_touch.range()}), Bytes{});
  on_touch.bytes()[0] = std::byte{1};
  on_touch.bytes().back() = std::byte{1};
  EXPECT_EQ(reader.resident(std::array{on_touch.range()}), page_size() * 2);
  EXPECT_EQ(reader.resident(std::array{now.range(), on_touch.range()}), size + page_size() * 2);
}

TEST(MappingTest, RoundsUpToPagesAndStandsAlone) {
  ResidentReader reader;
  std::vector<Mapping> mappings;
  for (int64_t i = 1; i <= 8; ++i) mappings.emplace_back(Bytes::of(i), Fault::kNow);
  for (const Mapping& mapping : mappings) {
    EXPECT_EQ(Bytes::of(std::ssize(mapping.bytes())), page_size());
    EXPECT_EQ(reader.resident(std::array{mapping.range()}), page_size());
  }
  EXPECT_TRUE(Mapping(Bytes{}, Fault::kNow).bytes().empty());
}

TEST(MappingTest, IsReleasedWhenItGoesAndOnlyThen) {
  ResidentReader reader;
  Mapping first(page_size() * 10, Fault::kNow);
  const AddressRange range = first.range();
  Mapping second = std::move(first);
  EXPECT_EQ(reader.resident(std::array{range}), page_size() * 10);
  second = Mapping();
  EXPECT_EQ(reader.resident(std::array{range}), Bytes{});
}

TEST(MappingTest, BothWaysOfCountingAgree) {
  ResidentReader reader;
  std::vector<unsigned char> answer;
  Mapping mapping(page_size() * 2000, Fault::kOnTouch);
  const std::array ranges{mapping.range()};
  for (const size_t page : {0U, 1U, 700U, 1999U}) {
    mapping.bytes()[page * static_cast<size_t>(page_size().count())] = std::byte{1};
    const std::array other{AddressRange{}, mapping.range()};
    const Bytes rss = ResidentReader().resident(ranges);
    EXPECT_EQ(resident_by_mincore(ranges, answer), rss);
    EXPECT_EQ(reader.resident(ranges), rss);
    EXPECT_EQ(reader.resident(other), rss);
  }
  mapping = Mapping();
  EXPECT_EQ(resident_by_mincore(ranges, answer), std::nullopt);
}

TEST(ResidentInSmapsTest, AddsTheMappingsInsideTheRanges) {
  const std::string_view smaps =
      "1000-3000 rw-p 00000000 00:00 0 \nSize:   8 kB\nRss:                   8 kB\nPss: 3 kB\n"
      "3000-4000 ---p 00000000 00:00 0 \nRss:                   0 kB\n"
      "a000-e000 rw-p 00000000 00:00 0    [heap]\nRss:                  12 kB\nVmFlags: rd wr\n"
      "f000-ff000 r--p 00000000 00:00 0 /a file\nRss:    900 kB";
  const auto resident = [&](std::vector<AddressRange> ranges) {
    return resident_in_smaps(smaps, ranges);
  };
  EXPECT_EQ(resident({{0x1000, 0x3000}}), 8_KiB);
  EXPECT_EQ(resident({{0x1000, 0x4000}, {0xA000, 0xE000}}), 20_KiB);
  EXPECT_EQ(resident({{0x1000, 0x2000}}), Bytes{}) << "half of a mapping is not ours";
  EXPECT_EQ(resident({{0xF000, 0xFF000}}), 900_KiB);
  EXPECT_EQ(resident({}), Bytes{});
  EXPECT_EQ(resident_in_smaps("", std::array{AddressRange{0, 1}}), Bytes{});
}

TEST(ProcessPeakTest, CoversWhatIsHeld) {
  reset_process_peak();
  const Mapping held(page_size() * 4096, Fault::kNow);
  const std::optional<Bytes> peak = process_peak();
  ASSERT_TRUE(peak.has_value());
  EXPECT_GE(*peak, page_size() * 4096);
}

TEST(TakeAndGiveBackTest, TakesAllOfItUnlessStopped) {
  const Bytes size = page_size() * 16'384;
  const auto most_held = [&](const std::atomic<bool>& stop) {
    EXPECT_TRUE(reset_process_peak());
    const Bytes before = process_peak().value();
    take_and_give_back(size, &stop);
    return process_peak().value() - before;
  };
  if (available_memory().value_or(Bytes{}) < size * 4) GTEST_SKIP() << "too little memory here";
  EXPECT_LT(most_held(true), size / 2);
  EXPECT_GE(most_held(false), size * 9 / 10);
}

}  // namespace
}  // namespace tidemark

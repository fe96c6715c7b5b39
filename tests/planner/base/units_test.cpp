// The spellings of quantities, as tables.
#include "planner/base/units.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace tidemark {
namespace {

struct Accepted {
  std::string_view text{};
  int64_t count = 0;
};

struct Refused {
  std::string_view text{};
  std::string_view message{};
  std::string_view hint{};
};

template <typename T>
void expect_accepted(Parsed<T> (*parse)(std::string_view), const std::vector<Accepted>& table) {
  for (const Accepted& row : table) {
    const Parsed<T> parsed = parse(row.text);
    const T* value = std::get_if<T>(&parsed);
    ASSERT_NE(value, nullptr) << row.text << ": " << std::get<UnitError>(parsed).message;
    EXPECT_EQ(value->count(), row.count) << row.text;
  }
}

template <typename T>
void expect_refused(Parsed<T> (*parse)(std::string_view), const std::vector<Refused>& table) {
  for (const Refused& row : table) {
    const Parsed<T> parsed = parse(row.text);
    const UnitError* error = std::get_if<UnitError>(&parsed);
    ASSERT_NE(error, nullptr) << row.text << " was accepted";
    EXPECT_EQ(error->message, row.message) << row.text;
    EXPECT_EQ(error->hint, row.hint) << row.text;
  }
}

TEST(UnitsIn, SizesAccepted) {
  expect_accepted<Bytes>(parse_bytes,
                         {
                             {"0 B", 0},
                             {"1 B", 1},
                             {"1023B", 1023},
                             {"1 kB", 1000},
                             {"1 KiB", 1024},
                             {"512KiB", 524288},
                             {"512   KiB", 524288},
                             {"500 MB", 500000000},
                             {"500 MiB", 524288000},
                             {"3.5 GB", 3500000000},
                             {"1.5 GiB", 1610612736},
                             {"8.5 MiB", 8912896},
                             {"0.5 KiB", 512},
                             {"2.50 kB", 2500},
                             {"1 TB", 1000000000000},
                             {"1 TiB", 1099511627776},
                             {"0.000001 MB", 1},
                             {"9223372036854775807 B", std::numeric_limits<int64_t>::max()},
                             {"9223372.036854775807 TB", std::numeric_limits<int64_t>::max()},
                             {"8388607 TiB", 9223370937343148032},
                         });
}

TEST(UnitsIn, SizesRefused) {
  constexpr std::string_view kExample = "write a number and a unit: 512 MiB, 3.5 GB";
  constexpr std::string_view kUnits =
      "units are B, kB MB GB TB (powers of 1000) and KiB MiB GiB TiB (powers of 1024)";
  constexpr std::string_view kRange = "a size stays below 2^63 bytes";
  expect_refused<Bytes>(
      parse_bytes,
      {
          {"", "\"\" is not a size", kExample},
          {"lots", "\"lots\" is not a size", kExample},
          {"MiB", "\"MiB\" is not a size", kExample},
          {" 1 MiB", "\" 1 MiB\" is not a size", kExample},
          {".5 GiB", "\".5 GiB\" is not a size", kExample},
          {"+1 GiB", "\"+1 GiB\" is not a size", kExample},
          {"-1 GiB", "\"-1 GiB\" is negative", "a size is not negative"},
          {"512", "\"512\" has no unit", kExample},
          {"010 MiB", "\"010 MiB\" has a leading zero", kExample},
          {"512 G", "\"512 G\" has the ambiguous unit \"G\"",
           "write 512 GiB (1024^3) or 512 GB (1000^3); they are 7.4 % apart"},
          {"512 M", "\"512 M\" has the ambiguous unit \"M\"",
           "write 512 MiB (1024^2) or 512 MB (1000^2); they are 4.9 % apart"},
          {"4k", "\"4k\" has the ambiguous unit \"k\"",
           "write 4 KiB (1024^1) or 4 kB (1000^1); they are 2.4 % apart"},
          {"4 KB", "\"4 KB\" has the ambiguous unit \"KB\"",
           "write 4 KiB (1024^1) or 4 kB (1000^1); they are 2.4 % apart"},
          {"1 T", "\"1 T\" has the ambiguous unit \"T\"",
           "write 1 TiB (1024^4) or 1 TB (1000^4); they are 10 % apart"},
          {"8 gb", "\"8 gb\" has the ambiguous unit \"gb\"",
           "write 8 GiB (1024^3) or 8 GB (1000^3); they are 7.4 % apart"},
          {"8 Gb", "\"8 Gb\" has the ambiguous unit \"Gb\"",
           "write 8 GiB (1024^3) or 8 GB (1000^3); they are 7.4 % apart"},
          {"8 gib", "\"8 gib\" has the ambiguous unit \"gib\"",
           "write 8 GiB (1024^3) or 8 GB (1000^3); they are 7.4 % apart"},
          {"8 GBytes", "\"8 GBytes\" has the ambiguous unit \"GBytes\"",
           "write 8 GiB (1024^3) or 8 GB (1000^3); they are 7.4 % apart"},
          {"8 b", "\"8 b\" has the unknown unit \"b\"", kUnits},
          {"8 PiB", "\"8 PiB\" has the unknown unit \"PiB\"", kUnits},
          {"8 GB/s", "\"8 GB/s\" has the unknown unit \"GB/s\"", kUnits},
          {"1e3 MB", "\"1e3 MB\" has the unknown unit \"e3 MB\"", kUnits},
          {"1. GB", "\"1. GB\" has the unknown unit \". GB\"", kUnits},
          {"0x10 B", "\"0x10 B\" has the unknown unit \"x10 B\"", kUnits},
          {"1 GB ", "\"1 GB \" has the unknown unit \"GB \"", kUnits},
          {"1,024 B", "\"1,024 B\" has separators between digits", "write the digits alone"},
          {"1_024 B", "\"1_024 B\" has separators between digits", "write the digits alone"},
          {"0.3 B", "\"0.3 B\" is not a whole number of bytes", "the nearest is 0 B"},
          {"3.44 GiB", "\"3.44 GiB\" is not a whole number of bytes",
           "the nearest is 3693671875 B"},
          {"8388608 TiB", "\"8388608 TiB\" is out of range", kRange},
          {"9223372036854775808 B", "\"9223372036854775808 B\" is out of range", kRange},
          {"99999999999999999999999 TiB", "\"99999999999999999999999 TiB\" is out of range",
           kRange},
          {"1000000000000000000000000 B", "\"1000000000000000000000000 B\" has too many digits",
           "at most 23 are read"},
      });
}

TEST(UnitsIn, RatesAccepted) {
  expect_accepted<BytesPerSecond>(
      parse_bandwidth,
      {{"4 GB/s", 4000000000}, {"900 MiB/s", 943718400}, {"3.19 GB/s", 3190000000}, {"1B/s", 1}});
  expect_accepted<OpsPerSecond>(parse_compute_rate, {{"1339 GOPS", 1339000000000},
                                                     {"2 TOPS", 2000000000000},
                                                     {"1.5 kOPS", 1500},
                                                     {"7 MOPS", 7000000},
                                                     {"1 OPS", 1}});
}

TEST(UnitsIn, RatesRefused) {
  constexpr std::string_view kPerSecond = "write bytes per second: 4 GB/s, 900 MB/s";
  expect_refused<BytesPerSecond>(
      parse_bandwidth, {{"4 GB", "\"4 GB\" is not a rate", kPerSecond},
                        {"4 Gbps", "\"4 Gbps\" is not a rate", kPerSecond},
                        {"fast", "\"fast\" is not a rate", kPerSecond},
                        {"4/s", "\"4/s\" has no unit", kPerSecond},
                        {"0 GB/s", "\"0 GB/s\" is not positive", "a rate is greater than zero"},
                        {"-4 GB/s", "\"-4 GB/s\" is negative", "a rate is not negative"},
                        {"4 G/s", "\"4 G/s\" has the ambiguous unit \"G\"",
                         "write 4 GiB/s (1024^3) or 4 GB/s (1000^3); they are 7.4 % apart"},
                        {"0.5 B/s", "\"0.5 B/s\" is not a whole number of bytes per second",
                         "the nearest is 1 B/s"}});
  constexpr std::string_view kOps =
      "units are OPS kOPS MOPS GOPS TOPS; one multiply-add counts as two";
  expect_refused<OpsPerSecond>(
      parse_compute_rate,
      {{"1339 GFLOPS", "\"1339 GFLOPS\" has the unknown unit \"GFLOPS\"", kOps},
       {"2 T", "\"2 T\" has the unknown unit \"T\"", kOps},
       {"1339", "\"1339\" has no unit", "write operations per second: 1339 GOPS, 2 TOPS"},
       {"0 GOPS", "\"0 GOPS\" is not positive", "a rate is greater than zero"}});
}

TEST(UnitsIn, Times) {
  expect_accepted<Duration>(
      parse_duration,
      {{"0 ns", 0}, {"170 us", 170000}, {"1.5 ms", 1500000}, {"2 s", 2000000000}, {"0.25us", 250}});
  constexpr std::string_view kUnits = "units are ns, us, ms and s";
  expect_refused<Duration>(
      parse_duration,
      {{"170", "\"170\" has no unit", "write a number and a unit: 170 us, 1.5 ms"},
       {"170 \xc2\xb5s", "\"170 \xc2\xb5s\" has the unknown unit \"\xc2\xb5s\"", kUnits},
       {"1 min", "\"1 min\" has the unknown unit \"min\"", kUnits},
       {"-1 s", "\"-1 s\" is negative", "a time is not negative"},
       {"0.1 ns", "\"0.1 ns\" is not a whole number of nanoseconds", "the nearest is 0 ns"}});
}

TEST(UnitsIn, WholeNumbers) {
  const auto value = [](std::string_view text) { return std::get<int64_t>(parse_integer(text)); };
  EXPECT_EQ(value("0"), 0);
  EXPECT_EQ(value("4096"), 4096);
  EXPECT_EQ(value("-1"), -1);
  EXPECT_EQ(value("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  const auto message = [](std::string_view text) {
    return std::get<UnitError>(parse_integer(text)).message;
  };
  for (const std::string_view text : {"", "-", "+1", "0x10", "0o10", "1e3", "4_096", "4,096", "4.0",
                                      "4k", " 4", "4 ", "~", "null", "--4"}) {
    EXPECT_EQ(message(text), "\"" + std::string(text) + "\" is not a whole number");
  }
  for (const std::string_view text : {"010", "00", "-01", "-0"}) {
    EXPECT_EQ(message(text), "\"" + std::string(text) + "\" has a leading zero");
  }
  EXPECT_EQ(message("9223372036854775808"), "\"9223372036854775808\" is out of range");
}

TEST(UnitsIn, Ratios) {
  const auto value = [](std::string_view text) { return std::get<double>(parse_ratio(text)); };
  EXPECT_EQ(value("10 %"), 0.1);
  EXPECT_EQ(value("10%"), 0.1);
  EXPECT_EQ(value("12.3 %"), 0.123);
  EXPECT_EQ(value("0.1"), 0.1);
  EXPECT_EQ(value("0"), 0.0);
  EXPECT_EQ(value("250 %"), 2.5);
  for (const std::string_view text :
       {"", "%", "-10 %", "-0.1", "1e-1", ".inf", "inf", "nan", ".nan", "0.1 x", "10 percent",
        "010 %", "1.", "10 %%", "0.1 "}) {
    EXPECT_TRUE(std::holds_alternative<UnitError>(parse_ratio(text))) << text;
  }
  const Parsed<double> huge = parse_ratio(std::string(400, '9'));
  EXPECT_EQ(std::get<UnitError>(huge).message,
            "\"" + std::string(60, '9') + "...\" is out of range");
}

TEST(UnitsOut, MemoryInBinaryUnits) {
  const auto text = [](int64_t count) { return format_bytes(Bytes::of(count)); };
  EXPECT_EQ(text(0), "0 B");
  EXPECT_EQ(text(1023), "1023 B");
  EXPECT_EQ(text(1024), "1.00 KiB");
  EXPECT_EQ(text(1536), "1.50 KiB");
  EXPECT_EQ(text(10235), "10.0 KiB");  // 9.995 KiB: rounding moves the point
  EXPECT_EQ(text(102348), "99.9 KiB");
  EXPECT_EQ(text(102349), "100 KiB");  // 99.95 KiB
  EXPECT_EQ(text(102400), "100 KiB");
  EXPECT_EQ(text(1048063), "1023 KiB");
  EXPECT_EQ(text(1048064), "1.00 MiB");  // 1023.5 KiB
  EXPECT_EQ(text(3693092864), "3.44 GiB");
  EXPECT_EQ(text(std::numeric_limits<int64_t>::max()), "8388608 TiB");
  EXPECT_EQ(text(-1536), "-1.50 KiB");
  EXPECT_EQ(text(std::numeric_limits<int64_t>::min()), "-8388608 TiB");
}

TEST(UnitsOut, ExactBytesBesideTheRoundedOnes) {
  EXPECT_EQ(format_bytes_exact(Bytes::of(3693092864)), "3.44 GiB (3,693,092,864 B)");
  EXPECT_EQ(format_bytes_exact(Bytes::of(1023)), "1023 B");
  EXPECT_EQ(format_bytes_exact(Bytes::of(-1024)), "-1.00 KiB (-1,024 B)");
}

TEST(UnitsOut, SignedBytes) {
  EXPECT_EQ(format_signed_bytes(Bytes::of(1288490189)), "+1.20 GiB");
  EXPECT_EQ(format_signed_bytes(Bytes::of(-327155712)), "-312 MiB");
  EXPECT_EQ(format_signed_bytes(Bytes{}), "0 B");
}

TEST(UnitsOut, RatesTimesAndCounts) {
  EXPECT_EQ(format_bandwidth(BytesPerSecond::of(3190000000)), "3.19 GB/s");
  EXPECT_EQ(format_bandwidth(BytesPerSecond::of(999)), "999 B/s");
  EXPECT_EQ(format_bandwidth(BytesPerSecond::of(999500)), "1.00 MB/s");
  EXPECT_EQ(format_duration(Duration::ns(12)), "12 ns");
  EXPECT_EQ(format_duration(Duration::us(789)), "789 us");
  EXPECT_EQ(format_duration(Duration::us(45600)), "45.6 ms");
  EXPECT_EQ(format_duration(Duration::ms(1234)), "1.23 s");
  EXPECT_EQ(format_duration(Duration::s(4321)), "4321 s");
  EXPECT_EQ(format_duration(Duration::ms(-2)), "-2.00 ms");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(2724880896), "2,724,880,896");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_count(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

// Counts of every magnitude, not only small ones.
int64_t any_count() {
  return *rc::gen::arbitrary<int64_t>() >> *rc::gen::inRange(0, 63) & INT64_MAX;
}

// Three significant digits: off by at most half of the third.
bool is_close(int64_t read, int64_t written) {
  const auto difference = static_cast<double>(read) - static_cast<double>(written);
  return std::abs(difference) <= 0.005001 * static_cast<double>(written);
}

TEST(UnitsRoundTrip, ExactBytesComeBackExactly) {
  EXPECT_TRUE(rc::check([] {
    const int64_t count = any_count();
    const std::string_view unit =
        *rc::gen::element<std::string_view>("B", "KiB", "MiB", "kB", "MB");
    const int64_t factor = std::get<Bytes>(parse_bytes("1 " + std::string(unit))).count();
    const int64_t number = count / factor;
    const Parsed<Bytes> parsed = parse_bytes(std::to_string(number) + std::string(unit));
    RC_ASSERT(std::get<Bytes>(parsed).count() == number * factor);
  }));
}

// A printed size need not be a whole number of bytes; the hint then names the nearest one.
TEST(UnitsRoundTrip, PrintedSizesComeBackWithinRounding) {
  EXPECT_TRUE(rc::check([] {
    const int64_t count = std::min(any_count(), int64_t{1} << 62);
    const std::string text = format_bytes(Bytes::of(count));
    Parsed<Bytes> parsed = parse_bytes(text);
    if (const auto* error = std::get_if<UnitError>(&parsed)) {
      parsed = parse_bytes(error->hint.substr(std::string("the nearest is ").size()));
    }
    RC_ASSERT(is_close(std::get<Bytes>(parsed).count(), count));
  }));
}

TEST(UnitsRoundTrip, PrintedRatesAndTimesComeBackWithinRounding) {
  EXPECT_TRUE(rc::check([] {
    const int64_t count = std::min(any_count(), int64_t{1} << 62) | 1;
    const Parsed<BytesPerSecond> rate =
        parse_bandwidth(format_bandwidth(BytesPerSecond::of(count)));
    RC_ASSERT(is_close(std::get<BytesPerSecond>(rate).count(), count));
    const Parsed<Duration> time = parse_duration(format_duration(Duration::ns(count)));
    RC_ASSERT(is_close(std::get<Duration>(time).count(), count));
  }));
}

TEST(UnitsRoundTrip, NoTextMakesAParserThrow) {
  EXPECT_TRUE(rc::check([] {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::element('0', '1', '9', '.', '-', '+', ' ', 'G', 'M', 'k', 'i', 'B', 'b', 's', '/',
                         '%', 'e', '\0', '\xff'));
    parse_bytes(text);
    parse_bandwidth(text);
    parse_compute_rate(text);
    parse_duration(text);
    parse_integer(text);
    parse_ratio(text);
  }));
}

}  // namespace
}  // namespace tidemark

#include "planner/base/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

namespace tidemark {
namespace {

using testing::HasSubstr;

// One gzip member, by the library's own compressor.
std::string gzip(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

// "tidemark\n", packed by gzip 1.12 with -n9 and stored here byte by byte: header, a deflate block
// of fixed codes, CRC 32 and length 9.
constexpr unsigned char kStored[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                     0x2b, 0xc9, 0x4c, 0x49, 0xcd, 0x4d, 0x2c, 0xca, 0xe6, 0x02,
                                     0x00, 0x2e, 0x0f, 0xb3, 0x70, 0x09, 0x00, 0x00, 0x00};

std::string stored() { return {reinterpret_cast<const char*>(kStored), sizeof kStored}; }

std::string error_of(const std::string& bytes, int64_t limit = 1 << 20) {
  const Result<std::string> read = gunzip(bytes, Bytes::of(limit), "x.gz");
  return read ? "" : to_string(read.diagnostics());
}

TEST(GzipTest, UnpacksWhatGzipPacked) {
  EXPECT_EQ(gunzip(stored(), Bytes::of(9), "x.gz").value(), "tidemark\n");
}

TEST(GzipTest, UnpacksMembersOneAfterTheOther) {
  const std::string large(200'000, 'a');
  const std::string packed = gzip("one ") + gzip("") + gzip(large) + gzip(" end");
  EXPECT_EQ(gunzip(packed, Bytes::of(1 << 20), "x.gz").value(), "one " + large + " end");
}

TEST(GzipTest, RefusesMoreThanTheLimitHoweverSmallTheFile) {
  const std::string bomb = gzip(std::string(10'000'000, '\0'));
  EXPECT_LT(bomb.size(), 20'000U);
  EXPECT_EQ(error_of(bomb, 1 << 20),
            "x.gz: error: unpacks to more than the 1.00 MiB this reader accepts\n");
  EXPECT_EQ(error_of(stored(), 8),
            "x.gz: error: unpacks to more than the 8 B this reader accepts\n");
}

TEST(GzipTest, NamesWhatIsWrong) {
  EXPECT_EQ(error_of(""), "x.gz: error: no gzip data\n");
  EXPECT_EQ(error_of("id\tkind\n"), "x.gz: error: no gzip data\n");
  EXPECT_EQ(error_of(stored() + "abc"), "x.gz: error: 3 bytes after the gzip data\n");
  std::string other_sum = stored();
  other_sum[other_sum.size() - 5] ^= 1;  // in the CRC
  EXPECT_EQ(error_of(other_sum), "x.gz: error: the gzip data is damaged\n");
  std::string other_method = stored();
  other_method[2] = 7;
  EXPECT_EQ(error_of(other_method), "x.gz: error: the gzip data is damaged\n");
}

TEST(GzipTest, NoticesEveryCut) {
  const std::string whole = stored();
  for (size_t length = 2; length < whole.size(); ++length) {
    EXPECT_EQ(error_of(whole.substr(0, length)), "x.gz: error: the gzip data is cut off\n")
        << length;
  }
}

TEST(GzipTest, ReadsFilesPackedOrNot) {
  const std::filesystem::path path = testing::TempDir() + "gzip_test_file";
  for (const std::string& content : {stored(), std::string("tidemark\n")}) {
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_EQ(read_file_or_gzip(path, Bytes::of(100)).value(), "tidemark\n");
  }
  std::filesystem::remove(path);
  EXPECT_THAT(to_string(read_file_or_gzip(path, Bytes::of(100)).diagnostics()),
              HasSubstr("gzip_test_file: error: cannot open: no such file"));
}

}  // namespace
}  // namespace tidemark

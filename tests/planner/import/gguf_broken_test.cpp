// Every diagnostic about a GGUF file, by the file that gives it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "byte_text.h"

namespace tidemark {
namespace {

using testing::ByteText;
using testing::parse_gguf;

constexpr uint64_t kU8 = 0, kU32 = 4, kBool = 7, kText = 8, kArray = 9, kU64 = 10;
constexpr const char* kFetchAgain = "  hint: the file was cut off or is damaged: fetch it again\n";

std::string problems_of(const ByteText& file) {
  return to_string(parse_gguf(file.bytes()).diagnostics());
}

TEST(GgufBrokenTest, NotOneOfOurFiles) {
  EXPECT_EQ(problems_of(ByteText().raw("GG")),
            std::string("x.gguf: error: byte 0: the file ends inside the first four bytes\n") +
                kFetchAgain);
  EXPECT_EQ(problems_of(ByteText().raw("GGML").zeros(20)),
            "x.gguf: error: byte 0: not a GGUF file: it does not begin with \"GGUF\"\n"
            "  hint: was the download cut short or its name changed?\n");
  EXPECT_EQ(problems_of(ByteText().raw("version https://git-lfs.github.com/spec/v1\noid sha256:0")),
            "x.gguf: error: byte 0: not a GGUF file: it does not begin with \"GGUF\"\n"
            "  hint: this is Git LFS's pointer to the file, not the file: fetch it with `git lfs "
            "pull`\n");
  EXPECT_EQ(problems_of(ByteText().raw("GGUF")),
            std::string("x.gguf: error: byte 4: the file ends inside the version\n") + kFetchAgain);
  EXPECT_EQ(problems_of(ByteText().gguf(0, 0, 1)),
            "x.gguf: error: byte 4: GGUF version 1 is not read, only 2 and 3\n"
            "  hint: convert the model again with a current converter\n");
  EXPECT_EQ(problems_of(ByteText().gguf(0, 0, 0)),
            "x.gguf: error: byte 4: GGUF version 0 is not read, only 2 and 3\n"
            "  hint: convert the model again with a current converter\n");
  EXPECT_EQ(problems_of(ByteText().gguf(0, 0, 4)),
            "x.gguf: error: byte 4: GGUF version 4 is not read, only 2 and 3\n");
  EXPECT_EQ(problems_of(ByteText().gguf(0, 0, 0x03000000)),
            "x.gguf: error: byte 4: the file is big-endian\n"
            "  hint: convert the model for a little-endian machine\n");
}

TEST(GgufBrokenTest, CountsThatCannotBe) {
  EXPECT_EQ(problems_of(ByteText().raw("GGUF").u32(3)),
            std::string("x.gguf: error: byte 8: the file ends inside the number of tensors\n") +
                kFetchAgain);
  EXPECT_EQ(problems_of(ByteText().gguf(262'145, 0)),
            "x.gguf: error: byte 8: 262145 tensors are more than the 262144 this reader accepts\n");
  // 8 bytes follow the number of tensors; one takes 24 at least.
  EXPECT_EQ(
      problems_of(ByteText().gguf(1, 0)),
      std::string("x.gguf: error: byte 8: 1 tensors cannot stand in the 8 bytes that follow\n") +
          kFetchAgain);
  EXPECT_EQ(problems_of(ByteText().gguf(0, 0xFFFFFFFFFFFFFFFF)),
            "x.gguf: error: byte 16: 18446744073709551615 keys are more than the 65536 this "
            "reader accepts\n");
  // A key takes 13 bytes at least.
  EXPECT_EQ(problems_of(ByteText().gguf(0, 2).zeros(25)),
            std::string("x.gguf: error: byte 16: 2 keys cannot stand in the 25 bytes that "
                        "follow\n") +
                kFetchAgain);
}

// The least an entry can take is not refused by its count, but for what is wrong in it.
TEST(GgufBrokenTest, CountsThatJustCanBe) {
  EXPECT_EQ(problems_of(ByteText().gguf(0, 1).text("").u32(kU8).u8(0)),
            "x.gguf: error: byte 24: the name of a key is empty\n");
  // Nine entries of 24 zeros: scalars of F32 without a name.
  EXPECT_THAT(problems_of(ByteText().gguf(9, 0).zeros(9 * 24)),
              ::testing::StartsWith("x.gguf: error: byte 24: the name of a tensor is empty\n"));
}

TEST(GgufBrokenTest, NamesOfKeys) {
  EXPECT_EQ(problems_of(ByteText().gguf(0, 1).u64(1025).zeros(2000)),
            "x.gguf: error: byte 24: the name of a key has 1025 bytes, more than 1024\n"
            "  hint: the file is damaged\n");
  EXPECT_EQ(problems_of(ByteText().gguf(0, 1).u64(100).zeros(20)),
            std::string("x.gguf: error: byte 32: the file ends inside the name of a key\n") +
                kFetchAgain);
  EXPECT_EQ(problems_of(ByteText().gguf(0, 1).text("").u32(kU8).u8(1)),
            "x.gguf: error: byte 24: the name of a key is empty\n");
  EXPECT_EQ(problems_of(ByteText().gguf(0, 1).text("\xFF").u32(kU8).u8(1)),
            "x.gguf: error: \\xff: byte 24: the name of a key is not UTF-8\n");
  // Both problems are said, and the second key is the one that is wrong: 24 + 8 + 1 + 4 + 1 = 38.
  EXPECT_EQ(problems_of(ByteText()
                            .gguf(0, 3)
                            .text("a")
                            .u32(kU8)
                            .u8(1)
                            .text("a")
                            .u32(kU8)
                            .u8(2)
                            .text("b")
                            .u32(kBool)
                            .u8(3)),
            "x.gguf: error: a: byte 38: the key appears twice\n"
            "x.gguf: error: b: byte 65: 3 is no boolean: it must be 0 or 1\n");
}

TEST(GgufBrokenTest, Values) {
  const auto key = [] { return ByteText().gguf(0, 1).text("k"); };  // 33 bytes
  EXPECT_EQ(problems_of(key().u32(13).zeros(8)),
            "x.gguf: error: k: byte 33: unknown value type 13\n"
            "  hint: known are the types 0 to 12\n");
  EXPECT_EQ(problems_of(key().u32(kU64).zeros(7)),
            std::string("x.gguf: error: k: byte 37: the file ends inside a value\n") + kFetchAgain);
  EXPECT_EQ(problems_of(key().u32(kText).u64(10).raw("short")),
            std::string("x.gguf: error: k: byte 45: the file ends inside a text of 10 bytes\n") +
                kFetchAgain);
  EXPECT_EQ(problems_of(key().u32(kText).u64(~uint64_t{0}).raw("short")),
            std::string("x.gguf: error: k: byte 45: the file ends inside a text of "
                        "18446744073709551615 bytes\n") +
                kFetchAgain);
  EXPECT_EQ(problems_of(key().u32(kArray).u32(99).u64(0)),
            "x.gguf: error: k: byte 37: unknown value type 99\n"
            "  hint: known are the types 0 to 12\n");
  // 2^61 elements of 8 bytes would be 2^64.
  EXPECT_EQ(problems_of(key().u32(kArray).u32(kU64).u64(uint64_t{1} << 61).zeros(64)),
            std::string("x.gguf: error: k: byte 49: the file ends inside an array of "
                        "2305843009213693952 elements\n") +
                kFetchAgain);
  // The second of 257 strings ends beyond the file: 49 + 8 + 8 = 65.
  EXPECT_EQ(
      problems_of(key().u32(kArray).u32(kText).u64(257).u64(0).u64(9000).zeros(8 * 256)),
      std::string("x.gguf: error: k: byte 65: the file ends inside an element of length 9000\n") +
          kFetchAgain);
}

TEST(GgufBrokenTest, NestingIsBounded) {
  const auto nested = [](int depth) {
    ByteText file = ByteText().gguf(0, 1).text("k").u32(kArray);
    for (int i = 1; i < depth; ++i) file.u32(kArray).u64(1);
    return file.u32(kU8).u64(1).u8(0);
  };
  EXPECT_TRUE(parse_gguf(nested(5).bytes()).ok());
  EXPECT_EQ(problems_of(nested(6)),
            "x.gguf: error: k: byte 97: arrays are nested more than 4 deep\n");
}

TEST(GgufBrokenTest, Alignment) {
  const auto with = [](uint64_t value) {
    return ByteText().gguf(0, 1).text("general.alignment").u32(kU32).u32(value);
  };
  EXPECT_EQ(problems_of(with(0)),
            "x.gguf: error: general.alignment: byte 53: 0 is no power of two\n");
  EXPECT_EQ(problems_of(with(48)),
            "x.gguf: error: general.alignment: byte 53: 48 is no power of two\n");
  EXPECT_EQ(problems_of(with(0x80000000)),
            "x.gguf: error: general.alignment: byte 53: 2147483648 is too large\n");
  EXPECT_EQ(problems_of(ByteText().gguf(0, 1).text("general.alignment").u32(kText).text("32")),
            "x.gguf: error: general.alignment: byte 53: must be an integer, but is text\n");
}

// One row of F32 in each entry: 8 + 1 + 4 + 8 + 4 + 8 = 33 bytes, from byte 24 on.
TEST(GgufBrokenTest, EntriesOfTheTensorTable) {
  const auto one = [](uint64_t values, uint64_t type, uint64_t offset) {
    return problems_of(ByteText().gguf(1, 0).row("w", values, type, offset).pad_to(32).zeros(4096));
  };
  EXPECT_EQ(one(1, 43, 0),
            "x.gguf: error: w: byte 24: unknown tensor type 43\n"
            "  hint: known are the types up to 42 (Q2_0)\n");
  EXPECT_EQ(one(32, 4, 0),
            "x.gguf: error: w: byte 24: type 4 (Q4_2) was retired\n"
            "  hint: convert the model again with a current converter\n");
  EXPECT_EQ(one(255, 12, 0),
            "x.gguf: error: w: byte 24: a row of 255 values does not fill blocks of 256 (Q4_K)\n");
  EXPECT_EQ(one(uint64_t{1} << 63, 0, 0),
            "x.gguf: error: w: byte 24: a dimension does not fit into 63 bits\n");
  EXPECT_EQ(one(uint64_t{1} << 61, 0, 0),
            "x.gguf: error: w: byte 24: the product of the dimensions does not fit into 63 bits\n");
  EXPECT_EQ(one(1, 0, 31),
            "x.gguf: error: w: byte 49: the offset 31 is no multiple of the alignment 32\n");
  EXPECT_EQ(one(1, 0, uint64_t{1} << 63),
            "x.gguf: error: w: byte 49: the offset 9223372036854775808 is no multiple of the "
            "alignment 32\n");
  EXPECT_EQ(one(uint64_t{1} << 60, 0, 0x7FFFFFFFFFFFFFE0),
            "x.gguf: error: w: byte 24: offset and size do not fit into 63 bits\n");
  EXPECT_EQ(problems_of(ByteText().gguf(1, 0).text("w").u32(5).zeros(60)),
            "x.gguf: error: w: byte 33: 5 dimensions, more than 4\n");
  EXPECT_EQ(problems_of(ByteText().gguf(1, 0).text("w").u32(1).u64(1).u32(0).u32(0)),
            std::string("x.gguf: error: w: byte 49: the file ends inside the tensor table\n") +
                kFetchAgain);
}

TEST(GgufBrokenTest, AllWrongEntriesAreNamed) {
  EXPECT_EQ(
      problems_of(
          ByteText().gguf(3, 0).row("a", 1, 50, 0).row("b", 1, 0, 1).row("a", 1, 0, 0).zeros(64)),
      "x.gguf: error: a: byte 24: unknown tensor type 50\n"
      "  hint: known are the types up to 42 (Q2_0)\n"
      "x.gguf: error: b: byte 82: the offset 1 is no multiple of the alignment 32\n"
      "x.gguf: error: a: byte 90: the tensor appears twice\n");
}

// Data begins at 24 + 3 x 33 = 123, padded 128; the three tensors end at 132, 164 and 196.
TEST(GgufBrokenTest, ACutOffFileIsOneProblem) {
  ByteText file;
  file.gguf(3, 0).row("a", 1, 0, 0).row("b", 1, 0, 32).row("c", 1, 0, 64).pad_to(32).zeros(68);
  ASSERT_EQ(file.bytes().size(), 196U);
  EXPECT_TRUE(parse_gguf(file.bytes()).ok());
  EXPECT_EQ(to_string(parse_gguf(file.bytes().substr(0, 163)).diagnostics()),
            "x.gguf: error: b: byte 163: the file ends here, but its tensors need 196 bytes: 2 of "
            "3 are incomplete, this is the first\n"
            "  hint: the file was cut off: fetch it again\n");
  EXPECT_EQ(to_string(parse_gguf(file.bytes().substr(0, 124)).diagnostics()),
            "x.gguf: error: a: byte 124: the file ends here, but its tensors need 196 bytes: 3 of "
            "3 are incomplete, this is the first\n"
            "  hint: the file was cut off: fetch it again\n");
}

// Wherever a file is cut, it is an error: the data needs the last byte.
TEST(GgufBrokenTest, EveryProperBeginOfAFileIsRefused) {
  ByteText file;
  file.gguf(2, 3).text("k").u32(kText).text("some text");
  file.text("l").u32(kArray).u32(kText).u64(2).text("a").text("b");
  file.text("general.alignment").u32(kU32).u32(32);
  file.row("a", 8, 0, 0).row("b", 64, 8, 32).pad_to(32).zeros(32 + 68);
  ASSERT_TRUE(parse_gguf(file.bytes()).ok());
  for (size_t size = 0; size < file.bytes().size(); ++size) {
    const Result<GgufHeader> read = parse_gguf(file.bytes().substr(0, size));
    ASSERT_FALSE(read.ok()) << size;
    EXPECT_THAT(read.diagnostics().front().message, ::testing::StartsWith("byte ")) << size;
  }
}

TEST(GgufBrokenTest, TensorsMayNotOverlap) {
  // c lies inside a, which reaches further than b: 64 x 4 = 256 B, b 4 B from 32, c 4 B from 64.
  // Either a is too large or b and c are: the first of them is named, not each that a reaches.
  EXPECT_EQ(problems_of(ByteText()
                            .gguf(3, 0)
                            .row("a", 64, 0, 0)
                            .row("b", 1, 0, 32)
                            .row("c", 1, 0, 64)
                            .pad_to(32)
                            .zeros(256)),
            "x.gguf: error: b: byte 57: its data overlaps that of a\n");
  // Two that are wrong are two problems: a 64 B from 0 over b from 32, c 64 B from 64 over d
  // from 96.
  EXPECT_EQ(problems_of(ByteText()
                            .gguf(4, 0)
                            .row("a", 16, 0, 0)
                            .row("b", 8, 0, 32)
                            .row("c", 16, 0, 64)
                            .row("d", 8, 0, 96)
                            .pad_to(32)
                            .zeros(128)),
            "x.gguf: error: b: byte 57: its data overlaps that of a\n"
            "x.gguf: error: d: byte 123: its data overlaps that of c\n");
}

// A sparse file can be longer than memory; its header may not be.
class EndlessZeros : public ByteSource {
 public:
  explicit EndlessZeros(std::string head) : head_(std::move(head)) {}
  int64_t size() const override { return INT64_MAX; }
  bool read(int64_t offset, std::span<std::byte> into) override {
    for (std::byte& byte : into) {
      byte = offset < static_cast<int64_t>(head_.size())
                 ? static_cast<std::byte>(head_[static_cast<size_t>(offset)])
                 : std::byte{0};
      ++offset;
    }
    largest = std::max(largest, offset);
    return offset < fails_from;
  }

  int64_t largest = 0;
  int64_t fails_from = INT64_MAX;

 private:
  std::string head_;
};

TEST(GgufBrokenTest, TheHeaderIsAtMostOneGibibyte) {
  EndlessZeros source(
      ByteText().gguf(0, 1).text("k").u32(kArray).u32(kU8).u64(uint64_t{1} << 40).bytes());
  EXPECT_EQ(to_string(parse_gguf_header("x.gguf", source).diagnostics()),
            "x.gguf: error: k: byte 49: the header is larger than the 1.00 GiB this reader "
            "accepts\n");
  EXPECT_LE(source.largest, 65'536);
}

TEST(GgufBrokenTest, AFailingDiskIsSaid) {
  EndlessZeros source(ByteText().gguf(0, 1).bytes());
  source.fails_from = 0;
  EXPECT_EQ(to_string(parse_gguf_header("x.gguf", source).diagnostics()),
            "x.gguf: error: byte 0: cannot read the file\n");
}

}  // namespace
}  // namespace tidemark

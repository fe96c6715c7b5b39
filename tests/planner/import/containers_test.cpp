// The small pieces below the readers: the type table, positions in a source, names in messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <set>

#include "byte_text.h"
#include "planner/import/byte_reader.h"
#include "planner/import/foreign_begin.h"
#include "planner/import/ggml_types.h"
#include "planner/import/gguf_tensor.h"
#include "planner/import/problems.h"
#include "planner/import/sparse_file.h"
#include "support/golden.h"

namespace tidemark {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

constexpr const char* kNotRead =
    "  hint: a folder, a pipe or a device is not read: write it to a file first\n";

// The magic numbers of what is often found under a model file's name: git-lfs's docs/spec.md, the
// ZIP application note 4.3.7, torch/serialization.py's MAGIC_NUMBER pickled in protocol 2,
// ggml.h before August 2023 (0x67676d6c little-endian), the TFLite schema's file_identifier.
TEST(ForeignBeginTest, WhatItReallyIs) {
  const auto hint = [](std::string_view begin) { return std::string(hint_of_foreign(begin)); };
  EXPECT_THAT(hint("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
  EXPECT_THAT(hint("<!DOCTYPE html><html>"), HasSubstr("web page"));
  EXPECT_THAT(hint("PK\x03\x04"), HasSubstr("PyTorch"));
  EXPECT_THAT(hint("\x80\x02\x8a\x0al\xfc\x9c"), HasSubstr("PyTorch"));
  EXPECT_THAT(hint("lmgg"), HasSubstr("before GGUF"));
  EXPECT_THAT(hint(std::string_view("\x1c\0\0\0TFL3", 8)), HasSubstr("TFLite"));
  EXPECT_EQ(hint(""), "");
  EXPECT_EQ(hint("TFL3"), "");  // it stands behind four bytes
  EXPECT_EQ(hint("{\"a\": 1}"), "");
}

// Every type that is in use, by ggml's block structs: the parts of a block of 256 add up to its
// bytes, as for Q4_K: 2 + 2 (two fp16) + 12 (scales) + 128 (256 x 4 bits) = 144.
struct TypeRow {
  uint32_t id = 0;
  const char* name = "";
  int64_t block = 0;
  int64_t bytes = 0;
};
constexpr std::array kTypes = {
    TypeRow{0, "F32", 1, 4},         TypeRow{1, "F16", 1, 2},
    TypeRow{2, "Q4_0", 32, 18},       // 2 + 16
    TypeRow{3, "Q4_1", 32, 20},       // 2 + 2 + 16
    TypeRow{6, "Q5_0", 32, 22},       // 2 + 4 + 16
    TypeRow{7, "Q5_1", 32, 24},       // 2 + 2 + 4 + 16
    TypeRow{8, "Q8_0", 32, 34},       // 2 + 32
    TypeRow{9, "Q8_1", 32, 36},       // 2 + 2 + 32
    TypeRow{10, "Q2_K", 256, 84},     // 16 + 64 + 2 + 2
    TypeRow{11, "Q3_K", 256, 110},    // 32 + 64 + 12 + 2
    TypeRow{12, "Q4_K", 256, 144},    // 2 + 2 + 12 + 128
    TypeRow{13, "Q5_K", 256, 176},    // 2 + 2 + 12 + 32 + 128
    TypeRow{14, "Q6_K", 256, 210},    // 128 + 64 + 16 + 2
    TypeRow{15, "Q8_K", 256, 292},    // 4 + 256 + 16 x 2
    TypeRow{16, "IQ2_XXS", 256, 66},  // 2 + 32 x 2
    TypeRow{17, "IQ2_XS", 256, 74},   // 2 + 32 x 2 + 8
    TypeRow{18, "IQ3_XXS", 256, 98},  // 2 + 96
    TypeRow{19, "IQ1_S", 256, 50},    // 2 + 32 + 8 x 2
    TypeRow{20, "IQ4_NL", 32, 18},    // 2 + 16
    TypeRow{21, "IQ3_S", 256, 110},   // 2 + 64 + 8 + 32 + 4
    TypeRow{22, "IQ2_S", 256, 82},    // 2 + 64 + 8 + 8
    TypeRow{23, "IQ4_XS", 256, 136},  // 2 + 2 + 4 + 128
    TypeRow{24, "I8", 1, 1},         TypeRow{25, "I16", 1, 2},
    TypeRow{26, "I32", 1, 4},        TypeRow{27, "I64", 1, 8},
    TypeRow{28, "F64", 1, 8},        TypeRow{29, "IQ1_M", 256, 56},  // 32 + 16 + 8
    TypeRow{30, "BF16", 1, 2},       TypeRow{34, "TQ1_0", 256, 54},  // 48 + 4 + 2
    TypeRow{35, "TQ2_0", 256, 66},                                   // 64 + 2
    TypeRow{39, "MXFP4", 32, 17},                                    // 1 + 16
    TypeRow{40, "NVFP4", 64, 36},                                    // 4 + 32
    TypeRow{41, "Q1_0", 128, 18},                                    // 2 + 16
    TypeRow{42, "Q2_0", 64, 18},                                     // 2 + 16
};

TEST(GgmlTypesTest, EveryTypeInUse) {
  size_t in_use = 0;
  for (const GgmlType& type : ggml_types()) in_use += is_retired(type) ? 0U : 1U;
  EXPECT_EQ(in_use, kTypes.size());
  for (const TypeRow& row : kTypes) {
    const GgmlType* type = find_ggml_type(row.id);
    ASSERT_NE(type, nullptr) << row.name;
    EXPECT_EQ(*type, (GgmlType{row.id, row.name, row.block, row.bytes}));
    EXPECT_EQ(find_ggml_type(std::string_view(row.name)), type);
  }
}

TEST(GgmlTypesTest, RowsByHand) {
  const auto bytes_of = [](uint32_t id, std::vector<int64_t> dims) {
    return size_of(GgufTensor{.dims = std::move(dims), .type_id = id}).bytes;
  };
  EXPECT_EQ(bytes_of(12, {4096}), 2304_B);     // Q4_K: 16 x 144
  EXPECT_EQ(bytes_of(12, {4096, 3}), 6912_B);  // 3 rows of it
  EXPECT_EQ(bytes_of(2, {2304}), 1296_B);      // Q4_0: 72 x 18
  EXPECT_EQ(bytes_of(30, {3, 1, 2}), 12_B);    // BF16: 6 x 2
  EXPECT_EQ(bytes_of(0, {}), 4_B);             // one F32
}

TEST(GgmlTypesTest, IdsAreIndicesAndNamesAreDistinct) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < ggml_types().size(); ++i) {
    const GgmlType& type = ggml_types()[i];
    EXPECT_EQ(type.id, i);
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_EQ(find_ggml_type(type.id), &type);
  }
  EXPECT_EQ(names.size(), 43U);
  EXPECT_EQ(find_ggml_type(43U), nullptr);
  EXPECT_EQ(find_ggml_type(std::string_view("Q4_k")), nullptr);
}

TEST(ByteReaderTest, ReadsLittleEndianNumbersAndStopsAtTheEnd) {
  const std::string bytes("\x01\x02\x03\x04\x05\x06\x07\x88\xFF", 9);
  MemorySource source(std::as_bytes(std::span(bytes)));
  ByteReader reader(source, source.size());
  EXPECT_EQ(reader.number<uint64_t>(), 0x8807060504030201U);
  EXPECT_EQ(reader.number<uint16_t>(), std::nullopt);
  EXPECT_EQ(reader.state(), ByteReader::State::kEnd);
  EXPECT_EQ(reader.offset(), 8);
  EXPECT_EQ(reader.number<uint8_t>(), 0xFFU);
  EXPECT_EQ(reader.remaining(), 0);
}

TEST(ByteReaderTest, ReadsAcrossItsBlocksAndAfterSkips) {
  std::string bytes(200'000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 251);
  MemorySource source(std::as_bytes(std::span(bytes)));
  ByteReader reader(source, source.size());
  // A block ends at 65,536, in the middle of these four bytes: 65,534 mod 251 = 23.
  ASSERT_TRUE(reader.skip(65'534));
  EXPECT_EQ(reader.number<uint32_t>(), 0x1A191817U);
  std::string rest(120'000, '\0');
  ASSERT_TRUE(reader.bytes(std::as_writable_bytes(std::span(rest))));
  EXPECT_EQ(rest, bytes.substr(65'538, 120'000));
}

TEST(ByteReaderTest, AnEarlierLimitIsNotTheEnd) {
  const std::string bytes(100, 'x');
  MemorySource source(std::as_bytes(std::span(bytes)));
  ByteReader reader(source, 10);
  EXPECT_TRUE(reader.skip(10));
  EXPECT_FALSE(reader.skip(1));
  EXPECT_EQ(reader.state(), ByteReader::State::kLimit);
}

TEST(FileSourceTest, ReadsPiecesOfRegularFilesOnly) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x";
  std::ofstream(path) << "0123456789";
  Result<FileSource> opened = FileSource::open(path);
  ASSERT_TRUE(opened.ok());
  FileSource source = std::move(opened).value();
  EXPECT_EQ(source.size(), 10);
  std::string three(3, '\0');
  EXPECT_TRUE(source.read(6, std::as_writable_bytes(std::span(three))));
  EXPECT_EQ(three, "678");
  // Shortened meanwhile.
  std::filesystem::resize_file(path, 8);
  EXPECT_FALSE(source.read(6, std::as_writable_bytes(std::span(three))));

  const std::filesystem::path missing = folder.path() / "missing";
  EXPECT_EQ(to_string(FileSource::open(missing).diagnostics()),
            missing.string() + ": error: cannot open: no such file\n");
  EXPECT_EQ(to_string(FileSource::open(folder.path()).diagnostics()),
            folder.path().string() + ": error: not a regular file\n" + kNotRead);
  // A pipe without a writer must not be waited for.
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(to_string(FileSource::open(pipe).diagnostics()),
            pipe.string() + ": error: not a regular file\n" + kNotRead);
}

TEST(SparseFileTest, IsLongAndTakesNoDisk) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x";
  std::ofstream(path) << "old";
  EXPECT_EQ(write_sparse_file(path, "head", 3_GiB).value(), 3_GiB);
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 3'221'225'472);
  EXPECT_LE(status.st_blocks * 512, 1'048'576);
  FileSource source = FileSource::open(path).value();
  std::string begin(6, 'x');
  ASSERT_TRUE(source.read(0, std::as_writable_bytes(std::span(begin))));
  EXPECT_EQ(begin, std::string("head\0\0", 6));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(SparseFileTest, AFailureLeavesTheOldFileAndNothingElse) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x";
  std::ofstream(path) << "old";
  // More than any file system here holds in one file.
  const Result<Bytes> result = write_sparse_file(path, "head", Bytes::of(INT64_MAX));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(testing::slurp(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_FALSE(write_sparse_file(folder.path(), "head", 1_KiB).ok());
}

TEST(ProblemsTest, NamesArePrintable) {
  EXPECT_EQ(printable("blk.0.attn_q.weight"), "blk.0.attn_q.weight");
  EXPECT_EQ(printable("a\n\x7F\xC3\xA9"), "a\\x0a\\x7f\\xc3\\xa9");
  EXPECT_EQ(printable(std::string(101, 'a')), std::string(100, 'a') + "...");
}

TEST(ProblemsTest, TheRestIsCounted) {
  Problems problems("x");
  for (int i = 0; i < 103; ++i) problems.add("", i, "wrong");
  const Diagnostics all = problems.take();
  ASSERT_EQ(all.size(), 101U);
  EXPECT_EQ(to_string(all[99]), "x: error: byte 99: wrong\n");
  EXPECT_EQ(to_string(all[100]), "x: error: and 3 more problems\n");
  EXPECT_TRUE(problems.empty());
}

// The limits of each length, from the table of well-formed byte sequences of the Unicode standard.
TEST(ProblemsTest, Utf8IsTheUnicodeStandards) {
  for (const char* good :
       {"", "a\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(good)) << printable(good);
  }
  for (const char* bad : {"\x80", "\xC1\xBF", "\xC2", "\xC2\x7F", "\xC2\xC0", "\xE0\x9F\xBF",
                          "\xED\xA0\x80", "\xE1\x80", "\xE1\x80\x7F", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF1\x80\x80\xC0", "\xFF"}) {
    EXPECT_FALSE(is_utf8(bad)) << printable(bad);
  }
}

}  // namespace
}  // namespace tidemark

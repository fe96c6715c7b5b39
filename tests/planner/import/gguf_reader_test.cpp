// GGUF headers written byte by byte after the specification.
#include "planner/import/gguf_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "byte_text.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::ByteText;
using ::testing::ElementsAre;
using testing::parse_gguf;

constexpr uint64_t kU8 = 0, kI8 = 1, kU16 = 2, kI16 = 3, kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7,
                   kText = 8, kArray = 9, kU64 = 10, kI64 = 11, kF64 = 12;

TEST(GgufReaderTest, AWholeFileByHand) {
  ByteText file;
  file.gguf(2, 2);                                             // bytes 0 to 23
  file.text("general.architecture").u32(kText).text("llama");  // 24: 8+20+4 = 32, value at 56
  file.text("llama.block_count").u32(kU32).u32(22);            // 69: 8+17+4 = 29, value at 98
  file.text("w").u32(2).u64(256).u64(3).u32(12).u64(0);        // Q4_K: 3 x 144 = 432 B
  file.text("b").u32(1).u64(5).u32(0).u64(448);                // F32: 20 B
  file.pad_to(32).zeros(448 + 20);
  const Result<GgufHeader> read = parse_gguf(file.bytes());
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(read->version, 3);
  EXPECT_EQ(read->alignment, Alignment::of(32));
  // 102 bytes up to the tensors; 8+1+4+16+4+8 = 41 and 33 of them: 176, padded to 192.
  EXPECT_EQ(read->data_offset(), 192_B);
  EXPECT_EQ(read->parts,
            (std::vector<GgufPart>{{.file = "x.gguf", .data_offset = 192_B, .file_bytes = 660_B}}));
  EXPECT_EQ(read->keys.size(), 2U);
  EXPECT_EQ(read->text("general.architecture"), "llama");
  EXPECT_EQ(read->integer("llama.block_count"), 22);
  EXPECT_EQ(read->find("general.architecture")->file_offset, 56);
  EXPECT_EQ(read->find("llama.block_count")->file_offset, 98);
  EXPECT_THAT(read->tensors,
              ElementsAre(GgufTensor{.name = "w", .dims = {256, 3}, .type_id = 12, .bytes = 432_B},
                          GgufTensor{.name = "b", .dims = {5}, .offset = 448_B, .bytes = 20_B}));
  EXPECT_EQ(read->find_tensor("b"), &read->tensors[1]);
  EXPECT_EQ(read->find_tensor("c"), nullptr);
}

TEST(GgufReaderTest, EveryScalarType) {
  ByteText file;
  file.gguf(0, 14);
  file.text("u8").u32(kU8).u8(255);
  file.text("i8").u32(kI8).u8(0x80);
  file.text("u16").u32(kU16).u16(65535);
  file.text("i16").u32(kI16).u16(0xFFFE);
  file.text("u32").u32(kU32).u32(0xFFFFFFFF);
  file.text("i32").u32(kI32).u32(0xFFFFFFFF);
  file.text("f32").u32(kF32).u32(0x3F400000);  // 2^-1 x 1.5 = 0.75
  file.text("yes").u32(kBool).u8(1);
  file.text("no").u32(kBool).u8(0);
  file.text("text").u32(kText).text("a b");
  file.text("u64").u32(kU64).u64(0x7FFFFFFFFFFFFFFF);
  file.text("large").u32(kU64).u64(0x8000000000000000);
  file.text("i64").u32(kI64).u64(0x8000000000000000);
  file.text("f64").u32(kF64).u64(0xC004000000000000);  // -2^1 x 1.25 = -2.5
  const Result<GgufHeader> read = parse_gguf(file.bytes());
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(read->integer("u8"), 255);
  EXPECT_EQ(read->integer("i8"), -128);
  EXPECT_EQ(read->integer("u16"), 65535);
  EXPECT_EQ(read->integer("i16"), -2);
  EXPECT_EQ(read->integer("u32"), 4294967295);
  EXPECT_EQ(read->integer("i32"), -1);
  EXPECT_EQ(read->real("f32"), 0.75);
  EXPECT_EQ(read->boolean("yes"), true);
  EXPECT_EQ(read->boolean("no"), false);
  EXPECT_EQ(read->text("text"), "a b");
  EXPECT_EQ(read->integer("u64"), INT64_MAX);
  EXPECT_EQ(read->integer("i64"), INT64_MIN);
  EXPECT_EQ(read->real("f64"), -2.5);
  EXPECT_EQ(read->find("large")->elements, std::vector<GgufScalar>{uint64_t{1} << 63});
  // A getter gives nothing for another type, and nothing is converted.
  EXPECT_EQ(read->integer("large"), std::nullopt);
  EXPECT_EQ(read->integer("f32"), std::nullopt);
  EXPECT_EQ(read->integer("yes"), std::nullopt);
  EXPECT_EQ(read->real("u8"), std::nullopt);
  EXPECT_EQ(read->boolean("u8"), std::nullopt);
  EXPECT_EQ(read->text("missing"), std::nullopt);
  EXPECT_EQ(read->array_count("u8"), std::nullopt);
}

TEST(GgufReaderTest, SmallArraysAreKept) {
  ByteText file;
  file.gguf(0, 5);
  file.text("heads").u32(kArray).u32(kU32).u64(3).u32(8).u32(0).u32(4);
  file.text("window").u32(kArray).u32(kBool).u64(2).u8(1).u8(0);
  file.text("scales").u32(kArray).u32(kF32).u64(1).u32(0x3F800000);
  file.text("tags").u32(kArray).u32(kText).u64(2).text("chat").text("");
  file.text("none").u32(kArray).u32(kI8).u64(0);
  const Result<GgufHeader> read = parse_gguf(file.bytes());
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_THAT(*read->integers("heads"), ElementsAre(8, 0, 4));
  EXPECT_THAT(*read->integers("window"), ElementsAre(1, 0));
  EXPECT_EQ(read->integers("scales"), std::nullopt);
  EXPECT_EQ(read->find("scales")->elements, std::vector<GgufScalar>{1.0});
  EXPECT_THAT(*read->texts("tags"), ElementsAre("chat", ""));
  EXPECT_THAT(*read->integers("none"), ElementsAre());
  EXPECT_EQ(read->texts("heads"), std::nullopt);
  EXPECT_EQ(read->integer("heads"), std::nullopt);
  EXPECT_EQ(read->array_count("heads"), 3);
}

// What is too large is stepped over: the key after it is found.
TEST(GgufReaderTest, LargeValuesAreCountedOnly) {
  ByteText file;
  file.gguf(0, 7);
  file.text("tokens").u32(kArray).u32(kText).u64(257);
  for (int i = 0; i < 257; ++i) file.text("t");
  file.text("types").u32(kArray).u32(kI32).u64(4097).zeros(4 * 4097);
  file.text("limit").u32(kArray).u32(kI32).u64(4096).zeros(4 * 4096);
  file.text("template").u32(kText).text(std::string(4097, 'x'));
  file.text("nested").u32(kArray).u32(kArray).u64(2);
  file.u32(kU16).u64(3).zeros(6);
  file.u32(kArray).u64(1).u32(kText).u64(1).text("deep");
  file.text("latin1").u32(kText).text("caf\xE9");
  file.text("last").u32(kU8).u8(7);
  const Result<GgufHeader> read = parse_gguf(file.bytes());
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(read->array_count("tokens"), 257);
  EXPECT_EQ(read->find("tokens")->element_type, GgufType::kString);
  EXPECT_EQ(read->array_count("types"), 4097);
  EXPECT_EQ(read->array_count("nested"), 2);
  for (const char* key : {"tokens", "types", "template", "nested", "latin1"}) {
    EXPECT_FALSE(read->find(key)->kept) << key;
    EXPECT_TRUE(read->find(key)->elements.empty()) << key;
  }
  EXPECT_EQ(read->text("template"), std::nullopt);
  EXPECT_EQ(read->integers("types"), std::nullopt);
  EXPECT_EQ(read->texts("tokens"), std::nullopt);
  EXPECT_EQ(read->integers("limit")->size(), 4096U);
  EXPECT_EQ(read->integer("last"), 7);
}

// However many keys there are, they cannot fill the memory: 64 MiB of elements are kept in all.
TEST(GgufReaderTest, WhatIsKeptIsBoundedOverTheWholeFile) {
  constexpr uint64_t kKeys = 600;
  ByteText file;
  file.gguf(0, kKeys);
  for (uint64_t i = 0; i < kKeys; ++i) {
    file.text(std::to_string(1000 + i)).u32(kArray).u32(kU8).u64(4096).zeros(4096);
  }
  const Result<GgufHeader> read = parse_gguf(file.bytes());
  ASSERT_TRUE(read.ok());
  const int64_t kept = std::count_if(read->keys.begin(), read->keys.end(),
                                     [](const auto& entry) { return entry.second.kept; });
  EXPECT_EQ(kept, 64 * 1024 * 1024 / (4096 * static_cast<int64_t>(sizeof(GgufScalar))));
  EXPECT_TRUE(read->find("1000")->kept);
  EXPECT_EQ(read->array_count("1599"), 4096);
}

TEST(GgufReaderTest, TheAlignmentIsTheFilesOwn) {
  ByteText file;
  file.gguf(2, 1, 2).text("general.alignment").u32(kU32).u32(64);
  file.row("a", 1, 0, 0).row("b", 1, 0, 64);
  file.pad_to(64).zeros(68);
  const Result<GgufHeader> read = parse_gguf(file.bytes());
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(read->version, 2);
  EXPECT_EQ(read->alignment, Alignment::of(64));
  EXPECT_EQ(read->data_offset(), 128_B);  // 24 + 33 + 2 x 33 = 123, padded
}

TEST(GgufReaderTest, ScalarsEmptyTensorsAndUnpaddedEndsAreAllowed) {
  ByteText file;
  file.gguf(3, 0);
  file.text("scalar").u32(0).u32(0).u64(0);
  file.text("empty").u32(2).u64(0).u64(7).u32(0).u64(32);
  file.text("four").u32(4).u64(2).u64(3).u64(4).u64(5).u32(1).u64(32);
  file.pad_to(32).zeros(32 + 240);  // 2 x 3 x 4 x 5 x 2 B = 240 B
  const Result<GgufHeader> read = parse_gguf(file.bytes());
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(read->tensors[0].bytes, 4_B);
  EXPECT_EQ(read->tensors[1].bytes, 0_B);
  EXPECT_EQ(read->tensors[2].bytes, 240_B);
}

}  // namespace
}  // namespace tidemark

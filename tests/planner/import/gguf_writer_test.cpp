// Files made by the writer: one by hand, then laws about any of them.
#include "planner/import/gguf_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>

#include "byte_text.h"
#include "planner/import/ggml_types.h"
#include "planner/import/gguf_tensor.h"
#include "support/golden.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::ByteText;
using testing::TemporaryFolder;

GgufValue value_of(GgufType type, GgufScalar element) {
  return {.type = type, .element_type = type, .elements = {std::move(element)}};
}

TEST(GgufWriterTest, TheBytesOfASmallFile) {
  GgufHeader header;
  header.keys["n"] = value_of(GgufType::kInt16, int64_t{-2});
  header.keys["list"] = {.type = GgufType::kArray,
                         .element_type = GgufType::kString,
                         .count = 2,
                         .elements = {std::string("a"), std::string("bc")}};
  header.tensors = {{.name = "w", .dims = {256, 3}, .type_id = 12}, {.name = "b", .dims = {5}}};
  const Result<GgufHeader> laid_out = lay_out_gguf("x.gguf", header);
  ASSERT_TRUE(laid_out.ok()) << to_string(laid_out.diagnostics());
  ByteText expected;
  expected.gguf(2, 2);
  expected.text("list").u32(9).u32(8).u64(2).text("a").text("bc");
  expected.text("n").u32(3).u16(0xFFFE);
  expected.text("w").u32(2).u64(256).u64(3).u32(12).u64(0);
  expected.text("b").u32(1).u64(5).u32(0).u64(448);  // 432 padded to a multiple of 32
  EXPECT_EQ(encode_gguf_header(*laid_out), expected.bytes());
  // 24 + 12+4+12+9+10 + 9+4+2 + 41+33 = 160, a multiple of 32.
  const Bytes begin = 160_B;
  EXPECT_EQ(laid_out->data_offset(), begin);
  EXPECT_EQ(laid_out->parts.front().file_bytes, begin + 448_B + 32_B);
}

// Llama-3-8B's embedding in F16: 4096 x 128256 x 2 B = 1.05 GB that take no disk.
TEST(GgufWriterTest, DataIsAHole) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x.gguf";
  GgufHeader header;
  header.tensors = {{.name = "token_embd.weight", .dims = {4096, 128256}, .type_id = 1}};
  ASSERT_TRUE(write_gguf(path, header).ok());
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 96 + 1'050'673'152);  // 24 + 8 + 17 + 4 + 16 + 4 + 8 = 81, padded 96
  EXPECT_LT(status.st_blocks * 512, 1'000'000);
}

TEST(GgufWriterTest, WhatCannotBeWrittenIsRefused) {
  const auto problem_with = [](std::string key, GgufValue value) {
    GgufHeader header;
    header.keys[std::move(key)] = std::move(value);
    return to_string(lay_out_gguf("x", header).diagnostics());
  };
  EXPECT_EQ(problem_with("k", {.kept = false}),
            "x: error: k: the value was not kept when it was read\n");
  EXPECT_EQ(problem_with("k", value_of(GgufType::kUint8, int64_t{256})),
            "x: error: k: an element does not fit its type\n");
  EXPECT_EQ(problem_with("k", value_of(GgufType::kInt8, int64_t{-129})),
            "x: error: k: an element does not fit its type\n");
  EXPECT_EQ(problem_with("k", value_of(GgufType::kFloat32, 0.1)),
            "x: error: k: an element does not fit its type\n");
  EXPECT_EQ(problem_with("k", value_of(GgufType::kFloat32, 1e300)),
            "x: error: k: an element does not fit its type\n");
  EXPECT_EQ(problem_with("k", value_of(GgufType::kString, std::string("\xFF"))),
            "x: error: k: an element does not fit its type\n");
  EXPECT_EQ(problem_with("k", value_of(GgufType::kBool, int64_t{1})),
            "x: error: k: an element does not fit its type\n");
  EXPECT_EQ(problem_with("k", {.type = GgufType::kUint8, .element_type = GgufType::kUint8}),
            "x: error: k: a value that is no array has one element of its own type\n");
  EXPECT_EQ(problem_with("k", {.type = GgufType::kArray, .element_type = GgufType::kArray}),
            "x: error: k: arrays of arrays are not written\n");
  EXPECT_EQ(problem_with("k", {.type = GgufType::kArray, .count = 1}),
            "x: error: k: count is not the number of elements\n");
  EXPECT_EQ(problem_with("k", {.type = static_cast<GgufType>(13)}),
            "x: error: k: unknown value type\n");
  EXPECT_EQ(problem_with("", value_of(GgufType::kBool, true)),
            "x: error: this cannot be the name of a key\n");
  EXPECT_EQ(problem_with("general.alignment", value_of(GgufType::kUint32, int64_t{24})),
            "x: error: general.alignment: must be a power of two of at most 2^30\n");
}

TEST(GgufWriterTest, TensorsThatCannotBeWrittenAreRefused) {
  GgufHeader header;
  header.tensors = {{.name = "a", .dims = {31}, .type_id = 2},
                    {.name = "b", .dims = {1, 1, 1, 1, 1}},
                    {.name = "b", .dims = {1}},
                    {.name = "", .dims = {1}},
                    {.name = "c", .dims = {int64_t{1} << 60}}};
  EXPECT_EQ(to_string(lay_out_gguf("x", header).diagnostics()),
            "x: error: a: a row of 31 values does not fill blocks of 32 (Q4_0)\n"
            "x: error: b: more than 4 dimensions\n"
            "x: error: b: the tensor appears twice\n"
            "x: error: this cannot be the name of a tensor\n"
            "x: error: c: the file would not fit into 63 bits\n");
}

// --- laws ---------------------------------------------------------------------------------------

std::string any_name() {
  return *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '\x7F')));
}

GgufScalar any_element(GgufType type) {
  const auto integer = [](auto limits) -> GgufScalar {
    return static_cast<int64_t>(*rc::gen::arbitrary<decltype(limits)>());
  };
  switch (type) {
    case GgufType::kUint8:
      return integer(uint8_t{});
    case GgufType::kInt8:
      return integer(int8_t{});
    case GgufType::kUint16:
      return integer(uint16_t{});
    case GgufType::kInt16:
      return integer(int16_t{});
    case GgufType::kUint32:
      return integer(uint32_t{});
    case GgufType::kInt32:
      return integer(int32_t{});
    case GgufType::kInt64:
      return integer(int64_t{});
    case GgufType::kBool:
      return *rc::gen::arbitrary<bool>();
    case GgufType::kFloat32:
      return static_cast<double>(*rc::gen::arbitrary<float>());
    case GgufType::kFloat64:
      return *rc::gen::arbitrary<double>();
    case GgufType::kUint64: {
      const auto value = *rc::gen::arbitrary<uint64_t>();
      if (value >> 63 != 0) return value;
      return static_cast<int64_t>(value);
    }
    default:
      return *rc::gen::container<std::string>(rc::gen::inRange<char>('\0', '\x7F'));
  }
}

GgufValue any_value() {
  constexpr std::array kTypes = {GgufType::kUint8,   GgufType::kInt8,   GgufType::kUint16,
                                 GgufType::kInt16,   GgufType::kUint32, GgufType::kInt32,
                                 GgufType::kFloat32, GgufType::kBool,   GgufType::kString,
                                 GgufType::kUint64,  GgufType::kInt64,  GgufType::kFloat64};
  const GgufType type = *rc::gen::elementOf(kTypes);
  if (*rc::gen::arbitrary<bool>()) return value_of(type, any_element(type));
  GgufValue value{.type = GgufType::kArray, .element_type = type};
  value.count = *rc::gen::inRange<int64_t>(0, 20);
  for (int64_t i = 0; i < value.count; ++i) value.elements.push_back(any_element(type));
  return value;
}

GgufTensor any_tensor(size_t number) {
  std::vector<GgmlType> types;
  for (const GgmlType& type : ggml_types()) {
    if (!is_retired(type)) types.push_back(type);
  }
  const GgmlType& type = *rc::gen::elementOf(types);
  GgufTensor tensor{.name = any_name() + std::to_string(number), .type_id = type.id};
  tensor.dims.push_back(type.block_elements * *rc::gen::inRange<int64_t>(1, 9));
  const auto more = *rc::gen::inRange(0, 4);
  for (int i = 0; i < more; ++i) tensor.dims.push_back(*rc::gen::inRange<int64_t>(0, 9));
  return tensor;
}

GgufHeader any_header() {
  GgufHeader header;
  const auto keys = *rc::gen::inRange(0, 8);
  for (int i = 0; i < keys; ++i) header.keys[any_name()] = any_value();
  if (*rc::gen::arbitrary<bool>()) {
    header.keys["general.alignment"] =
        value_of(GgufType::kUint32, int64_t{1} << *rc::gen::inRange(0, 13));
  }
  const auto tensors = *rc::gen::inRange<size_t>(0, 8);
  for (size_t i = 0; i < tensors; ++i) header.tensors.push_back(any_tensor(i));
  return header;
}

TEST(GgufWriterLaws, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x.gguf";
  EXPECT_TRUE(rc::check("write, then read", [&path] {
    const GgufHeader header = any_header();
    const Result<GgufHeader> written = write_gguf(path, header);
    RC_ASSERT(written.ok());
    const Result<GgufHeader> read = read_gguf(path);
    RC_ASSERT(read.ok());
    RC_ASSERT(*read == *written);
    // Nothing of what was asked for was changed on the way.
    RC_ASSERT(read->keys.size() == header.keys.size());
    for (const auto& [key, value] : header.keys) {
      RC_ASSERT(read->find(key)->elements == value.elements);
      RC_ASSERT(read->find(key)->type == value.type);
    }
    for (size_t i = 0; i < header.tensors.size(); ++i) {
      RC_ASSERT(read->tensors[i].name == header.tensors[i].name);
      RC_ASSERT(read->tensors[i].dims == header.tensors[i].dims);
      RC_ASSERT(read->tensors[i].type_id == header.tensors[i].type_id);
    }
  }));
}

TEST(GgufWriterLaws, TensorsFollowEachOtherAlignedAndWithoutOverlap) {
  EXPECT_TRUE(rc::check("layout", [] {
    const GgufHeader laid_out = lay_out_gguf("x", any_header()).value();
    RC_ASSERT(is_aligned(laid_out.data_offset(), laid_out.alignment));
    Bytes end{};
    for (const GgufTensor& tensor : laid_out.tensors) {
      RC_ASSERT(tensor.offset == align_up(end, laid_out.alignment));
      end = tensor.offset + tensor.bytes;
    }
    RC_ASSERT(laid_out.parts.front().file_bytes ==
              laid_out.data_offset() + align_up(end, laid_out.alignment));
  }));
}

// A file with any one byte changed is read or refused, and nothing else happens.
TEST(GgufWriterLaws, ADamagedFileIsReadOrRefused) {
  EXPECT_TRUE(rc::check("one byte changed", [] {
    const GgufHeader laid_out = lay_out_gguf("x", any_header()).value();
    std::string bytes = encode_gguf_header(laid_out);
    bytes.resize(static_cast<size_t>(laid_out.parts.front().file_bytes.count()), '\0');
    const auto at = *rc::gen::inRange<size_t>(0, bytes.size());
    bytes[at] = *rc::gen::arbitrary<char>();
    const Result<GgufHeader> read = testing::parse_gguf(bytes);
    if (!read) RC_ASSERT(has_errors(read.diagnostics()));
    if (read) RC_ASSERT(read->parts.size() == 1U);
  }));
}

}  // namespace
}  // namespace tidemark

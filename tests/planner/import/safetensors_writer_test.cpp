// Files made by the writer: one by hand, then laws about any of them.
#include "planner/import/safetensors_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "byte_text.h"
#include "support/golden.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::TemporaryFolder;

TEST(SafetensorsWriterTest, TheBytesOfASmallFile) {
  const SafetensorsHeader header{
      .tensors = {{.name = "w", .dtype = SafetensorsDType::kF16, .shape = {2, 3}},
                  {.name = "\"\n", .dtype = SafetensorsDType::kU8, .shape = {}}},
      .metadata = {{"a", "b"}, {"c", ""}}};
  const Result<SafetensorsHeader> laid_out = lay_out_safetensors("x", header);
  ASSERT_TRUE(laid_out.ok()) << to_string(laid_out.diagnostics());
  // 145 bytes of JSON, padded with spaces to 152.
  EXPECT_EQ(encode_safetensors_header(*laid_out),
            testing::ByteText()
                .text(R"({"__metadata__":{"a":"b","c":""},)"
                      R"("w":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]},)"
                      R"("\"\n":{"dtype":"U8","shape":[],"data_offsets":[12,13]}}       )")
                .bytes());
  EXPECT_EQ(laid_out->parts.front().file_bytes, laid_out->data_offset() + 13_B);
}

TEST(SafetensorsWriterTest, WhatCannotBeWrittenIsRefused) {
  SafetensorsHeader header{.metadata = {{"k", "\xFF"}}};
  header.tensors = {{.name = "a", .shape = {-1}},
                    {.name = "b", .dtype = SafetensorsDType::kF4, .shape = {3}},
                    {.name = "c", .shape = {INT64_MAX, 2}},
                    {.name = "d", .shape = {int64_t{1} << 58}},
                    {.name = "e"},
                    {.name = "e"},
                    {.name = ""},
                    {.name = "__metadata__"},
                    {.name = "\x80"}};
  EXPECT_EQ(to_string(lay_out_safetensors("x", header).diagnostics()),
            "x: error: a: a dimension is negative\n"
            "x: error: b: its elements are no whole number of bytes\n"
            "x: error: c: its size does not fit into 63 bits\n"
            "x: error: d: its size does not fit into 63 bits\n"
            "x: error: e: the tensor appears twice\n"
            "x: error: this cannot be the name of a tensor\n"
            "x: error: __metadata__: this cannot be the name of a tensor\n"
            "x: error: \\x80: this cannot be the name of a tensor\n"
            "x: error: k: the metadata is not UTF-8\n");
}

// 2^57 x 4 B = 2^59 B each; the data has less than 2^62 B, so the eighth is too much.
TEST(SafetensorsWriterTest, AFileOfAnyLengthKeepsItsOffsetsIn63Bits) {
  SafetensorsHeader header;
  for (int i = 1; i <= 8; ++i) {
    header.tensors.push_back({.name = std::to_string(i), .shape = {int64_t{1} << 57}});
  }
  EXPECT_EQ(to_string(lay_out_safetensors("x", header).diagnostics()),
            "x: error: 8: the file would not fit into 63 bits\n");
}

std::string any_text() {
  return *rc::gen::container<std::string>(rc::gen::inRange<char>('\0', '\x7F')) +
         *rc::gen::elementOf(std::vector<std::string>{"", "\xC3\xA9", "\xF0\x9F\x98\x80"});
}

SafetensorsHeader any_header() {
  SafetensorsHeader header;
  const auto pairs = *rc::gen::inRange(0, 4);
  for (int i = 0; i < pairs; ++i) header.metadata[any_text()] = any_text();
  const auto tensors = *rc::gen::inRange(0, 10);
  for (int i = 0; i < tensors; ++i) {
    SafetensorsTensor tensor{.name = any_text() + std::to_string(i)};
    tensor.dtype =
        static_cast<SafetensorsDType>(*rc::gen::inRange<size_t>(0, safetensors_formats().size()));
    // A multiple of eight elements fills whole bytes in every dtype.
    tensor.shape = {8 * *rc::gen::inRange<int64_t>(0, 5)};
    const auto more = *rc::gen::inRange(0, 5);
    for (int k = 0; k < more; ++k) tensor.shape.push_back(*rc::gen::inRange<int64_t>(0, 9));
    header.tensors.push_back(std::move(tensor));
  }
  return header;
}

TEST(SafetensorsWriterLaws, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x.safetensors";
  EXPECT_TRUE(rc::check("write, then read", [&path] {
    const SafetensorsHeader header = any_header();
    const Result<SafetensorsHeader> written = write_safetensors(path, header);
    RC_ASSERT(written.ok());
    const Result<SafetensorsHeader> read = read_safetensors(path);
    RC_ASSERT(read.ok());
    RC_ASSERT(*read == *written);
    RC_ASSERT(read->metadata == header.metadata);
    RC_ASSERT(read->tensors.size() == header.tensors.size());
    for (size_t i = 0; i < header.tensors.size(); ++i) {
      RC_ASSERT(read->tensors[i].name == header.tensors[i].name);
      RC_ASSERT(read->tensors[i].dtype == header.tensors[i].dtype);
      RC_ASSERT(read->tensors[i].shape == header.tensors[i].shape);
    }
  }));
}

// The data is covered from its begin to the end of the file, each tensor by its own bytes.
TEST(SafetensorsWriterLaws, TheDataIsCovered) {
  EXPECT_TRUE(rc::check("layout", [] {
    const SafetensorsHeader laid_out = lay_out_safetensors("x", any_header()).value();
    Bytes end{};
    for (const SafetensorsTensor& tensor : laid_out.tensors) {
      RC_ASSERT(tensor.begin == end);
      RC_ASSERT(tensor.bytes() == *whole_bytes(tensor.dtype, tensor.shape));
      end = tensor.end;
    }
    RC_ASSERT(laid_out.parts.front().file_bytes == laid_out.data_offset() + end);
    RC_ASSERT(laid_out.data_offset().count() % 8 == 0);
  }));
}

TEST(SafetensorsWriterLaws, ADamagedFileIsReadOrRefused) {
  EXPECT_TRUE(rc::check("one byte changed", [] {
    const SafetensorsHeader laid_out = lay_out_safetensors("x", any_header()).value();
    std::string bytes = encode_safetensors_header(laid_out);
    bytes.resize(static_cast<size_t>(laid_out.parts.front().file_bytes.count()), '\0');
    bytes[*rc::gen::inRange<size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
    MemorySource source(std::as_bytes(std::span(bytes)));
    const Result<SafetensorsHeader> read = parse_safetensors_header("x", source);
    if (!read) RC_ASSERT(has_errors(read.diagnostics()));
    if (read) RC_ASSERT(read->parts.size() == 1U);
  }));
}

}  // namespace
}  // namespace tidemark

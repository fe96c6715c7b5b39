// safetensors headers: by hand, then every diagnostic by the file that gives it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "byte_text.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::ByteText;
using ::testing::ElementsAre;
using testing::parse_safetensors;

std::string problems_of(std::string_view json, size_t data = 0) {
  return to_string(parse_safetensors(json, data).diagnostics());
}

TEST(SafetensorsReaderTest, TheExampleOfTheHeader) {
  constexpr std::string_view kJson =
      R"({"w": {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12]}, )"
      R"("__metadata__": {"k": "text"}})";
  const Result<SafetensorsHeader> read = parse_safetensors(kJson, 12);
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_THAT(read->tensors,
              ElementsAre(SafetensorsTensor{
                  .name = "w", .dtype = SafetensorsDType::kF16, .shape = {2, 3}, .end = 12_B}));
  EXPECT_EQ(read->tensors[0].bytes(), 12_B);
  EXPECT_EQ(read->metadata.at("k"), "text");
  EXPECT_EQ(read->data_offset(), Bytes::of(8 + static_cast<int64_t>(kJson.size())));
  EXPECT_EQ(read->parts.front().file_bytes, read->data_offset() + 12_B);
}

TEST(SafetensorsReaderTest, TensorsAreInTheOrderOfTheData) {
  const Result<SafetensorsHeader> read =
      parse_safetensors(R"({"late": {"dtype":"I64","shape":[1],"data_offsets":[3,11]},)"
                        R"("empty":{"dtype":"F32","shape":[4,0],"data_offsets":[3,3]},)"
                        R"("first":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                        R"("scalar":{"dtype":"BF16","shape":[],"data_offsets":[11,13]}}   )",
                        13);
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  std::vector<std::string> names;
  for (const SafetensorsTensor& tensor : read->tensors) names.push_back(tensor.name);
  EXPECT_THAT(names, ElementsAre("first", "empty", "late", "scalar"));
  EXPECT_EQ(read->find_tensor("late")->begin, 3_B);
  EXPECT_EQ(read->find_tensor("x"), nullptr);
}

// Bits of one element, by the format's names: F8_E4M3 has 1 + 4 + 3.
TEST(SafetensorsReaderTest, EveryDtypeByName) {
  struct Row {
    const char* name;
    int64_t bits;
  };
  constexpr std::array kRows = {
      Row{"BOOL", 8},    Row{"F4", 4},          Row{"F6_E2M3", 6},     Row{"F6_E3M2", 6},
      Row{"U8", 8},      Row{"I8", 8},          Row{"F8_E5M2", 8},     Row{"F8_E4M3", 8},
      Row{"F8_E8M0", 8}, Row{"F8_E4M3FNUZ", 8}, Row{"F8_E5M2FNUZ", 8}, Row{"I16", 16},
      Row{"U16", 16},    Row{"F16", 16},        Row{"BF16", 16},       Row{"I32", 32},
      Row{"U32", 32},    Row{"F32", 32},        Row{"C64", 64},        Row{"F64", 64},
      Row{"I64", 64},    Row{"U64", 64}};
  ASSERT_EQ(kRows.size(), safetensors_formats().size());
  for (size_t i = 0; i < kRows.size(); ++i) {
    const auto dtype = parse_safetensors_dtype(kRows[i].name);
    ASSERT_TRUE(dtype) << kRows[i].name;
    EXPECT_EQ(static_cast<size_t>(*dtype), i);
    EXPECT_EQ(name_of(*dtype), kRows[i].name);
    EXPECT_EQ(format_of(*dtype).bits, kRows[i].bits) << kRows[i].name;
    EXPECT_EQ(whole_bytes(*dtype, std::array<int64_t, 2>{2, 12}), Bytes::of(3 * kRows[i].bits));
  }
  EXPECT_EQ(parse_safetensors_dtype("f16"), std::nullopt);
  EXPECT_EQ(whole_bytes(SafetensorsDType::kF4, std::array<int64_t, 1>{3}), std::nullopt);
}

TEST(SafetensorsReaderTest, UnknownMembersArePassedOver) {
  EXPECT_TRUE(parse_safetensors(R"({"w":{"note":{"a":[1,{"b":2}]},"dtype":"U8","shape":[1],)"
                                R"("data_offsets":[0,1],"shapes":[[3]]}})",
                                1)
                  .ok());
}

TEST(SafetensorsReaderTest, HeadersThatCannotBe) {
  const auto problems = [](const std::string& bytes) {
    MemorySource source(std::as_bytes(std::span(bytes)));
    return to_string(parse_safetensors_header("x.safetensors", source).diagnostics());
  };
  const std::string begin = "x.safetensors: error: ";
  EXPECT_EQ(problems("1234567"), begin +
                                     "byte 0: the file ends inside the length of its header\n"
                                     "  hint: the file was cut off: fetch it again\n");
  EXPECT_EQ(problems(ByteText().u64(100'000'001).bytes()),
            begin +
                "byte 0: a header of 100000001 bytes is more than the 100000000 that the format "
                "allows\n  hint: is this a safetensors file?\n");
  EXPECT_EQ(problems(ByteText().u64(11).raw("{}").bytes()),
            begin +
                "byte 0: a header of 11 bytes does not fit into the 2 that follow\n"
                "  hint: the file was cut off or is no safetensors file\n");
  EXPECT_EQ(problems(ByteText().u64(0).bytes()),
            begin +
                "byte 8: the header does not begin with \"{\"\n"
                "  hint: is this a safetensors file?\n");
  EXPECT_EQ(problems_of(" {}"), begin +
                                    "byte 8: the header does not begin with \"{\"\n"
                                    "  hint: is this a safetensors file?\n");
}

TEST(SafetensorsReaderTest, JsonThatIsNone) {
  const std::string begin = "x.safetensors: error: ";
  EXPECT_EQ(problems_of("{"), begin + "byte 8: this is no JSON, after {\n");
  EXPECT_EQ(problems_of(R"({"a":1,})"), begin +
                                            "a: byte 14: must be an object with dtype, shape "
                                            "and data_offsets\n" +
                                            begin + "byte 15: this is no JSON, after 1,}\n");
  EXPECT_EQ(problems_of("{} x"), begin + "byte 11: this is no JSON, after {} x\n");
  EXPECT_EQ(problems_of("{\"\xFF\":1}"), begin + "byte 10: this is no JSON, after \"\\xff\n");
  const std::string deep = R"({"a":)" + std::string(32, '[');
  EXPECT_THAT(problems_of(deep), ::testing::HasSubstr("byte 44: nested more than 32 deep\n"));
  // A hundred thousand brackets need no stack.
  EXPECT_THAT(problems_of("{\"a\":" + std::string(100'000, '[')),
              ::testing::HasSubstr("nested more than 32 deep"));
}

TEST(SafetensorsReaderTest, EntriesThatCannotBe) {
  const auto entry = [](std::string_view members) {
    return problems_of(R"({"w":{)" + std::string(members) + "}}", 4);
  };
  const std::string at = "x.safetensors: error: w: byte ";
  EXPECT_EQ(entry(R"("shape":[1],"data_offsets":[0,4])"), at + "13: dtype is missing\n");
  EXPECT_EQ(entry(R"("dtype":"F32","data_offsets":[0,4])"), at + "13: shape is missing\n");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[1])"), at + "13: data_offsets must be two integers\n");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0])"),
            at + "13: data_offsets must be two integers\n");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"),
            at + "61: data_offsets has more than 2 values\n");
  EXPECT_EQ(entry(R"("dtype":"F31","shape":[1],"data_offsets":[0,4])"),
            at + "26: unknown dtype \"F31\"\n");
  EXPECT_EQ(entry(R"("dtype":32,"shape":[1],"data_offsets":[0,4])"),
            at + "24: dtype must be a text\n");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":1,"data_offsets":[0,4])"),
            at + "37: shape must be a list of integers\n");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"),
            at + "39: shape must hold integers from 0 to 2^63 - 1\n");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"),
            at + "40: shape must hold integers from 0 to 2^63 - 1\n");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"),
            at + "37: shape must hold integers from 0 to 2^63 - 1\n");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4])"),
            at + "57: shape must hold integers from 0 to 2^63 - 1\n");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"),
            at + "13: data_offsets: the end is before the begin\n");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"),
            at + "13: shape and dtype need 8 bytes, data_offsets span 4\n");
  EXPECT_EQ(entry(R"("dtype":"F4","shape":[7],"data_offsets":[0,4])"),
            at + "13: 7 elements of 4 bits are no whole number of bytes\n");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])"),
            at + "13: the size of the tensor does not fit into 63 bits\n");
  EXPECT_EQ(entry(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"),
            "x.safetensors: error: dtype: byte 34: the key appears twice in one object\n");
  std::string long_shape = "1";
  for (int i = 0; i < 32; ++i) long_shape += ",1";
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[)" + long_shape + R"(],"data_offsets":[0,4])"),
            at + "102: shape has more than 32 values\n");
}

TEST(SafetensorsReaderTest, NamesAndMetadataThatCannotBe) {
  const std::string begin = "x.safetensors: error: ";
  constexpr std::string_view kOne = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_EQ(problems_of("{\"w\":" + std::string(kOne) + ",\"w\":" + std::string(kOne) + "}", 1),
            begin + "w: byte 63: the key appears twice in one object\n");
  EXPECT_EQ(problems_of("{\"\":" + std::string(kOne) + "}", 1),
            begin + "byte 12: the name of a tensor is empty\n");
  EXPECT_EQ(problems_of(R"({"__metadata__":1})"),
            begin + "__metadata__: byte 25: must be an object of texts\n");
  EXPECT_EQ(problems_of(R"({"__metadata__":{"a":1}})"),
            begin + "a: byte 30: a value of __metadata__ must be a text\n");
  EXPECT_EQ(problems_of(R"({"__metadata__":{"a":{"b":"c"}}})"),
            begin + "a: byte 29: a value of __metadata__ must be a text\n");
}

TEST(SafetensorsReaderTest, TheDataIsCoveredExactly) {
  const auto two = [](std::string_view a, std::string_view b, size_t data) {
    return problems_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + std::string(a) +
                           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + std::string(b) +
                           "}}",
                       data);
  };
  const std::string begin = "x.safetensors: error: ";
  // The JSON has 105 bytes: the data begins at byte 113.
  EXPECT_EQ(two("[0,4]", "[4,8]", 8), "");
  EXPECT_EQ(two("[4,8]", "[0,4]", 8), "");
  EXPECT_EQ(two("[0,4]", "[3,7]", 7),
            begin +
                "b: byte 65: its data begins at 3, but the tensors before it end at 4: they "
                "overlap\n");
  EXPECT_EQ(two("[0,4]", "[5,9]", 9),
            begin +
                "b: byte 65: its data begins at 5, but the tensors before it end at 4: there "
                "is a hole\n");
  EXPECT_EQ(two("[1,5]", "[5,9]", 9),
            begin +
                "a: byte 13: its data begins at 1, but the tensors before it end at 0: there "
                "is a hole\n");
  EXPECT_EQ(two("[0,4]", "[4,8]", 5),
            begin +
                "byte 118: the file ends here, but its data needs 3 bytes more\n"
                "  hint: the file was cut off: fetch it again\n");
  EXPECT_EQ(two("[0,4]", "[4,8]", 10),
            begin + "byte 121: 2 bytes follow that belong to no tensor\n");
}

}  // namespace
}  // namespace tidemark

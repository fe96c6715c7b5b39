// Sets of GGUF files, as llama.cpp's gguf-split writes them.
#include <gtest/gtest.h>

#include <filesystem>

#include "planner/import/gguf_reader.h"
#include "planner/import/gguf_writer.h"
#include "support/golden.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::TemporaryFolder;

GgufValue number(GgufType type, int64_t value) {
  return {.type = type, .element_type = type, .elements = {value}};
}

struct Part {
  int64_t no = 0;
  int64_t count = 3;
  int64_t tensors = 4;
  std::vector<std::string> names{};
};

void write_part(const std::filesystem::path& path, const Part& part) {
  GgufHeader header;
  header.keys["split.no"] = number(GgufType::kUint16, part.no);
  header.keys["split.count"] = number(GgufType::kUint16, part.count);
  header.keys["split.tensors.count"] = number(GgufType::kInt32, part.tensors);
  if (part.no == 0) header.keys["llama.block_count"] = number(GgufType::kUint32, 2);
  for (const std::string& name : part.names) {
    header.tensors.push_back({.name = name, .dims = {32}, .type_id = 0});
  }
  const Result<GgufHeader> written = write_gguf(path, header);
  ASSERT_TRUE(written.ok()) << to_string(written.diagnostics());
}

// Three parts: metadata and one tensor, one tensor, two tensors.
class GgufSplitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    write_part(part(1), {.no = 0, .names = {"token_embd.weight"}});
    write_part(part(2), {.no = 1, .names = {"blk.0.w"}});
    write_part(part(3), {.no = 2, .names = {"blk.1.w", "output.weight"}});
  }
  std::filesystem::path part(int number) const {
    return folder_.path() / ("m-0000" + std::to_string(number) + "-of-00003.gguf");
  }
  std::string problems() const { return to_string(read_gguf(part(1)).diagnostics()); }

  TemporaryFolder folder_;
};

TEST_F(GgufSplitTest, AnyPartGivesTheWholeTable) {
  for (int number = 1; number <= 3; ++number) {
    const Result<GgufHeader> read = read_gguf(part(number));
    ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
    EXPECT_EQ(read->integer("llama.block_count"), 2);
    ASSERT_EQ(read->tensors.size(), 4U);
    ASSERT_EQ(read->parts.size(), 3U);
    EXPECT_EQ(read->tensors[0].name, "token_embd.weight");
    EXPECT_EQ(read->tensors[0].part, 0);
    EXPECT_EQ(read->tensors[3].name, "output.weight");
    EXPECT_EQ(read->tensors[3].part, 2);
    EXPECT_EQ(read->tensors[3].offset, 128_B);  // 32 x 4 B of blk.1.w before it
    EXPECT_EQ(read->parts[1].file, part(2).string());
    EXPECT_GT(read->parts[0].data_offset, read->parts[1].data_offset);  // one key more
  }
}

TEST_F(GgufSplitTest, EveryMissingPartIsNamed) {
  std::filesystem::remove(part(2));
  std::filesystem::remove(part(3));
  const std::string begin = part(1).string() + ": error: part ";
  EXPECT_EQ(problems(), begin +
                            "2 of 3 is missing: m-00002-of-00003.gguf\n"
                            "  hint: put all parts into one folder\n" +
                            begin +
                            "3 of 3 is missing: m-00003-of-00003.gguf\n"
                            "  hint: put all parts into one folder\n");
}

TEST_F(GgufSplitTest, ADamagedPartIsNamed) {
  std::filesystem::resize_file(part(2), 10);
  EXPECT_EQ(problems(), part(2).string() +
                            ": error: byte 8: the file ends inside the number of tensors\n"
                            "  hint: the file was cut off or is damaged: fetch it again\n");
}

TEST_F(GgufSplitTest, PartsOfAnotherSetAreRefused) {
  // Value offsets: 24 + (8 + 11 + 4) = 47 for split.count, + 2 + (8 + 8 + 4) = 69 for split.no.
  write_part(part(2), {.no = 2, .count = 4, .names = {"blk.0.w"}});
  const std::string begin = part(2).string() + ": error: split.";
  EXPECT_EQ(problems(), begin +
                            "count: byte 47: must be 3 in this part\n"
                            "  hint: the parts belong to different sets, or were renamed\n" +
                            begin +
                            "no: byte 69: must be 1 in this part\n"
                            "  hint: the parts belong to different sets, or were renamed\n");
}

TEST_F(GgufSplitTest, ATensorInTwoPartsIsRefused) {
  write_part(part(2), {.no = 1, .names = {"token_embd.weight"}});
  EXPECT_EQ(problems(), part(1).string() +
                            ": error: token_embd.weight: the tensor of m-00002-of-00003.gguf is "
                            "in an earlier part, too\n");
}

TEST_F(GgufSplitTest, ALostTensorIsNoticed) {
  write_part(part(2), {.no = 1, .names = {}});
  // "llama.block_count" (8 + 17 + 4 + 4 = 33) stands first here: 24 + 33 + 25 + 22 + 8 + 19 + 4.
  EXPECT_EQ(problems(), part(1).string() +
                            ": error: split.tensors.count: byte 135: the parts hold 3 tensors "
                            "together, which is not what this says\n");
}

TEST_F(GgufSplitTest, ARenamedPartIsExplained) {
  const std::filesystem::path renamed = folder_.path() / "model.gguf";
  std::filesystem::rename(part(1), renamed);
  EXPECT_EQ(to_string(read_gguf(renamed).diagnostics()),
            renamed.string() +
                ": error: split.count: the file is one of 3 parts, but its name does not say so\n"
                "  hint: name the parts NAME-00001-of-00003.gguf and so on\n");
  // A name of five letters where digits belong.
  const std::filesystem::path letters = folder_.path() / "m-0000a-of-00003.gguf";
  std::filesystem::rename(renamed, letters);
  EXPECT_FALSE(read_gguf(letters).ok());
}

TEST_F(GgufSplitTest, ACountThatIsNoneIsRefused) {
  GgufHeader header;
  header.keys["split.count"] = number(GgufType::kInt32, -1);
  const std::filesystem::path path = folder_.path() / "x.gguf";
  ASSERT_TRUE(write_gguf(path, header).ok());
  EXPECT_EQ(to_string(read_gguf(path).diagnostics()),
            path.string() + ": error: split.count: byte 47: must be an integer from 0 to 65535\n");
}

TEST_F(GgufSplitTest, ASetOfOneIsAFile) {
  const std::filesystem::path path = folder_.path() / "x.gguf";
  write_part(path, {.no = 0, .count = 1, .tensors = 1, .names = {"w"}});
  EXPECT_TRUE(read_gguf(path).ok());
}

}  // namespace
}  // namespace tidemark

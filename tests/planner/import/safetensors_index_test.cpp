// Indices of checkpoints in shards, and shards read through them.
#include "planner/import/safetensors_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/base/files.h"
#include "planner/import/safetensors_writer.h"
#include "support/golden.h"

namespace tidemark {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using testing::TemporaryFolder;

std::string problems_of(std::string_view json) {
  return to_string(parse_checkpoint_index("i.json", json).diagnostics());
}

std::optional<Bytes> total_of(std::string_view number) {
  const Result<CheckpointIndex> index = parse_checkpoint_index(
      "i.json", R"({"metadata":{"total_size":)" + std::string(number) + R"(},"weight_map":{}})");
  EXPECT_TRUE(index.ok()) << to_string(index.diagnostics());
  return index.ok() ? index->total_size : std::nullopt;
}

TEST(CheckpointIndexTest, TensorsTotalAndShards) {
  const Result<CheckpointIndex> index =
      parse_checkpoint_index("i.json",
                             R"({"metadata": {"total_size": 24, "format": {"x": [1]}}, "more": null,
          "weight_map": {"c": "m-2.safetensors", "a": "m-1.safetensors", "b": "m-2.safetensors"}})");
  ASSERT_TRUE(index.ok()) << to_string(index.diagnostics());
  EXPECT_EQ(index->total_size, 24_B);
  EXPECT_EQ(index->weight_map.size(), 3U);
  EXPECT_EQ(index->weight_map.at("a"), "m-1.safetensors");
  EXPECT_THAT(index->shards(), ElementsAre("m-1.safetensors", "m-2.safetensors"));
}

TEST(CheckpointIndexTest, TheTotalIsWrittenInSeveralWays) {
  EXPECT_EQ(total_of("6425499648"), 6425499648_B);
  EXPECT_EQ(total_of("6425499648.0"), 6425499648_B);
  EXPECT_EQ(total_of("1.5e3"), 1500_B);
  EXPECT_EQ(total_of("0"), 0_B);
  // No whole number of bytes, or too large: left out.
  EXPECT_EQ(total_of("1.5"), std::nullopt);
  EXPECT_EQ(total_of("1e30"), std::nullopt);
  EXPECT_EQ(total_of("18446744073709551615"), std::nullopt);
  EXPECT_EQ(parse_checkpoint_index("i.json", R"({"weight_map":{}})")->total_size, std::nullopt);
  EXPECT_EQ(problems_of(R"({"metadata":{"total_size":-1},"weight_map":{}})"),
            "i.json: error: metadata.total_size: byte 28: must be a number of bytes\n");
  EXPECT_EQ(problems_of(R"({"metadata":{"total_size":"1"},"weight_map":{}})"),
            "i.json: error: metadata.total_size: byte 28: must be a number of bytes\n");
}

TEST(CheckpointIndexTest, IndicesThatCannotBe) {
  EXPECT_EQ(problems_of("{}"), "i.json: error: weight_map: the key is missing\n");
  EXPECT_EQ(problems_of("[]"), "i.json: error: byte 0: the index must be an object\n");
  EXPECT_EQ(problems_of(""), "i.json: error: byte 0: this is no JSON, after its begin\n");
  EXPECT_EQ(problems_of(R"({"weight_map":[]})"),
            "i.json: error: weight_map: byte 14: must be an object of file names\n");
  EXPECT_EQ(problems_of(R"({"weight_map":{"a":1}})"),
            "i.json: error: a: byte 20: must be the name of a file\n");
  EXPECT_EQ(problems_of(R"({"weight_map":{"a":"f","a":"f"}})"),
            "i.json: error: a: byte 25: the key appears twice in one object\n");
  for (const char* name : {"../x.safetensors", "/x", "a/b", "..", ".", "", "a\\\\b", "a\\u0000b"}) {
    EXPECT_THAT(problems_of(R"({"weight_map":{"a":")" + std::string(name) + "\"}}"),
                ::testing::HasSubstr("is no name of a file beside the index"))
        << name;
  }
}

// Two shards: a (4 B) and b (8 B) in the first, c (12 B) in the second.
class ShardsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    write("m-1.safetensors", {{"a", 1}, {"b", 2}});
    write("m-2.safetensors", {{"c", 3}});
    index(R"("a":"m-1.safetensors","b":"m-1.safetensors","c":"m-2.safetensors")");
  }
  void write(const std::string& shard, const std::vector<std::pair<std::string, int64_t>>& rows) {
    SafetensorsHeader header{.metadata = {{"format", shard}}};
    for (const auto& [name, values] : rows) {
      header.tensors.push_back({.name = name, .shape = {values}});
    }
    ASSERT_TRUE(write_safetensors(folder_.path() / shard, header).ok());
  }
  void index(const std::string& map) {
    ASSERT_TRUE(write_file(path(), R"({"weight_map":{)" + map + "}}").ok());
  }
  std::filesystem::path path() const { return folder_.path() / "model.safetensors.index.json"; }
  std::string problems() const { return to_string(read_safetensors_shards(path()).diagnostics()); }
  std::string at() const { return path().string() + ": error: "; }

  TemporaryFolder folder_;
};

TEST_F(ShardsTest, BecomeOneTable) {
  const Result<SafetensorsHeader> read = read_safetensors_shards(path());
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  ASSERT_EQ(read->tensors.size(), 3U);
  EXPECT_EQ(read->tensors[1].name, "b");
  EXPECT_EQ(read->tensors[1].begin, 4_B);
  EXPECT_EQ(read->tensors[1].part, 0);
  EXPECT_EQ(read->tensors[2].name, "c");
  EXPECT_EQ(read->tensors[2].begin, 0_B);
  EXPECT_EQ(read->tensors[2].part, 1);
  ASSERT_EQ(read->parts.size(), 2U);
  EXPECT_EQ(read->parts[1].file, (folder_.path() / "m-2.safetensors").string());
  EXPECT_EQ(read->metadata.at("format"), "m-1.safetensors");
}

TEST_F(ShardsTest, MissingOnesAreNamed) {
  std::filesystem::remove(folder_.path() / "m-1.safetensors");
  std::filesystem::remove(folder_.path() / "m-2.safetensors");
  EXPECT_THAT(missing_shards(*read_checkpoint_index(path()), folder_.path()),
              ElementsAre("m-1.safetensors", "m-2.safetensors"));
  EXPECT_EQ(problems(), at() +
                            "weight_map: the shard m-1.safetensors is missing\n"
                            "  hint: put all shards beside the index\n" +
                            at() +
                            "weight_map: the shard m-2.safetensors is missing\n"
                            "  hint: put all shards beside the index\n");
}

TEST_F(ShardsTest, MustHoldWhatTheIndexSays) {
  index(R"("a":"m-1.safetensors","b":"m-2.safetensors")");
  EXPECT_EQ(problems(), at() + "b: m-1.safetensors has it, but the index says m-2.safetensors\n");
  index(R"("a":"m-1.safetensors","c":"m-2.safetensors")");
  EXPECT_EQ(problems(), at() + "b: m-1.safetensors has it, the index does not\n");
  index(R"("a":"m-1.safetensors","b":"m-1.safetensors","c":"m-2.safetensors",)"
        R"("d":"m-2.safetensors")");
  EXPECT_EQ(problems(), at() + "d: the shard m-2.safetensors has no such tensor\n");
}

TEST_F(ShardsTest, OtherFormatsAreNotRead) {
  ASSERT_TRUE(write_file(folder_.path() / "m-1.bin", "PK").ok());
  index(R"("a":"m-1.bin")");
  EXPECT_EQ(problems(), at() +
                            "weight_map: m-1.bin is no safetensors file\n"
                            "  hint: only shards in the safetensors format can be read: convert "
                            "them\n");
}

TEST_F(ShardsTest, ADamagedShardIsNamed) {
  std::filesystem::resize_file(folder_.path() / "m-2.safetensors", 4);
  EXPECT_EQ(problems(), (folder_.path() / "m-2.safetensors").string() +
                            ": error: byte 0: the file ends inside the length of its header\n"
                            "  hint: the file was cut off: fetch it again\n");
}

}  // namespace
}  // namespace tidemark

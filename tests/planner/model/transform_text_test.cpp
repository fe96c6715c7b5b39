#include <gtest/gtest.h>

#include "planner/model/transform.h"

namespace tidemark {
namespace {

TEST(TransformTextTest, TextsThatAreNoTransforms) {
  for (const char* text : {"prune",
                           "",
                           "=3",
                           "drop-layers",
                           "drop-layers=",
                           "drop-layers=-1",
                           "drop-layers=1.5",
                           "drop-layers=3-2",
                           "drop-layers=3+4",
                           "drop-layers=1-2+",
                           "drop-layers=99999999999999999999",
                           "keep-heads",
                           "keep-heads=0",
                           "keep-heads=1.1",
                           "keep-heads=2",
                           "keep-heads=0.",
                           "keep-heads=.5",
                           "keep-heads=0.0000001",
                           "keep-heads=-0.5",
                           "keep-heads=50%",
                           "keep-ffn=nan",
                           "vocab=",
                           "vocab=+1",
                           "vocab=32k",
                           "tie=1",
                           "tie ",
                           " tie"}) {
    EXPECT_FALSE(parse_transform(text).ok()) << text;
  }
  EXPECT_EQ(to_string(parse_transforms("prune,tie=1").diagnostics()),
            "error: \"prune\" is no transform\n"
            "  hint: there are: keep-layers=N, drop-layers=N, drop-layers=20-27, keep-heads=0.5, "
            "keep-ffn=0.75, vocab=N, tie\n"
            "error: \"tie=1\" takes no value\n"
            "  hint: write tie alone\n");
}

TEST(TransformTextTest, TextsAreReadAndWrittenAlike) {
  for (const char* text :
       {"keep-layers=6", "drop-layers=8", "drop-layers=3-3+20-27", "keep-heads=0.5",
        "keep-ffn=0.000001", "keep-ffn=1", "vocab=32000", "tie"}) {
    const Result<Transform> read = parse_transform(text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(to_string(*read), text);
  }
  EXPECT_EQ(parse_transform("keep-heads=0.50")->part, 500'000);
  EXPECT_EQ(parse_transform("keep-heads=1.000")->part, kWholePart);
}

}  // namespace
}  // namespace tidemark

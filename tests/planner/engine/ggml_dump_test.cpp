#include "planner/engine/ggml_dump.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "planner/engine/ggml_alloc.h"
#include "planner/engine/ggml_replay.h"

namespace tidemark {
namespace {

constexpr std::string_view kHeader =
    "id\tkind\top\tname\ttype\tne0\tne1\tne2\tne3\tnbytes\tcontig\texternal\tflags\tview_of\t"
    "view_offs\tsrcs\n";

// The lines of a dump, in which blanks stand for tabs.
std::string dump(std::string lines) {
  for (char& sign : lines) {
    if (sign == ' ') sign = '\t';
  }
  return std::string(kHeader) + lines;
}

// The example at the head of ggml_dump.h.
TEST(GgmlDumpTest, TwoTensors) {
  const std::string text = "# compute_bytes\t64\n# n_nodes\t1\n# n_leafs\t1\n" +
                           dump(
                               "0 leaf NONE x f32 8 1 1 1 32 1 0 I -1 0 -\n"
                               "1 node SQR y f32 8 1 1 1 32 1 0 O -1 0 0\n");
  ASSERT_TRUE(is_ggml_dump(text));
  const GgmlDump read = read_ggml_dump(text, "x.tsv").value();
  EXPECT_EQ(read.compute_bytes, Bytes::of(64));
  ASSERT_EQ(read.graph.tensors.size(), 2U);
  const GgmlTensor& x = read.graph.tensors[0];
  EXPECT_TRUE(x.leaf && x.input && !x.output && x.contiguous && !x.external && !x.owner);
  const GgmlTensor& y = read.graph.tensors[1];
  EXPECT_TRUE(!y.leaf && !y.input && y.output);
  EXPECT_EQ(y.op + y.name + y.type, "SQRyf32");
  EXPECT_EQ(y.ne, (std::array<int64_t, 4>{8, 1, 1, 1}));
  EXPECT_EQ(y.bytes, Bytes::of(32));
  EXPECT_EQ(y.sources, std::vector{TensorId(0)});
}

TEST(GgmlDumpTest, ViewsAndOrderOfKinds) {
  const auto read = read_ggml_dump(dump("0 leaf NONE w q4_K 256 1 1 1 144 1 1 - -1 0 -\r\n"
                                        "1 node VIEW v q4_K 256 1 1 1 72 0 1 - 0 72 0\r\n"
                                        "\r\n"
                                        "2 leaf NONE x f32 0 1 1 1 0 1 0 IO -1 0 -"),
                                   "x.tsv");
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_FALSE(read->compute_bytes);
  EXPECT_EQ(read->graph.tensors[1].owner, TensorId(0));
  EXPECT_EQ(read->graph.tensors[1].offset_in_owner, Bytes::of(72));
  EXPECT_FALSE(read->graph.tensors[1].contiguous);
  EXPECT_TRUE(read->graph.tensors[2].input && read->graph.tensors[2].output);
}

TEST(GgmlDumpTest, IsToldFromOtherTables) {
  EXPECT_TRUE(is_ggml_dump(kHeader));
  EXPECT_FALSE(is_ggml_dump("id,lower,upper,size\n"));
  EXPECT_FALSE(is_ggml_dump(""));
}

struct BrokenDump {
  std::string name{};
  std::string text{};
  std::string error{};
};

class BrokenDumpTest : public testing::TestWithParam<BrokenDump> {};

TEST_P(BrokenDumpTest, IsToldWithItsPlace) {
  const Result<GgmlDump> read = read_ggml_dump(GetParam().text, "x.tsv");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(to_string(read.diagnostics()), GetParam().error);
}

const std::string kX = "0 leaf NONE x f32 8 1 1 1 32 1 0 I -1 0 -\n";

INSTANTIATE_TEST_SUITE_P(
    Dumps, BrokenDumpTest,
    testing::Values(
        BrokenDump{"Nothing", "", "x.tsv: error: no header\n  hint: id, kind, op, name, ...\n"},
        BrokenDump{"Header", "a" + std::string(kHeader),
                   "x.tsv:1:1: error: id: the header says \"aid\" here\n"
                   "  hint: columns keep their order\n"},
        BrokenDump{"Fields", dump("0 leaf NONE x\n"),
                   "x.tsv:2:1: error: 4 fields separated by tabs, not 16\n"},
        BrokenDump{"Id", dump("1 leaf NONE x f32 8 1 1 1 32 1 0 I -1 0 -\n"),
                   "x.tsv:2:1: error: id: the next is 0\n"},
        BrokenDump{"AllOfALine", dump("0 loaf NONE x f32 8 1 1 -1 3x 2 0 Q -2 0 a\n"),
                   "x.tsv:2:3: error: kind: is neither leaf nor node\n"
                   "x.tsv:2:25: error: ne3: \"-1\" is no integer from 0 to 4398046511104\n"
                   "x.tsv:2:28: error: nbytes: \"3x\" is no integer from 0 to 4398046511104\n"
                   "x.tsv:2:31: error: contig: is neither 0 nor 1\n"
                   "x.tsv:2:35: error: flags: \"Q\" is not made of I and O\n  hint: - for none\n"
                   "x.tsv:2:37: error: view_of: \"-2\" is no integer from -1 to 4398046511104\n"
                   "x.tsv:2:42: error: srcs: \"a\" is no id\n"},
        BrokenDump{"TooLarge", dump("0 leaf NONE x f32 8 1 1 1 4398046511105 1 0 I -1 0 -\n"),
                   "x.tsv:2:27: error: nbytes: \"4398046511105\" is no integer from 0 to "
                   "4398046511104\n"},
        BrokenDump{"LeafWithAnOp", dump("0 leaf SQR x f32 8 1 1 1 32 1 0 I -1 0 -\n"),
                   "x.tsv:2:8: error: op: a leaf has none\n"},
        BrokenDump{"LeafWithSources", dump(kX + "1 leaf NONE x f32 8 1 1 1 32 1 0 I -1 0 0\n"),
                   "x.tsv:3:41: error: srcs: a leaf has none\n"},
        BrokenDump{"NodeWithoutAnOp", dump("0 node NONE x f32 8 1 1 1 32 1 0 I -1 0 -\n"),
                   "x.tsv:2:8: error: op: a node has one\n"},
        BrokenDump{"SourceIsItself", dump(kX + "1 node SQR y f32 8 1 1 1 32 1 0 O -1 0 0,1\n"),
                   "x.tsv:3:40: error: srcs: no earlier tensor has the id 1\n"},
        BrokenDump{"SourceBelowZero", dump(kX + "1 node SQR y f32 8 1 1 1 32 1 0 O -1 0 -3\n"),
                   "x.tsv:3:40: error: srcs: no earlier tensor has the id -3\n"},
        BrokenDump{"ManySources",
                   dump(kX + "1 node SQR y f32 8 1 1 1 32 1 0 O -1 0 0,0,0,0,0,0,0,0,0,0,0\n"),
                   "x.tsv:3:40: error: srcs: more than 10\n"},
        BrokenDump{"ViewOfItself", dump(kX + "1 node VIEW y f32 8 1 1 1 32 1 0 - 1 0 0\n"),
                   "x.tsv:3:36: error: view_of: no earlier tensor has the id 1\n"},
        BrokenDump{"ViewOfAView",
                   dump(kX + "1 node VIEW y f32 8 1 1 1 32 1 0 - 0 0 0\n" +
                        "2 node VIEW z f32 8 1 1 1 32 1 0 - 1 0 1\n"),
                   "x.tsv:4:36: error: view_of: tensor 1 is a view itself\n"},
        BrokenDump{"ViewPastTheEnd", dump(kX + "1 node VIEW y f32 8 1 1 1 32 1 0 - 0 4 0\n"),
                   "x.tsv:3:38: error: view_offs: the view ends after tensor 0\n"},
        BrokenDump{"ViewOfWhatItDoesNotRead",
                   dump(kX + "1 leaf NONE w f32 8 1 1 1 32 1 0 - -1 0 -\n" +
                        "2 node VIEW y f32 8 1 1 1 32 1 0 - 0 0 1\n"),
                   "x.tsv:4:40: error: srcs: none of them lives in tensor 0, which it views\n"},
        BrokenDump{"OffsetWithoutAView", dump("0 leaf NONE x f32 8 1 1 1 32 1 0 I -1 9 -\n"),
                   "x.tsv:2:39: error: view_offs: is no view\n"},
        BrokenDump{"ViewElsewhere", dump(kX + "1 node VIEW y f32 8 1 1 1 32 1 1 - 0 0 0\n"),
                   "x.tsv:3:32: error: external: differs from that of tensor 0, whose memory it "
                   "is\n"},
        BrokenDump{"Count", "# n_nodes\t1\n" + dump(kX),
                   "x.tsv: error: n_nodes: is 1, but there are 0\n  hint: is the file whole?\n"},
        BrokenDump{"CountOfWhat", "# n_nodes\tone\n" + dump(kX),
                   "x.tsv:1:11: error: n_nodes: \"one\" is no count\n"}),
    [](const auto& row) { return row.param.name; });

// Signs put anywhere into a dump: it is read or refused, and what is read can be reserved for.
RC_GTEST_PROP(GgmlDumpLaw, NoTextBreaksTheReader, ()) {
  std::string text = dump(
      "0 leaf NONE x f32 8 1 1 1 32 1 0 I -1 0 -\n"
      "1 node SQR y f32 8 1 1 1 32 1 0 - -1 0 0\n"
      "2 node VIEW v f32 4 1 1 1 16 1 0 - 1 16 1\n"
      "3 node MUL_MAT z f32 8 1 1 1 32 1 0 O -1 0 2,0\n");
  for (int changes = *rc::gen::inRange(1, 4); changes > 0; --changes) {
    const auto at = *rc::gen::inRange<size_t>(kHeader.size(), text.size());
    text[at] = *rc::gen::element('0', '1', '2', '3', '9', '-', ',', '\t', '\n', 'I', 'O', '\0');
  }
  const Result<GgmlDump> read = read_ggml_dump(text, "x.tsv");
  if (!read) return;
  const GgmlReservation made = reserve(read->graph);
  // The engine frees what a view flagged as output sees.
  if (std::ranges::any_of(read->graph.tensors, [](const auto& t) { return t.owner && t.output; })) {
    return;
  }
  RC_ASSERT(replay(read->graph, made.offsets, made.reserved, GgmlInPlace::kEngine).empty());
}

}  // namespace
}  // namespace tidemark

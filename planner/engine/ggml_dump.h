// Dumps of ggml graphs, one tensor a line, tab-separated:
//
//   # compute_bytes <tab> 64            what the engine reserved; optional
//   # n_nodes <tab> 1                   optional, then held against the lines
//   # n_leafs <tab> 1
//   id kind op   name type ne0 ne1 ne2 ne3 nbytes contig external flags view_of view_offs srcs
//   0  leaf NONE x    f32  8   1   1   1   32     1      0        I     -1      0         -
//   1  node SQR  y    f32  8   1   1   1   32     1      0        O     -1      0         0
//   Checked by GgmlDumpTest.TwoTensors.
//
// id counts lines from 0. flags: any of I (input) and O (output), or "-". view_of: the id of the
// tensor whose memory it is, -1 for none. srcs: ids, comma-separated, or "-". Other lines that
// begin with "#" are comments.
#pragma once

#include <optional>
#include <string_view>

#include "planner/base/result.h"
#include "planner/engine/ggml_graph.h"

namespace tidemark {

struct GgmlDump {
  GgmlGraph graph{};
  std::optional<Bytes> compute_bytes{};
};

inline constexpr size_t kMostGgmlDumpErrors = 20;

// `file` names the text in diagnostics, each with line and column. Ids are bounded before they are
// used. What is told are the errors of the first line that has any, as later lines count on it.
Result<GgmlDump> read_ggml_dump(std::string_view text, std::string_view file);

// Does the text begin as a dump does? For telling it from other tables.
bool is_ggml_dump(std::string_view text);

}  // namespace tidemark

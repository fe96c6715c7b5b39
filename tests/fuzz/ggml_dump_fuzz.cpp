// Any bytes as the dump of a ggml graph, packed or not: read or refused, and what was read is
// reserved, packed and replayed without a fault.
#include <algorithm>

#include "corpus.h"
#include "planner/alloc/planners.h"
#include "planner/base/gzip.h"
#include "planner/engine/ggml_alloc.h"
#include "planner/engine/ggml_dump.h"
#include "planner/engine/ggml_replay.h"

namespace tidemark::fuzz {
namespace {

const std::string kHeader =
    "id\tkind\top\tname\ttype\tne0\tne1\tne2\tne3\tnbytes\tcontig\texternal\tflags\tview_of\t"
    "view_offs\tsrcs\n";

std::vector<Seed> seeds() {
  return {
      {"header.tsv", kHeader},
      {"chain.tsv", "# compute_bytes\t64\n# n_nodes\t3\n" + kHeader +
                        "0\tleaf\tNONE\tx\tf32\t8\t1\t1\t1\t32\t1\t0\tI\t-1\t0\t-\n"
                        "1\tnode\tSQR\ty\tf32\t8\t1\t1\t1\t32\t1\t0\t-\t-1\t0\t0\n"
                        "2\tnode\tVIEW\tv\tf32\t4\t1\t1\t1\t16\t1\t0\t-\t1\t16\t1\n"
                        "3\tnode\tMUL_MAT\tz\tf32\t8\t1\t1\t1\t32\t1\t0\tO\t-1\t0\t2,0\n"},
      {"cut.tsv.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\x02\x03\x2b\xc9", 12)},
  };
}

void use(const GgmlGraph& graph) {
  const GgmlReservation made = reserve(graph);
  // The engine frees what a view flagged as output sees.
  const bool safe = std::ranges::none_of(
      graph.tensors, [](const GgmlTensor& tensor) { return tensor.owner && tensor.output; });
  require(!safe || replay(graph, made.offsets, made.reserved, GgmlInPlace::kEngine).empty());
  for (const GgmlInPlace in_place : {GgmlInPlace::kNone, GgmlInPlace::kWithGlu}) {
    const GgmlPacking packing = packing_problem(graph, {.in_place = in_place});
    const Plan plan = tidemark::plan(packing.problem, PlannerKind::kFirstFitBySize);
    const auto offsets = tensor_offsets(graph, packing, plan);
    require(replay(graph, offsets, plan.peak, in_place).empty());
  }
}

}  // namespace
}  // namespace tidemark::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  tidemark::fuzz::write_corpus_if_asked(*argc, *argv, tidemark::fuzz::seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;
  const std::string bytes(data, data + size);
  const Result<Problem> problem = read_graph_problem(bytes, "x.tsv");
  fuzz::use_problems(problem);
  const Result<GgmlDump> dump = read_ggml_dump(bytes, "x.tsv");
  if (dump) fuzz::use(dump->graph);
  return 0;
}

// The graphs of 14 models in 7 variants, as that engine built them, tensor by tensor.
#include <gtest/gtest.h>

#include "../../import/test_data.h"
#include "planner/base/gzip.h"
#include "planner/engine/ggml_dump.h"
#include "planner/engine/llama_cpp/llama_graph.h"
#include "support/llamacpp_models.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::at;
using testing::CsvRow;

std::string text_of(const GgmlTensor& tensor) {
  std::string text = tensor.op + " '" + tensor.name + "' " + tensor.type;
  for (const int64_t n : tensor.ne) text += " " + std::to_string(n);
  text += " bytes " + std::to_string(tensor.bytes.count());
  for (const auto& [flag, name] : {std::pair(tensor.leaf, " leaf"),
                                   {tensor.contiguous, " packed"},
                                   {tensor.external, " external"},
                                   {tensor.input, " input"},
                                   {tensor.output, " output"}}) {
    if (flag) text += name;
  }
  if (tensor.owner) {
    text += " in " + std::to_string(tensor.owner->value()) + " at " +
            std::to_string(tensor.offset_in_owner.count());
  }
  for (const TensorId source : tensor.sources) text += " <" + std::to_string(source.value());
  return text;
}

// Everything but the names, which only people read.
GgmlTensor without_name(GgmlTensor tensor) {
  tensor.name.clear();
  return tensor;
}

// Tells the first difference only: all later ones follow from it.
void expect_same(const GgmlGraph& built, const GgmlGraph& dumped) {
  const size_t n = std::min(built.tensors.size(), dumped.tensors.size());
  for (size_t i = 0; i < n; ++i) {
    if (text_of(without_name(built.tensors[i])) == text_of(without_name(dumped.tensors[i])))
      continue;
    FAIL() << "tensor " << i << "\n  built  " << text_of(built.tensors[i]) << "\n  dumped "
           << text_of(dumped.tensors[i]);
  }
  EXPECT_EQ(built.tensors.size(), dumped.tensors.size());
}

LlamaSettings settings_of(const CsvRow& row) {
  const DType type = parse_dtype(row.at("type_kv")).value();
  return {.n_ctx = at(row, "n_ctx"),
          .n_ubatch = at(row, "n_tokens"),
          .n_seq = at(row, "n_seq"),
          .n_outputs_max = at(row, "n_outputs"),
          .flash = row.at("flash_attn") == "on" ? LlamaFlash::kOn : LlamaFlash::kOff,
          .type_k = type,
          .type_v = type,
          .kv_unified = at(row, "kv_unified") == 1,
          .swa_full = at(row, "swa_full") == 1};
}

Result<GgmlGraph> read_graph(const std::filesystem::path& file) {
  const Result<std::string> text = read_file_or_gzip(file, 64_MiB);
  if (!text) return text.diagnostics();
  const Result<GgmlDump> dump = read_ggml_dump(*text, file.string());
  if (!dump) return dump.diagnostics();
  return dump->graph;
}

TEST(DumpedGraphsTest, EveryGraphTensorByTensor) {
  TIDEMARK_NEED_TEST_DATA(index, "llamacpp/graphs/index.csv");
  const auto models = testing::measured_models(index.parent_path().parent_path(), "Q4_K_M");
  int checked = 0;
  for (const CsvRow& row : testing::read_csv(index)) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, row.at("file"));
    const testing::MeasuredModel& measured = models.at(row.at("model"));
    const LlamaContext context = llama_context(measured.model, settings_of(row));
    ASSERT_EQ(context.rejection, "");
    const Result<LlamaGraph> built =
        llama_graph(measured.model, measured.weights, context, prompt_run(context));
    ASSERT_TRUE(built.ok()) << to_string(built.diagnostics());
    EXPECT_TRUE(built->exact_for_architecture);
    const Result<GgmlGraph> dumped = read_graph(index.parent_path() / row.at("file"));
    ASSERT_TRUE(dumped.ok()) << to_string(dumped.diagnostics());
    expect_same(built->graph, *dumped);
    ++checked;
  }
  EXPECT_EQ(checked, 98);
}

}  // namespace
}  // namespace tidemark

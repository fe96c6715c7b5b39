#include "planner/engine/llama_cpp/llama_memory.h"

#include <gtest/gtest.h>

#include <set>

#include "../../import/test_data.h"
#include "support/llamacpp_models.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::at;
using testing::CsvRow;
using testing::MeasuredModel;
using testing::restated_model;

// 635,990,016 - 544,997,376 = 90,992,640; 635,990,016 - 6,488,064 = 629,501,952. As llama.cpp
// allocated them in a real run.
TEST(LlamaModelBuffersTest, WorkedInTheHeader) {
  const MeasuredModel tiny = restated_model("tinyllama-1.1b", "Q4_0");
  const LlamaModelBuffers made = llama_model_buffers(tiny.model, tiny.weights, LlamaRepack::kAvx2);
  EXPECT_EQ(made.whole, 635990016_B);
  EXPECT_EQ(made.repacked, 544997376_B);
  EXPECT_EQ(made.plain, 90992640_B);
  EXPECT_EQ(made.mapped, 629501952_B);
  const LlamaModelBuffers off = llama_model_buffers(tiny.model, tiny.weights, LlamaRepack::kNone);
  EXPECT_EQ(off.mapped, 635990016_B);
  EXPECT_EQ(off.plain, 635990016_B);
  EXPECT_EQ(off.repacked, 0_B);
}

// A tied Q8_0 embedding stays where it is for the look-up and is repacked for the product on ARM:
// 49,152 rows of 576 / 32 x 34 = 612 B.
TEST(LlamaModelBuffersTest, TiedEmbeddingsMayExistTwice) {
  const MeasuredModel small = restated_model("smollm2-135m", "Q8_0");
  const LlamaModelBuffers arm = llama_model_buffers(small.model, small.weights, LlamaRepack::kArm);
  const LlamaModelBuffers none =
      llama_model_buffers(small.model, small.weights, LlamaRepack::kNone);
  EXPECT_EQ(arm.plain + arm.repacked - none.whole, Bytes::of(49152 * 612));
  EXPECT_EQ(llama_model_buffers(small.model, small.weights, LlamaRepack::kAvx2).repacked, 0_B);
}

TEST(LlamaMemoryTest, WorkedInTheHeader) {
  const MeasuredModel tiny = restated_model("tinyllama-1.1b", "Q4_0");
  const LlamaMemory made = llama_memory(tiny.model, tiny.weights,
                                        {.n_ctx = 2048, .n_outputs_max = 1}, LlamaRepack::kNone)
                               .value();
  EXPECT_EQ(made.kv(), 46137344_B);
  EXPECT_EQ(made.output, 128000_B);
  EXPECT_EQ(made.compute, 53489696_B);
  EXPECT_LT(made.compute_generation, made.compute);
  EXPECT_EQ(made.n_nodes_prompt, 688);
  EXPECT_EQ(made.n_nodes_generation, 688);
  EXPECT_TRUE(made.high_water.name.starts_with("ffn_swiglu"));
  EXPECT_EQ(made.high_water.bytes, Bytes::of(4 * 5632 * 512));
}

// Rejected: the weights are there, nothing else is.
TEST(LlamaMemoryTest, RejectedSettingsReserveNothing) {
  const MeasuredModel tiny = restated_model("tinyllama-1.1b", "Q4_0");
  const LlamaMemory made =
      llama_memory(tiny.model, tiny.weights, {.flash = LlamaFlash::kOff, .type_v = DType::kQ8_0},
                   LlamaRepack::kNone)
          .value();
  EXPECT_EQ(made.context.rejection, "quantized V cache requires flash_attn to be enabled");
  EXPECT_EQ(made.kv() + made.compute + made.output, 0_B);
  EXPECT_EQ(made.model.whole, 635990016_B);
}

// Two layers, V of 2 x 16 and of 2 x 32 values: without flash attention both take 64 x 2 B a cell.
TEST(LlamaMemoryTest, ValuesAreAsWideAsTheWidestWithoutFlashAttention) {
  AttentionSpec narrow{.n_head = 4, .n_head_kv = 2, .head_dim = 16};
  AttentionSpec wide = narrow;
  wide.head_dim_v = 32;
  TransformerSpec spec{.n_embd = 64, .n_vocab = 100, .n_ctx_train = Tokens(256)};
  spec.layers = {{.mixer = narrow, .feed_forward = {.n_ff = 64}},
                 {.mixer = wide, .feed_forward = {.n_ff = 64}}};
  const ModelSpec model{.name = "x", .architecture = "llama", .dims = spec};
  const auto kv = [&](LlamaFlash flash) {
    return llama_memory(model, weights_inventory(model, DType::kF16), {.flash = flash},
                        LlamaRepack::kNone)
        ->kv();
  };
  const Bytes keys = Bytes::of(2 * 32 * 2 * 256);
  EXPECT_EQ(kv(LlamaFlash::kOn), keys + Bytes::of((32 + 64) * 2 * 256));
  EXPECT_EQ(kv(LlamaFlash::kOff), keys + Bytes::of((64 + 64) * 2 * 256));
}

TEST(LlamaMemoryTest, EveryMeasuredFile) {
  TIDEMARK_NEED_TEST_DATA(file, "llamacpp/weights.csv");
  std::map<std::string, std::map<std::string, MeasuredModel>> models;
  int checked = 0;
  for (const CsvRow& row : testing::read_csv(file)) {
    const std::string text = row.at("model") + " " + row.at("ftype");
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, text);
    const MeasuredModel measured = restated_model(row.at("model"), row.at("ftype"));
    const LlamaModelBuffers made =
        llama_model_buffers(measured.model, measured.weights, LlamaRepack::kAvx2);
    EXPECT_EQ(made.n_tensors, at(row, "n_tensors"));
    EXPECT_EQ(made.tensors.count(), at(row, "tensor_bytes"));
    EXPECT_EQ(made.whole.count(), at(row, "model_buffer_bytes"));
    EXPECT_EQ(made.plain.count(), at(row, "model_buffer_cpu_bytes_with_repack"));
    EXPECT_EQ(made.repacked.count(), at(row, "repack_bytes_avx2"));
    ++checked;
  }
  EXPECT_EQ(checked, 497);
}

TEST(LlamaMemoryTest, EveryMeasuredRow) {
  TIDEMARK_NEED_TEST_DATA(file, "llamacpp/measured.csv");
  const auto models = testing::measured_models(file.parent_path(), "Q4_K_M");
  int checked = 0;
  for (const CsvRow& row : testing::read_csv(file)) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, testing::settings_text(row));
    const MeasuredModel& measured = models.at(row.at("model"));
    const Result<LlamaMemory> made = llama_memory(measured.model, measured.weights,
                                                  testing::settings_of(row), LlamaRepack::kAvx2);
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made->context.rejection, row.at("reason"));
    if (row.at("status") != "ok") continue;
    EXPECT_EQ(made->model.whole.count(), at(row, "model_buffer_bytes"));
    EXPECT_EQ(made->model.plain.count(), at(row, "model_buffer_cpu_bytes_with_repack"));
    EXPECT_EQ(made->model.repacked.count(), at(row, "repack_bytes_avx2"));
    EXPECT_EQ(made->kv().count(), at(row, "kv_bytes"));
    EXPECT_EQ(made->kv_window.count(), at(row, "kv_swa_bytes"));
    EXPECT_EQ(made->recurrent.count(), at(row, "rs_bytes"));
    EXPECT_EQ(made->output.count(), at(row, "output_bytes"));
    EXPECT_EQ(made->compute.count(), at(row, "compute_bytes"));
    EXPECT_EQ(made->n_nodes_prompt, at(row, "graph_nodes_pp"));
    EXPECT_EQ(made->n_nodes_generation, at(row, "graph_nodes_tg"));
    EXPECT_TRUE(made->exact_for_architecture);
    ++checked;
  }
  EXPECT_EQ(checked, 953);
}

}  // namespace
}  // namespace tidemark

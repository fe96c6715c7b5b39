#include "planner/compare/read_log.h"

#include <gtest/gtest.h>

#include <random>

#include "generations.h"

namespace tidemark {
namespace {

LoggedRun only_run(const std::string& text) {
  const LoggedFile file = read_llama_log(text);
  EXPECT_EQ(file.runs.size(), 1U);
  return file.runs.at(0);
}

TEST(LlamaLogTest, WorkedInTheHeader) {
  const LoggedRun run = only_run(
      "print_info: n_head_kv        = [8, 8, 4]\n"
      "llama_context: flash_attn    = auto\n"
      "llama_kv_cache_init:      CUDA0 KV buffer size =    64.00 MiB\n");
  EXPECT_EQ(run.model.numbers.at("n_head_kv"), (std::vector<int64_t>{8, 8, 4}));
  EXPECT_EQ(run.settings.word("flash_attn"), "auto");
  ASSERT_EQ(run.terms.size(), 1U);
  EXPECT_EQ(run.terms[0].kind, TermKind::kKv);
  EXPECT_EQ(run.terms[0].device, "CUDA0");
  EXPECT_EQ(run.terms[0].figure, (LoggedFigure{67'108'864, 5'243}));
  EXPECT_EQ(run.terms[0].line, 3);
}

TEST(LlamaLogTest, AnExcerptFromTheMiddle) {
  const LoggedRun run = only_run(
      "KV buffer size =    64.00 MiB\n"
      "lama_kv_cache_init: no tag of ours KV buffer size = 1.00 MiB\n"
      "llama_kv_cache: size =  128.00 MiB (  4096 cells,  16 layers,  1/1 seqs), K (q8_0):   64.00 "
      "MiB, V (f16):   64.00 MiB\n");
  ASSERT_EQ(run.terms.size(), 1U);
  EXPECT_EQ(run.terms[0].kind, TermKind::kKvTotal);
  EXPECT_EQ(run.settings.word("type_k"), "q8_0");
  EXPECT_EQ(run.settings.word("type_v"), "f16");
  EXPECT_EQ(run.settings.number("cells"), 4096);
}

// A second context of the same model keeps its dimensions; a second model does not.
TEST(LlamaLogTest, SeveralContextsAndADraftModel) {
  const LoggedFile file = read_llama_log(
      "llama_model_loader: loaded meta data with 29 key-value pairs and 291 tensors from a.gguf\n"
      "print_info: n_layer          = 32\n"
      "llama_context: n_seq_max     = 1\n"
      "llama_context: n_ctx         = 4096\n"
      "llama_context:        CPU compute buffer size =   100.00 MiB\n"
      "llama_context: n_seq_max     = 1\n"
      "llama_context: n_ctx         = 512\n"
      "llama_context:        CPU compute buffer size =    10.00 MiB\n"
      "llama_model_loader: loaded meta data with 29 key-value pairs and 99 tensors from b.gguf\n"
      "print_info: n_layer          = 16\n"
      "llama_context: n_ctx         = 1024\n"
      "llama_context:        CPU compute buffer size =     5.00 MiB\n");
  ASSERT_EQ(file.runs.size(), 3U);
  EXPECT_EQ(file.runs[0].model.number("n_layer"), 32);
  EXPECT_EQ(file.runs[0].settings.number("n_ctx"), 4096);
  EXPECT_EQ(file.runs[1].model.number("n_layer"), 32);
  EXPECT_EQ(file.runs[1].settings.number("n_ctx"), 512);
  EXPECT_EQ(file.runs[2].model.number("n_layer"), 16);
  EXPECT_EQ(file.runs[2].settings.number("n_ctx"), 1024);
}

TEST(LlamaLogTest, MappingsOfOneDeviceAddUpAndComputeBuffersReplaceEachOther) {
  const LoggedRun run = only_run(
      "load_tensors:   CPU_Mapped model buffer size = 100.00 MiB\n"
      "load_tensors:   CPU_Mapped model buffer size =  50.00 MiB\n"
      "load_tensors:   CPU_REPACK model buffer size =  20.00 MiB\n"
      "llama_context:        CPU compute buffer size =    10.00 MiB\n"
      "llama_context:        CPU compute buffer size =    12.00 MiB\n");
  ASSERT_EQ(run.terms.size(), 3U);
  EXPECT_EQ(run.terms[0].figure.value, 150 << 20);
  EXPECT_EQ(run.terms[1].kind, TermKind::kRepacked);
  EXPECT_EQ(run.terms[2].figure.value, 12 << 20);
}

// The table that is printed at the end: model, context and compute of each device in whole MiB.
TEST(LlamaLogTest, TheBreakdown) {
  const LoggedRun run = only_run(
      "common_memory_breakdown_print: | memory breakdown [MiB] | total    free     self   model   "
      "context   compute    unaccounted |\n"
      "common_memory_breakdown_print: |   - CUDA0 (RTX 3090)   | 24124 = 23860 + (15946 = 15364 +  "
      "   411 +     170) +      -15681 |\n"
      "common_memory_breakdown_print: |   - Host               |                    804 =   682 +  "
      "     0 +     122                |\n");
  ASSERT_EQ(run.terms.size(), 6U);
  EXPECT_EQ(run.terms[0].kind, TermKind::kModel);
  EXPECT_EQ(run.terms[0].figure.value, int64_t{15364} << 20);
  EXPECT_EQ(run.terms[1].kind, TermKind::kContext);
  EXPECT_EQ(run.terms[1].figure.value, int64_t{411} << 20);
  EXPECT_EQ(run.terms[2].figure.value, int64_t{170} << 20);
  EXPECT_EQ(run.terms[3].device, "Host");
  EXPECT_EQ(run.terms[3].figure.value, int64_t{682} << 20);
}

TEST(LlamaLogTest, OldestWording) {
  const LoggedRun run = only_run(
      "llm_load_tensors: mem required  = 3647.87 MiB\n"
      "llama_new_context_with_model: kv self size  =  256.00 MiB\n"
      "llama_new_context_with_model: compute buffer total size = 71.97 MB\n");
  EXPECT_EQ(run.wording, LlamaWording::k2023);
  ASSERT_EQ(run.terms.size(), 3U);
  EXPECT_EQ(run.terms[2].figure.value, 75'466'015);  // 71.97 x 2^20: its MB are MiB
}

TEST(LlamaLogTest, TensorsThatTheLogLists) {
  const LoggedRun run = only_run(
      "llama_model_loader: - tensor    0:                token_embd.weight q5_K     [  4096, 32000,"
      "     1,     1 ]\n"
      "llama_model_loader: - tensor    1:           blk.0.attn_norm.weight f32      [  4096,     1,"
      "     1,     1 ]\n"
      "llama_model_loader: - tensor    2:           blk.0.broken.weight xx      [  4096 ]\n"
      "llm_load_tensors:        CPU buffer size =     1.00 MiB\n");
  ASSERT_EQ(run.tensors.size(), 2U);
  EXPECT_EQ(run.tensors[0].name, "token_embd.weight");
  EXPECT_EQ(run.tensors[0].dtype, DType::kQ5K);
  EXPECT_EQ(run.tensors[0].rows, 32000);
}

TEST(ReadLogTest, NothingThatIsKnown) {
  for (const char* text : {"", "\n\n", "hello\nworld: 12 MiB\n", "llama_context: n_ctx = 512\n"}) {
    const Result<LoggedFile> file = read_log(text, "x.log");
    ASSERT_FALSE(file.ok()) << text;
    EXPECT_EQ(file.diagnostics()[0].where.file, "x.log");
  }
}

// Bytes of real wordings cut, doubled and overwritten: read or refused, never more.
TEST(ReadLogTest, SurvivesDamage) {
  std::mt19937 random(1);  // NOLINT: the same damage each time
  for (const Generation& log : generations()) {
    for (int i = 0; i < 40; ++i) {
      std::string text = log.text;
      for (int k = 0; k < 30; ++k) {
        const size_t at = random() % text.size();
        switch (random() % 3) {
          case 0:
            text[at] = static_cast<char>(random() % 256);
            break;
          case 1:
            text.erase(at, random() % 20);
            break;
          default:
            text.insert(at, text.substr(random() % text.size(), random() % 40));
        }
      }
      const Result<LoggedFile> file = read_log(text, "x.log");
      if (file) {
        EXPECT_LE(file->runs.size(), kMostLoggedRuns);
      }
    }
  }
}

}  // namespace
}  // namespace tidemark

// ollama, vLLM, whisper.cpp and Android: their lines in their words, figures of public logs.
#include <gtest/gtest.h>

#include <algorithm>

#include "known_models.h"
#include "planner/compare/compare_log.h"
#include "planner/compare/read_log.h"

namespace tidemark {
namespace {

Comparison compared(const std::string& text, CompareOptions options = {}) {
  const Result<LoggedFile> file = read_log(text, "x.log");
  EXPECT_TRUE(file.ok()) << to_string(file.diagnostics());
  options.known = known_models();
  const Result<Comparison> made = compare_run(file->runs.at(0), options);
  EXPECT_TRUE(made.ok()) << to_string(made.diagnostics());
  return *made;
}

const ComparedTerm& term(const Comparison& run, TermKind kind) {
  for (const ComparedTerm& one : run.terms) {
    if (one.kind == kind) return one;
  }
  ADD_FAILURE() << "no " << key_of(kind);
  static const ComparedTerm kNone;
  return kNone;
}

double mib(const ComparedTerm& one) {
  return one.predicted ? static_cast<double>(*one.predicted) / 1048576 : -1;
}

// graph: what follows memory.graph.full=, with the quotes.
std::string planner_line(const char* time, const char* total, const char* repeating, const char* kv,
                         const std::string& graph = "\"164.0 MiB\"") {
  return std::string("time=") + time +
         " level=INFO source=memory.go:309 msg=\"offload to cpu\" layers.requested=-1 "
         "layers.model=33 layers.offload=0 memory.required.kv=\"" +
         kv + "\" memory.weights.total=\"" + total + "\" memory.weights.repeating=\"" + repeating +
         "\" memory.weights.nonrepeating=\"411.0 MiB\" memory.graph.full=" + graph + "\n";
}

CompareOptions llama_3_8b() {
  ModelSpec model = known_model("llama-3-8b");
  CompareOptions options{.model = model};
  options.weights = quantized_weights(model, *parse_quantization("Q4_0")).value();
  return options;
}

// PL006, July 2024: total = layers + KV (3.656 + 0.25 GiB), repeating = total - head.
TEST(OllamaLogTest, TotalsThatHoldTheCache) {
  CompareOptions options = llama_3_8b();
  options.settings.numbers["n_ctx"] = {2048};
  const Comparison run =
      compared(planner_line("2024-07-05T10:00:00Z", "3.9 GiB", "3.5 GiB", "256.0 MiB"), options);
  EXPECT_NEAR(mib(term(run, TermKind::kPlannedKv)), 256.0, 0.001);
  EXPECT_NEAR(mib(term(run, TermKind::kHead)), 411.0, 0.05);
  EXPECT_NEAR(mib(term(run, TermKind::kWeights)) / 1024, 3.906, 0.005);
  EXPECT_NEAR(mib(term(run, TermKind::kRepeating)) / 1024, 3.505, 0.005);
  EXPECT_NEAR(mib(term(run, TermKind::kCompute)), 164.0, 0.05);  // without the logits
  EXPECT_FALSE(run.any_over());
}

// PL007, July 2025, the same model: total = layers + head.
TEST(OllamaLogTest, TotalsWithoutTheCache) {
  CompareOptions options = llama_3_8b();
  options.settings.numbers["n_ctx"] = {8192};
  const Comparison run =
      compared(planner_line("2025-07-16T10:00:00Z", "4.1 GiB", "3.7 GiB", "1.0 GiB",
                            "\"560.0 MiB\" memory.graph.partial=\"677.5 MiB\""),
               options);
  EXPECT_NEAR(mib(term(run, TermKind::kWeights)) / 1024, 4.057, 0.005);
  EXPECT_NEAR(mib(term(run, TermKind::kRepeating)) / 1024, 3.656, 0.005);
  EXPECT_EQ(std::ranges::count(run.terms, TermKind::kCompute, &ComparedTerm::kind), 2);
  for (const ComparedTerm& one : run.terms) {
    if (one.kind != TermKind::kCompute) continue;
    EXPECT_TRUE(one.predicted.has_value()) << one.device;
  }
  EXPECT_FALSE(run.any_over());
}

TEST(OllamaLogTest, AMissingContextIsNamed) {
  const Comparison run =
      compared(planner_line("2025-07-16T10:00:00Z", "4.1 GiB", "3.7 GiB", "1.0 GiB"), llama_3_8b());
  EXPECT_EQ(run.missing, std::vector<std::string>{"n_ctx"});
  EXPECT_FALSE(term(run, TermKind::kPlannedKv).predicted.has_value());
  EXPECT_FALSE(term(run, TermKind::kCompute).predicted.has_value());
}

// PL002, February 2025: the list of free memory tells that there are four cards.
TEST(OllamaLogTest, SeveralCardsTakeThePartialGraph) {
  CompareOptions options{.model = known_model("llama-3-8b")};
  options.settings.numbers["n_ctx"] = {8192};
  const Comparison run = compared(
      planner_line("2025-02-17T10:00:00Z", "4.1 GiB", "3.7 GiB", "1.0 GiB",
                   "\"677.5 MiB\" memory.available=\"[21.8 GiB 21.8 GiB 21.8 GiB 21.8 GiB]\""),
      options);
  EXPECT_NEAR(mib(term(run, TermKind::kCompute)), 677.5, 0.05);
}

// PL008: 1,381 blocks of 16 tokens for requests of 2,048: 10.79.
TEST(VllmLogTest, BlocksAndConcurrency) {
  const Comparison run = compared(
      "INFO 01-30 03:18:12 gpu_model_runner.py:848] Loading model weights took 67.7229 GB\n"
      "INFO 01-30 03:19:14 kv_cache_utils.py:395] # GPU blocks: 1381\n"
      "INFO 01-30 03:19:14 kv_cache_utils.py:398] Maximum concurrency for 2048 tokens per request: "
      "10.79x\n",
      {.model = known_model("llama-3.1-70b")});
  EXPECT_EQ(term(run, TermKind::kConcurrency).logged.value, 1079);
  EXPECT_EQ(term(run, TermKind::kConcurrency).predicted, 1078);  // 1381 x 16 / 2048 = 10.789
  EXPECT_FALSE(run.any_over());
  EXPECT_FALSE(term(run, TermKind::kModel).predicted.has_value());
}

// PL045: 27 x 576 x 2 B x 32,768 = 0.949 GiB needed, 0.93 there.
TEST(VllmLogTest, ARefusal) {
  const Comparison run = compared(
      "ERROR ValueError: To serve at least one request with the models's max seq len (32768), "
      "(0.95 "
      "GiB KV cache is needed, which is larger than the available KV cache memory (0.93 GiB).\n",
      {.model = known_model("deepseek-v2-lite")});
  EXPECT_EQ(term(run, TermKind::kCacheNeeded).predicted, int64_t{27} * 576 * 2 * 32768);
  EXPECT_FALSE(term(run, TermKind::kCacheNeeded).over);
}

// PL031: 94 layers, one of four KV heads on each of four cards: 48,128 B a token.
TEST(VllmLogTest, TokensOnOneOfFourCards) {
  const Comparison run = compared(
      "INFO Initializing a V1 LLM engine (v0.9.2) with config: model='Qwen/Qwen3-235B-A22B-FP8', "
      "max_seq_len=40960, tensor_parallel_size=4, kv_cache_dtype=auto\n"
      "INFO [gpu_worker.py:227] Available KV cache memory: 8.11 GiB\n"
      "INFO [kv_cache_utils.py:716] GPU KV cache size: 178,880 tokens\n");
  EXPECT_EQ(run.model, "qwen3-235b-a22b");
  // 8.11 x 2^30 / 48,128 = 180,935; in whole blocks 180,928. It prints 1.1 % fewer.
  EXPECT_EQ(term(run, TermKind::kCacheTokens).predicted, 180'928);
  EXPECT_FALSE(run.any_over());
}

std::string whisper(const char* sizes) {
  return std::string(
             "whisper_model_load: n_vocab       = 51864\nwhisper_model_load: n_audio_ctx   = 1500\n"
             "whisper_model_load: n_audio_state = 512\nwhisper_model_load: n_audio_layer = 6\n"
             "whisper_model_load: n_text_ctx    = 448\nwhisper_model_load: n_text_state  = 512\n"
             "whisper_model_load: n_text_layer  = 6\nwhisper_model_load: n_mels        = 80\n"
             "whisper_model_load: type          = 2 (base.en)\n") +
         sizes;
}

// PL060, September 2023: "MB" are MiB. 2 x 6 x 512 x 1,500 x 2 B = 17.58 MiB.
TEST(WhisperLogTest, MegabytesThatAreMebibytes) {
  const Comparison run =
      compared(whisper("whisper_init_state: kv self size  =    5.25 MB\n"
                       "whisper_init_state: kv cross size =   17.58 MB\n"
                       "whisper_init_state: compute buffer (conv)   =   15.48 MB\n"));
  EXPECT_EQ(term(run, TermKind::kCross).predicted, 18'432'000);
  EXPECT_EQ(term(run, TermKind::kKv).predicted, 5'505'024);  // 2 x 6 x 512 x 448 x 2
  EXPECT_EQ(term(run, TermKind::kConvolution).logged.value, 16'231'956);
  EXPECT_FALSE(run.any_over());
}

// PL061, 2024: decimal, and room for three decoders.
TEST(WhisperLogTest, DecimalMegabytes) {
  const Comparison run =
      compared(whisper("whisper_init_state: kv self size  =   16.52 MB\n"
                       "whisper_init_state: kv cross size =   18.43 MB\n"));
  EXPECT_EQ(term(run, TermKind::kKv).predicted, 3 * 5'505'024);
  EXPECT_EQ(term(run, TermKind::kCross).predicted, 18'432'000);
  EXPECT_FALSE(run.any_over());
}

// PL062: lengths padded to 256: 1,344 -> 1,536 and 1,500 -> 1,536.
TEST(WhisperLogTest, PaddedLengths) {
  const Comparison run =
      compared(whisper("whisper_init_state: kv self size  =   18.87 MB\n"
                       "whisper_init_state: kv cross size =   18.87 MB\n"
                       "whisper_init_state: kv pad  size  =    3.15 MB\n"));
  EXPECT_EQ(term(run, TermKind::kKv).predicted, 18'874'368);
  EXPECT_EQ(term(run, TermKind::kCross).predicted, 18'874'368);
  EXPECT_EQ(term(run, TermKind::kPadding).predicted, 3'145'728);
  EXPECT_FALSE(run.any_over());
}

// An app with a mapped model: nothing of it is judged, as the app itself is in every figure.
TEST(MeminfoTest, ATable) {
  CompareOptions options{.model = known_model("llama-3.2-1b")};
  options.weights = quantized_weights(*options.model, *parse_quantization("Q4_0")).value();
  options.settings.numbers["n_ctx"] = {4096};
  const Comparison run = compared(
      "Applications Memory Usage (in Kilobytes):\n"
      "** MEMINFO in pid 9702 [org.example.chat] **\n"
      "                   Pss  Private  Private  SwapPss      Rss     Heap     Heap     Heap\n"
      "                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free\n"
      "                ------   ------   ------   ------   ------   ------   ------   ------\n"
      "  Native Heap   210000   209900        0        0   211000   230000   200000    30000\n"
      "  Dalvik Heap    12000    11900        0        0    15000    20000    10000    10000\n"
      "     .so mmap    20000      500    15000        0    50000\n"
      "   Other mmap   745000        0   745000        0   745100\n"
      "    GL mtrack    30000    30000        0        0    30000\n"
      "      Unknown   140000   140000        0        0   140200\n"
      "        TOTAL  1157000   392300   760000        0  1191300   250000   210000    40000\n"
      " App Summary\n"
      "         Native Heap:   209900                         211000\n",
      options);
  EXPECT_EQ(term(run, TermKind::kResident).logged.value, int64_t{1'157'000} * 1024);
  EXPECT_EQ(term(run, TermKind::kFileBacked).logged.value, int64_t{765'000} * 1024);
  EXPECT_EQ(term(run, TermKind::kPrivate).logged.value, int64_t{362'000} * 1024);
  EXPECT_EQ(term(run, TermKind::kGraphics).logged.value, int64_t{30'000} * 1024);
  // 16 layers x 8 heads x 64 x 2 x 2 B x 4,096 = 128 MiB
  EXPECT_EQ(term(run, TermKind::kPrivate).predicted, int64_t{128} << 20);
  EXPECT_EQ(run.compared(), 0);
  EXPECT_FALSE(run.any_over());
}

}  // namespace
}  // namespace tidemark

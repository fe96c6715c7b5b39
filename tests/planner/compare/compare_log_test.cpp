#include "planner/compare/compare_log.h"

#include <gtest/gtest.h>

#include "known_models.h"
#include "planner/compare/read_log.h"

namespace tidemark {
namespace {

Comparison compared(const std::string& text, CompareOptions options = {}) {
  options.known = known_models();
  const LoggedFile file = read_llama_log(text);
  const Result<Comparison> made = compare_run(file.runs.at(0), options);
  EXPECT_TRUE(made.ok()) << to_string(made.diagnostics());
  return *made;
}

const ComparedTerm& compute(const Comparison& run) {
  for (const ComparedTerm& term : run.terms) {
    if (term.kind == TermKind::kCompute) return term;
  }
  ADD_FAILURE() << "no compute buffer";
  static const ComparedTerm kNone;
  return kNone;
}

// Llama-3.2-1B at 4,096 tokens without flash attention, as PL009 prints it, in words of today.
std::string one_b(const char* mib) {
  return std::string(
             "print_info: arch = llama\nprint_info: n_layer = 16\nprint_info: n_embd = 2048\n"
             "print_info: n_head = 32\nprint_info: n_head_kv = 8\nprint_info: n_ff = 8192\n"
             "print_info: n_vocab = 128256\nllama_context: n_seq_max = 1\n"
             "llama_context: n_ctx = 4096\nllama_context: n_batch = 2048\n"
             "llama_context: n_ubatch = 512\nllama_context: flash_attn = disabled\n"
             "llama_kv_cache:        CPU KV buffer size =   128.00 MiB\n"
             "sched_reserve:        CPU compute buffer size =   ") +
         mib + " MiB\n";
}

// 280.01 MiB is a build before August 2025: neither 512 x 2,048 x 4 B of embeddings that nobody
// reads (4 MiB) nor an index for each of 512 x 512 values (2 MiB).
TEST(CompareLogTest, WorkedInTheHeader) {
  const Comparison today = compared(one_b("286.01"));
  EXPECT_EQ(compute(today).predicted, 299'902'976);
  EXPECT_FALSE(today.any_over());
  EXPECT_EQ(compute(today).reason, "");

  const Comparison older = compared(one_b("280.01"));
  EXPECT_TRUE(compute(older).over);
  EXPECT_NE(compute(older).reason.find("before August 2025"), std::string::npos);
}

TEST(CompareLogTest, ADifferenceThatNothingExplainsHasNoReason) {
  const Comparison run = compared(one_b("301.77"));
  EXPECT_TRUE(compute(run).over);
  EXPECT_EQ(compute(run).reason, "");
}

TEST(CompareLogTest, FlagsReplaceSettings) {
  LoggedFacts flags;
  flags.words["flash_attn"] = "on";
  const Comparison run = compared(one_b("286.01"), {.settings = flags});
  EXPECT_TRUE(compute(run).over);
  bool told = false;
  for (const ComparedSetting& setting : run.settings) {
    told = told || (setting.key == "flash_attn" && setting.origin == "flag");
  }
  EXPECT_TRUE(told);
}

TEST(CompareLogTest, TheToleranceIsBesideTheRounding) {
  const LoggedFigure figure{1'000'000, 500};
  EXPECT_TRUE(within(figure, 1'000'500, 0));
  EXPECT_FALSE(within(figure, 1'000'501, 0));
  EXPECT_TRUE(within(figure, 979'500, 20));
  EXPECT_FALSE(within(figure, 979'499, 20));
  EXPECT_FALSE(compared(one_b("280.01"), {.tolerance_per_mille = 22}).any_over());
}

TEST(CompareLogTest, SettingsThatNobodyKnowsAreNamed) {
  const Comparison run = compared(
      "print_info: arch = llama\nprint_info: n_layer = 16\nprint_info: n_embd = 2048\n"
      "llama_kv_cache:        CPU KV buffer size =   128.00 MiB\n");
  EXPECT_EQ(run.missing, std::vector<std::string>{"n_ctx"});
  EXPECT_FALSE(run.terms.at(0).predicted.has_value());
  EXPECT_EQ(run.compared(), 0);
}

// Contexts that no model has, layers by the thousand: answered, whatever it is.
TEST(CompareLogTest, AbsurdNumbers) {
  for (const char* line : {"llama_context: n_ctx = 900000000000\n",
                           "llama_context: n_seq_max = 1000000\n", "print_info: n_layer = 5000\n",
                           "print_info: n_embd = 99999999999\n", "print_info: n_vocab = 1\n"}) {
    const LoggedFile file = read_llama_log(one_b("286.01") + line);
    ASSERT_FALSE(file.runs.empty());
    try {
      (void)compare_run(file.runs.back(), {.known = known_models()});
    } catch (const std::overflow_error&) {  // what a front end turns into a diagnostic
    }
  }
}

}  // namespace
}  // namespace tidemark

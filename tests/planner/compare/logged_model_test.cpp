#include "planner/compare/logged_model.h"

#include <gtest/gtest.h>

#include "known_models.h"

namespace tidemark {
namespace {

LoggedRun llama_3(int64_t n_vocab) {
  LoggedRun run;
  run.model.words["arch"] = "llama";
  run.model.numbers = {{"n_layer", {32}},  {"n_embd", {4096}}, {"n_head", {32}},
                       {"n_head_kv", {8}}, {"n_ff", {14336}},  {"n_vocab", {n_vocab}}};
  return run;
}

TEST(LoggedModelTest, WorkedInTheHeader) {
  const Result<LoggedModel> same = model_of_log(llama_3(128256), known_models());
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->spec.transformer()->n_vocab, 128256);
  EXPECT_NE(same->how.find("the log's dimensions are those of llama-3"), std::string::npos);
  EXPECT_TRUE(same->notes.empty());

  const Result<LoggedModel> more = model_of_log(llama_3(128259), known_models());
  ASSERT_TRUE(more.ok());
  EXPECT_EQ(more->spec.transformer()->n_vocab, 128259);
  EXPECT_EQ(more->notes.size(), 1U);
}

// Twice as many layers as any such model has: built from the log.
TEST(LoggedModelTest, BuiltAfterOneOfItsArchitecture) {
  LoggedRun run = llama_3(128256);
  run.model.numbers["n_layer"] = {77};
  const Result<LoggedModel> made = model_of_log(run, known_models());
  ASSERT_TRUE(made.ok());
  const TransformerSpec& spec = *made->spec.transformer();
  ASSERT_EQ(spec.layers.size(), 77U);
  EXPECT_EQ(spec.layers[76].attention()->n_head_kv, 8);
  EXPECT_EQ(spec.layers[76].attention()->head_dim, 128);
  EXPECT_EQ(spec.layers[76].feed_forward.n_ff, 14336);
  EXPECT_NE(made->how.find("built from the log's dimensions"), std::string::npos);
}

TEST(LoggedModelTest, AnUnknownArchitectureIsSaid) {
  LoggedRun run = llama_3(128256);
  run.model.words["arch"] = "nobody-knows";
  const Result<LoggedModel> made = model_of_log(run, known_models());
  ASSERT_TRUE(made.ok());
  ASSERT_FALSE(made->notes.empty());
  EXPECT_NE(made->notes[0].find("nobody-knows"), std::string::npos);
}

TEST(LoggedModelTest, ByNameAlone) {
  LoggedRun run;
  run.model.words["name"] = "Meta Llama 3.1 70B Instruct";
  const Result<LoggedModel> made = model_of_log(run, known_models());
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->spec.name, "llama-3.1-70b");
}

TEST(LoggedModelTest, NoModelAtAll) {
  const Result<LoggedModel> made = model_of_log({}, known_models());
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.diagnostics()[0].hint.find("--model"), std::string::npos);
}

// 8.03 B is the model with a head of its own; one that shares its table has 7.50 B.
TEST(LoggedModelTest, TheNumberOfParametersTellsATiedHead) {
  LoggedRun run = llama_3(128256);
  run.model.words["params"] = "7.50 B";
  EXPECT_TRUE(model_of_log(run, known_models())->spec.transformer()->tied_embeddings);
  run.model.words["params"] = "8.03 B";
  EXPECT_FALSE(model_of_log(run, known_models())->spec.transformer()->tied_embeddings);
}

TEST(LoggedModelTest, FileTypesInAllTheirWords) {
  const std::vector<std::pair<const char*, std::string_view>> words{
      {"Q4_K - Medium", "Q4_K_M"},
      {"Q4_K - Small", "Q4_K_S"},
      {"mostly Q4_0", "Q4_0"},
      {"all F32", "F32"},
      {"Q4_K_M", "Q4_K_M"},
      {"Q3_K - Large", "Q3_K_L"},
      {"Q2_K - Medium", "Q2_K"},
      {"IQ4_XS - 4.25 bpw", "IQ4_XS"},
      {"Q6_K", "Q6_K"},
      {"IQ3_S mix - 3.66 bpw", "IQ3_M"},
      {"F16 (guessed)", "F16"}};
  for (const auto& [text, name] : words) {
    const auto type = file_type_of_log(text);
    ASSERT_TRUE(type.has_value()) << text;
    EXPECT_EQ(file_type_of(*type).name, name) << text;
  }
  EXPECT_EQ(file_type_of_log("IQ3_KT - 3.125 bpw"), std::nullopt);
  EXPECT_EQ(file_type_of_log(""), std::nullopt);
}

// The mix of a file type counts only if the log does not contradict it.
TEST(LoggedWeightsTest, NeverAgainstTheLog) {
  LoggedRun run = llama_3(128256);
  const ModelSpec spec = model_of_log(run, known_models())->spec;
  EXPECT_FALSE(weights_of_log(run, spec).inventory.has_value());
  run.model.words["ftype"] = "Q4_K - Medium";
  EXPECT_TRUE(weights_of_log(run, spec).inventory.has_value());
  run.terms.push_back({.kind = TermKind::kFileSize, .figure = {int64_t{5} << 30, 5'368'710}});
  EXPECT_FALSE(weights_of_log(run, spec).inventory.has_value());
  run.terms[0].figure.value = 4'917'000'000;  // 4.58 GiB, as such a file is
  EXPECT_TRUE(weights_of_log(run, spec).inventory.has_value());
  run.tensor_types = {{"f32", 65}, {"q4_K", 193}, {"q6_K", 33}};
  EXPECT_NE(weights_of_log(run, spec).how.find("by type"), std::string::npos);
}

}  // namespace
}  // namespace tidemark

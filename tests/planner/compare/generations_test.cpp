// Logs of fourteen builds and forks, each in its own wording: every figure is read as printed, and
// the prediction is within 2 % of it wherever the table says so.
#include "generations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "known_models.h"
#include "planner/compare/compare_log.h"
#include "planner/compare/read_log.h"

namespace tidemark {
namespace {

class GenerationsTest : public testing::TestWithParam<Generation> {};

const ComparedTerm* find(const Comparison& run, TermKind kind, const std::string& device) {
  for (const ComparedTerm& term : run.terms) {
    if (term.kind == kind && term.device == device) return &term;
  }
  return nullptr;
}

std::string listed(const Comparison& run) {
  std::string text = run.model + ": " + run.model_origin + "; " + run.weights_origin + "\n";
  for (const ComparedTerm& term : run.terms) {
    text += std::string(key_of(term.kind)) + " " + term.device + " " +
            std::to_string(term.logged.value) + " " +
            (term.predicted ? std::to_string(*term.predicted) : "-") + " " + term.reason + "\n";
  }
  return text;
}

TEST_P(GenerationsTest, IsReadAndMet) {
  const Generation& log = GetParam();
  const LoggedFile file = read_llama_log(log.text);
  ASSERT_EQ(file.runs.size(), 1U);
  EXPECT_EQ(name_of(file.runs[0].wording), name_of(log.wording));
  const Result<Comparison> made = compare_run(file.runs[0], {.known = known_models()});
  ASSERT_TRUE(made.ok()) << to_string(made.diagnostics());
  for (const ExpectedTerm& expected : log.terms) {
    const ComparedTerm* term = find(*made, expected.kind, expected.device);
    ASSERT_NE(term, nullptr) << key_of(expected.kind) << " " << expected.device;
    EXPECT_EQ(term->logged.value, std::llround(expected.mib * 1048576)) << key_of(expected.kind);
    if (!expected.within) continue;
    ASSERT_TRUE(term->predicted.has_value()) << key_of(term->kind) << " " << term->device << "\n"
                                             << listed(*made);
    EXPECT_TRUE(within(term->logged, *term->predicted, 20))
        << key_of(term->kind) << " " << term->device << "\n"
        << listed(*made);
  }
}

// How a build words what it prints of its context: the lines up to the "=", without numbers and
// names of devices. "llama_context:      CUDA0 compute buffer size" -> "llama_context: compute
// buffer size".
std::set<std::string> wording_of(const std::string& text) {
  std::set<std::string> forms;
  std::string line;
  std::istringstream lines(text);
  while (std::getline(lines, line)) {
    const size_t begin = std::min(
        {line.find("llama_"), line.find("llm_"), line.find("init:"), line.find("sched_reserve")});
    if (begin == std::string::npos || line.find("llama_model_loader") != std::string::npos)
      continue;
    std::istringstream words(line.substr(begin, line.find('=') - begin));
    std::string form;
    for (std::string word; words >> word;) {
      const bool is_plain = std::none_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isdigit(c) != 0 || std::isupper(c) != 0;
      });
      if (is_plain || word == "KV") form += word + " ";
    }
    if (!form.empty()) forms.insert(form);
  }
  return forms;
}

// Ten versions of llama.cpp itself and more, no two of which word their context alike. Logs of one
// version are one; ollama's runner prints llama.cpp's own lines; the fork does not count.
TEST(GenerationsOfWordings, TenVersionsOfLlamaCpp) {
  std::map<std::string, std::set<std::string>> wordings;
  for (const Generation& log : generations()) {
    ASSERT_FALSE(log.version.empty()) << log.id;
    if (log.version.find("ik_llama.cpp") != std::string::npos) continue;
    wordings[log.version].merge(wording_of(log.text));
  }
  EXPECT_GE(wordings.size(), 10U);
  for (const auto& [version, forms] : wordings) {
    EXPECT_GE(forms.size(), 5U) << version;
    for (const auto& [other, others] : wordings) {
      if (other == version) continue;
      EXPECT_NE(forms, others) << version << " and " << other;
    }
  }
}

std::string name_of_case(const testing::TestParamInfo<Generation>& info) { return info.param.id; }

INSTANTIATE_TEST_SUITE_P(Wordings, GenerationsTest, testing::ValuesIn(generations()), name_of_case);

}  // namespace
}  // namespace tidemark

// Logs of thirteen builds and forks, each in its own wording: every figure is read as printed, and
// the prediction is within 2 % of it wherever the table says so.
#include "generations.h"

#include <gtest/gtest.h>

#include <cmath>

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

std::string name_of_case(const testing::TestParamInfo<Generation>& info) { return info.param.id; }

INSTANTIATE_TEST_SUITE_P(Wordings, GenerationsTest, testing::ValuesIn(generations()), name_of_case);

}  // namespace
}  // namespace tidemark

// Every case of the public logs against the prediction. Of llama.cpp and its kin, with complete
// settings, at least four of five have every predicted buffer within 2 %; the others are listed
// with the term that differs, by how much, and why. docs/explanation/public-logs.md has the whole
// table; `--gtest_also_run_disabled_tests --gtest_filter=*Table*` prints it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "known_models.h"
#include "planner/compare/compare_log.h"
#include "public_cases.h"

namespace tidemark {
namespace {

constexpr double kMiB = 1048576.0;

struct Miss {
  std::string id{};
  TermKind kind = TermKind::kCompute;
  std::string device{};
  double mib = 0;  // logged less predicted
  const char* why = "";
};

// Cases with complete settings that are not met.
const std::vector<Miss> kMisses{
    {"PL032", TermKind::kCompute, "CUDA0", 411.75,
     "2026, gated delta rule: chunks of its recurrence, which are not modelled"},
    {"PL044", TermKind::kCompute, "OpenCL", -28.26,
     "end of 2025, latent attention expanded to all heads: other concatenations than MiniCPM3's"},
    {"PL051", TermKind::kOutput, "", 0.97,
     "March 2024, logits of two sequences: 2 x 256,000 x 4 B; the case states no number of them"}};

std::optional<std::string> cases_file() {
  const char* folder = std::getenv("TIDEMARK_TEST_DATA");
  if (folder == nullptr) return std::nullopt;
  const std::filesystem::path file = std::filesystem::path(folder) / "public_logs/cases.yaml";
  return std::filesystem::exists(file) ? std::optional(file.string()) : std::nullopt;
}

Result<Comparison> compared(const PublicCase& one) {
  return compare_run(one.run, {.known = known_models()});
}

class PublicCasesTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto file = cases_file();
    if (!file) GTEST_SKIP() << "TIDEMARK_TEST_DATA has no public_logs/cases.yaml";
    cases_ = public_cases(*file);
  }
  std::vector<PublicCase> cases_{};
};

TEST_F(PublicCasesTest, FourOfFiveCompleteCasesAreMet) {
  int complete = 0;
  int met = 0;
  for (const PublicCase& one : cases_) {
    if (!one.is_llama_family || !one.incomplete.empty()) continue;
    ++complete;
    const Result<Comparison> made = compared(one);
    ASSERT_TRUE(made.ok()) << one.id << ": " << to_string(made.diagnostics());
    EXPECT_GE(made->compared(), 3) << one.id;
    const bool listed =
        std::ranges::any_of(kMisses, [&](const Miss& miss) { return miss.id == one.id; });
    EXPECT_EQ(made->any_over(), listed) << one.id;
    if (!made->any_over()) ++met;
  }
  EXPECT_EQ(complete, 16);
  EXPECT_EQ(met, 13);
  EXPECT_GE(met * 5, complete * 4);
}

TEST_F(PublicCasesTest, TheOthersDifferAsListed) {
  for (const Miss& miss : kMisses) {
    for (const PublicCase& one : cases_) {
      if (one.id != miss.id) continue;
      const Result<Comparison> made = compared(one);
      ASSERT_TRUE(made.ok());
      int over = 0;
      for (const ComparedTerm& term : made->terms) {
        if (!term.over) continue;
        ++over;
        EXPECT_EQ(term.kind, miss.kind) << miss.id;
        EXPECT_EQ(term.device, miss.device) << miss.id;
        EXPECT_NEAR(static_cast<double>(term.difference()) / kMiB, miss.mib, 0.02) << miss.id;
      }
      EXPECT_EQ(over, 1) << miss.id;
    }
  }
}

// The rows of docs/explanation/public-logs.md.
TEST_F(PublicCasesTest, DISABLED_Table) {
  for (const PublicCase& one : cases_) {
    if (!one.is_llama_family) continue;
    const Result<Comparison> made = compared(one);
    std::cout << "| " << one.id << " | " << one.engine << ", " << one.version << " | " << one.model
              << " | " << (one.incomplete.empty() ? "complete" : "lacks " + one.incomplete)
              << " | ";
    if (!made) {
      std::cout << "no dimensions | |\n";
      continue;
    }
    std::string off;
    for (const ComparedTerm& term : made->terms) {
      if (!term.over) continue;
      char text[200];
      std::snprintf(text, sizeof text, "%s %s %.2f, predicted %.2f; ",
                    std::string(name_of(term.kind)).c_str(), term.device.c_str(),
                    static_cast<double>(term.logged.value) / kMiB,
                    static_cast<double>(*term.predicted) / kMiB);
      off += text + term.reason;
    }
    std::cout << made->compared() << " of " << made->terms.size() << " | "
              << (off.empty() ? "all" : off) << " |\n";
  }
}

}  // namespace
}  // namespace tidemark

// Every case of the public logs against the prediction. Of llama.cpp and its kin, with complete
// settings, at least four of five have every predicted buffer within 2 %; the others are listed
// with the term that differs, by how much, and why. docs/explanation/public-logs.md has the whole
// table; `--gtest_also_run_disabled_tests --gtest_filter=PublicCasesTest.*Table` prints it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>

#include "known_models.h"
#include "planner/compare/compare_log.h"
#include "public_cases.h"
#include "support/golden.h"

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

class PublicCasesTest : public ::testing::Test {
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

// "PL037-PL042, PL054" -> PL037 to PL042, and PL054.
std::set<std::string> cases_named_in(const std::string& page) {
  std::set<std::string> named;
  const auto number_at = [&](size_t at) { return std::atoi(page.c_str() + at + 2); };
  for (size_t at = page.find("PL0"); at != std::string::npos; at = page.find("PL0", at + 1)) {
    const bool is_range = page.compare(at + 5, 3, "-PL") == 0;
    const int last = is_range ? number_at(at + 6) : number_at(at);
    for (int number = number_at(at); number <= last; ++number) {
      char id[16];
      std::snprintf(id, sizeof id, "PL%03d", number);
      named.insert(id);
    }
  }
  return named;
}

TEST_F(PublicCasesTest, ThePageNamesEveryCase) {
  const std::string page =
      testing::slurp(std::string(TIDEMARK_SOURCE_DIR) + "/docs/explanation/public-logs.md");
  const std::set<std::string> named = cases_named_in(page);
  EXPECT_EQ(cases_.size(), 68U);
  for (const PublicCase& one : cases_) EXPECT_TRUE(named.contains(one.id)) << one.id;
  for (const Miss& miss : kMisses) {
    char figure[40];
    std::snprintf(figure, sizeof figure, "%+.2f MiB", miss.mib);
    EXPECT_NE(page.find(figure), std::string::npos) << miss.id << " " << figure;
  }
}

std::string misses_of(const Comparison& run) {
  std::string off;
  for (const ComparedTerm& term : run.terms) {
    if (!term.over) continue;
    char text[200];
    std::snprintf(text, sizeof text, "%s %s %.2f, predicted %.2f: %+lld B; ",
                  std::string(name_of(term.kind)).c_str(), term.device.c_str(),
                  static_cast<double>(term.logged.value) / kMiB,
                  static_cast<double>(*term.predicted) / kMiB,
                  static_cast<long long>(term.difference()));
    off += text + term.reason;
  }
  return off.empty() ? "all" : off;
}

// All cases by engine, for docs/explanation/public-logs.md. What other engines print is compared in
// OllamaLogTest, VllmLogTest, WhisperLogTest and PublicLogsTest.
TEST_F(PublicCasesTest, DISABLED_Table) {
  std::ranges::stable_sort(cases_, {}, &PublicCase::engine);
  for (const PublicCase& one : cases_) {
    std::cout << "| " << one.engine << ", " << one.version << " | " << one.id << " | " << one.model
              << " | ";
    if (!one.is_llama_family) {
      std::cout << "not of llama.cpp's buffers | | |\n";
      continue;
    }
    std::cout << (one.incomplete.empty() ? "complete" : "lacks " + one.incomplete) << " | ";
    const Result<Comparison> made = compared(one);
    if (made) {
      std::cout << made->compared() << " of " << made->terms.size() << " | " << misses_of(*made)
                << " |\n";
    } else {
      std::cout << "no dimensions | |\n";
    }
  }
}

}  // namespace
}  // namespace tidemark

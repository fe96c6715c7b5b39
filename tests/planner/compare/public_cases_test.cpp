#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "known_models.h"
#include "planner/compare/compare_log.h"
#include "public_cases.h"

namespace tidemark {
namespace {

std::optional<std::string> cases_file() {
  const char* folder = std::getenv("TIDEMARK_TEST_DATA");
  if (folder == nullptr) return std::nullopt;
  const std::filesystem::path file = std::filesystem::path(folder) / "public_logs/cases.yaml";
  return std::filesystem::exists(file) ? std::optional(file.string()) : std::nullopt;
}

TEST(PublicCasesTest, Dump) {
  const auto file = cases_file();
  if (!file) GTEST_SKIP() << "TIDEMARK_TEST_DATA has no public_logs/cases.yaml";
  for (const PublicCase& one : public_cases(*file)) {
    std::cout << one.id << " | " << one.engine << " | " << one.version << " | " << one.model
              << " | family " << one.is_llama_family << " | lacks: " << one.incomplete << "\n";
    if (!one.is_llama_family) continue;
    const Result<Comparison> made = compare_run(one.run, {.known = known_models()});
    if (!made) {
      std::cout << "   refused: " << to_string(made.diagnostics());
      continue;
    }
    std::cout << "   " << made->model_origin << " | " << made->weights_origin << "\n";
    for (const ComparedTerm& term : made->terms) {
      std::cout << "   "
                << (term.over        ? "OFF "
                    : term.predicted ? "ok  "
                                     : "-   ")
                << key_of(term.kind) << " " << term.device << " "
                << static_cast<double>(term.logged.value) / 1048576;
      if (term.predicted) std::cout << " " << static_cast<double>(*term.predicted) / 1048576;
      std::cout << " " << term.reason << "\n";
    }
  }
}

}  // namespace
}  // namespace tidemark

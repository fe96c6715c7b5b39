#include "support/golden.h"

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tidemark::testing {
namespace {

std::filesystem::path golden_path(std::string_view name) {
  return std::filesystem::path(TIDEMARK_SOURCE_DIR) / "tests" / "golden" / name;
}

// The first line in which two texts differ, for a message a person can act on.
std::string first_difference(std::string_view expected, std::string_view actual) {
  std::istringstream expected_lines{std::string(expected)};
  std::istringstream actual_lines{std::string(actual)};
  std::string expected_line;
  std::string actual_line;
  for (int line = 1;; ++line) {
    const bool more_expected = static_cast<bool>(std::getline(expected_lines, expected_line));
    const bool more_actual = static_cast<bool>(std::getline(actual_lines, actual_line));
    if (!more_expected && !more_actual) return "the texts differ only in their last newline";
    if (!more_expected) expected_line = "(end)";
    if (!more_actual) actual_line = "(end)";
    if (expected_line != actual_line) {
      return fmt::format("line {}\n  golden: {}\n  actual: {}", line, expected_line, actual_line);
    }
  }
}

}  // namespace

::testing::AssertionResult matches_golden(std::string_view name, std::string_view text) {
  const std::filesystem::path path = golden_path(name);
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream expected;
  expected << stream.rdbuf();
  if (stream.is_open() && expected.str() == text) return ::testing::AssertionSuccess();
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return ::testing::AssertionFailure()
           << "updated " << path << "; look at the difference and run again";
  }
  return ::testing::AssertionFailure()
         << path << " does not match: " << first_difference(expected.str(), text);
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "tidemark-test-XXXXXX").string();
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string slurp(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.is_open()) << path;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace tidemark::testing

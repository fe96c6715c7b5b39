// Real files that are too large or not ours to ship: looked for in the folder that the environment
// variable TIDEMARK_TEST_DATA names.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace tidemark::testing {

// A file or folder in it; nothing when it is not there.
inline std::optional<std::filesystem::path> test_data(const std::string& relative) {
  const char* root = std::getenv("TIDEMARK_TEST_DATA");
  if (root == nullptr || *root == '\0') return std::nullopt;
  std::filesystem::path path = std::filesystem::path(root) / relative;
  std::error_code error;
  return std::filesystem::exists(path, error) ? std::optional(path) : std::nullopt;
}

}  // namespace tidemark::testing

// NOLINTNEXTLINE: GTEST_SKIP returns from the test, which a function could not.
#define TIDEMARK_NEED_TEST_DATA(variable, relative)                                         \
  const auto variable##_found = ::tidemark::testing::test_data(relative);                   \
  if (!variable##_found) GTEST_SKIP() << "TIDEMARK_TEST_DATA does not hold " << (relative); \
  const std::filesystem::path& variable = *variable##_found

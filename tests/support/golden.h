// Golden files: the exact text a writer must produce, in tests/golden/. UPDATE_GOLDEN=1 rewrites
// them, and the test still fails and names the file, so an update is a visible act.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace tidemark::testing {

::testing::AssertionResult matches_golden(std::string_view name, std::string_view text);

// A fresh folder, removed with everything in it at the end of its scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Content of a file of the source tree, or of any path; fails the test when it cannot be read.
std::string slurp(const std::filesystem::path& path);

}  // namespace tidemark::testing

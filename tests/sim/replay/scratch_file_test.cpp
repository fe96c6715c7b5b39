#include "sim/replay/scratch_file.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <system_error>
#include <vector>

#include "sim/replay/mapping.h"
#include "tiny.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

// A folder of the test's own, so that nobody else's scratch files are counted.
struct Folder {
  Folder() : path(fs::path(::testing::TempDir()) / ("scratch-" + std::to_string(::getpid()))) {
    fs::create_directory(path);
  }
  ~Folder() { fs::remove_all(path); }
  bool empty() const { return fs::is_empty(path); }
  fs::path path;
};

TEST(ScratchFileTest, HasNoNameAndIsReadBack) {
  const Folder folder;
  ScratchFile file(folder.path);
  EXPECT_TRUE(folder.empty());
  const size_t page = static_cast<size_t>(page_size().count());
  std::vector<std::byte> written(3 * page);
  for (size_t i = 0; i < written.size(); ++i) written[i] = static_cast<std::byte>(i % 251);
  file.append(std::span(written).first(100));
  file.append(std::span(written).subspan(100));
  file.settle();
  EXPECT_EQ(file.size(), std::ssize(written));
  std::vector<std::byte> piece(7);
  file.read(99, piece);
  EXPECT_TRUE(std::equal(piece.begin(), piece.end(), written.begin() + 99));
  const Mapping pages(page_size() * 2, Fault::kNow);
  file.read_direct(page_size().count(), pages.bytes());
  EXPECT_TRUE(std::equal(pages.bytes().begin(), pages.bytes().end(),
                         written.begin() + page_size().count()));
}

TEST(ScratchFileTest, ReadingPastTheEndAndAMissingFolderFail) {
  const Folder folder;
  const ScratchFile file(folder.path);
  std::vector<std::byte> piece(1);
  EXPECT_THROW(file.read(0, piece), std::system_error);
  EXPECT_THROW(ScratchFile(folder.path / "missing"), std::system_error);
  EXPECT_THROW(free_space(folder.path / "missing"), std::system_error);
  EXPECT_GT(free_space(folder.path), 0);
}

// A child that replays without end; killed as a user and as the system would.
void expect_nothing_left_after(int signal) {
  const Folder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGINT, SIG_DFL);
    const Scenario scenario = testing::tiny_scenario();
    for (bool works = true; works;) {
      works = replay(std::span(&scenario, 1), {.scratch = folder.path}).ok();
    }
    ::_exit(1);
  }
  ::usleep(300'000);
  ::kill(child, signal);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(folder.empty());
}

TEST(ScratchFileTest, NothingIsLeftWhenTheProgramIsKilled) {
  expect_nothing_left_after(SIGINT);
  expect_nothing_left_after(SIGKILL);
}

}  // namespace
}  // namespace tidemark

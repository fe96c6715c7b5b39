#include "planner/base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "support/golden.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::TemporaryFolder;

constexpr const char* kNotRead =
    "  hint: a folder, a pipe or a device is not read: write it to a file first\n";

int64_t files_in(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder),
                       std::filesystem::directory_iterator());
}

TEST(FilesTest, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x.bin";
  const std::string content("a\0b\n\xff", 5);
  EXPECT_EQ(write_file(path, content).value(), 5_B);
  EXPECT_EQ(read_file(path, 5_B).value(), content);
  EXPECT_EQ(write_file(path, "").value(), 0_B);
  EXPECT_EQ(read_file(path, 0_B).value(), "");
}

TEST(FilesTest, WritingReplacesTheOldFileAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x.txt";
  ASSERT_TRUE(write_file(path, "old and long").ok());
  ASSERT_TRUE(write_file(path, "new").ok());
  EXPECT_EQ(read_file(path, 1_KiB).value(), "new");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(FilesTest, AWrittenFileHasOrdinaryPermissions) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x.txt";
  const mode_t before = ::umask(027);
  const bool written = write_file(path, "x").ok();
  ::umask(before);
  ASSERT_TRUE(written);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST(FilesTest, AReplacedFileKeepsItsPermissions) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "private.txt";
  ASSERT_TRUE(write_file(path, "old").ok());
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  ASSERT_TRUE(write_file(path, "new").ok());
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(read_file(path, 1_KiB).value(), "new");
}

TEST(FilesTest, ALinkIsFollowedAndStaysALink) {
  const TemporaryFolder folder;
  const std::filesystem::path target = folder.path() / "target.txt";
  const std::filesystem::path link = folder.path() / "link.txt";
  ASSERT_TRUE(write_file(target, "old").ok());
  std::filesystem::create_symlink("target.txt", link);
  ASSERT_TRUE(write_file(link, "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(target, 1_KiB).value(), "new");

  const std::filesystem::path loop = folder.path() / "loop";
  std::filesystem::create_symlink("loop", loop);
  EXPECT_FALSE(write_file(loop, "x").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(loop));
}

TEST(FilesTest, APipeIsWrittenIntoAndStaysAPipe) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_EQ(write_file(pipe, "through").value(), 7_B);
  std::array<char, 16> read{};
  EXPECT_EQ(::read(reader, read.data(), read.size()), 7);
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(files_in(folder.path()), 1);
}

// As /dev/stdout is one behind `| less`: what its links say is no path.
TEST(FilesTest, APipeWithoutANameIsWrittenInto) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string name = "/dev/fd/" + std::to_string(ends[1]);
  if (!std::filesystem::exists(name)) GTEST_SKIP() << "descriptors have no names here";
  const Result<Bytes> written = write_file(name, "through");
  EXPECT_TRUE(written.ok()) << to_string(written.diagnostics());
  ::close(ends[1]);
  std::array<char, 16> read{};
  EXPECT_EQ(::read(ends[0], read.data(), read.size()), 7);
  ::close(ends[0]);
}

TEST(FilesTest, AReplacementThatIsNotCommittedLeavesNothing) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x.txt";
  ASSERT_TRUE(write_file(path, "old").ok());
  {
    Result<FileReplacement> opened = FileReplacement::open(path);
    ASSERT_TRUE(opened.ok());
    FileReplacement replacement = std::move(opened).value();
    EXPECT_TRUE(replacement.write("half"));
    EXPECT_EQ(files_in(folder.path()), 2);
  }
  EXPECT_EQ(files_in(folder.path()), 1);
  EXPECT_EQ(read_file(path, 1_KiB).value(), "old");
}

TEST(FilesTest, AFailedWriteLeavesWhatWasThere) {
  const TemporaryFolder folder;
  const std::filesystem::path occupied = folder.path() / "occupied";
  std::filesystem::create_directories(occupied / "inside");
  const Result<Bytes> result = write_file(occupied, "x");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(to_string(result.diagnostics()),
            occupied.string() +
                ": error: cannot write: Is a directory\n"
                "  hint: name a file in a folder that exists, is writable and has space\n");
  EXPECT_EQ(files_in(folder.path()), 1);
  EXPECT_TRUE(std::filesystem::exists(occupied / "inside"));
}

TEST(FilesTest, WritingIntoAMissingFolderIsRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "missing" / "x.txt";
  EXPECT_EQ(to_string(write_file(path, "x").diagnostics()),
            path.string() +
                ": error: cannot write: No such file or directory\n"
                "  hint: name a file in a folder that exists, is writable and has space\n");
}

TEST(FilesTest, ReadingIsBounded) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x.txt";
  ASSERT_TRUE(write_file(path, std::string(1025, 'x')).ok());
  EXPECT_TRUE(read_file(path, 1025_B).ok());
  EXPECT_EQ(to_string(read_file(path, 1_KiB).diagnostics()),
            path.string() + ": error: file is larger than the 1.00 KiB this reader accepts\n");
}

TEST(FilesTest, OnlyRegularFilesAreRead) {
  const TemporaryFolder folder;
  const std::filesystem::path missing = folder.path() / "missing";
  EXPECT_EQ(to_string(read_file(missing, 1_KiB).diagnostics()),
            missing.string() + ": error: cannot open: no such file\n");
  EXPECT_EQ(to_string(read_file(folder.path(), 1_KiB).diagnostics()),
            folder.path().string() + ": error: not a regular file\n" + kNotRead);
  // A pipe would block a reader that just opens it.
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(to_string(read_file(pipe, 1_KiB).diagnostics()),
            pipe.string() + ": error: not a regular file\n" + kNotRead);
}

}  // namespace
}  // namespace tidemark

#include "sim/replay/memory_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> folders(std::string_view groups, std::string_view mounts) {
  std::vector<std::string> result;
  for (const GroupParent& parent : group_parents(groups, mounts)) {
    result.push_back(std::to_string(parent.version) + " " + parent.folder.string());
  }
  return result;
}

// Lines as Linux writes them (proc(5), cgroups(7)).
TEST(MemoryGroupTest, TheFirstVersionIsTheControllersOwnTree) {
  EXPECT_THAT(folders("5:cpu:/a\n4:memory:/a/b\n0::/\n",
                      "29 25 0:25 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                      "30 25 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup "
                      "rw,memory\n"),
              ElementsAre("1 /sys/fs/cgroup/memory/a/b", "1 /sys/fs/cgroup/memory/a",
                          "1 /sys/fs/cgroup/memory"));
}

TEST(MemoryGroupTest, TheSecondVersionIsOneTree) {
  EXPECT_THAT(folders("0::/user.slice/app.scope\n",
                      "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"),
              ElementsAre("2 /sys/fs/cgroup/user.slice/app.scope", "2 /sys/fs/cgroup/user.slice",
                          "2 /sys/fs/cgroup"));
}

// In a container the tree is mounted from the container's group on.
TEST(MemoryGroupTest, PathsAreRelativeToTheRootOfTheMount) {
  EXPECT_THAT(
      folders("4:memory:/docker/abc/x\n",
              "30 25 0:26 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
      ElementsAre("1 /sys/fs/cgroup/memory/x", "1 /sys/fs/cgroup/memory"));
  EXPECT_THAT(
      folders("4:memory:/elsewhere\n",
              "30 25 0:26 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
      ElementsAre("1 /sys/fs/cgroup/memory"));
}

TEST(MemoryGroupTest, WhatCannotBeReadIsNoGroup) {
  EXPECT_THAT(folders("", ""), IsEmpty());
  EXPECT_THAT(folders("nonsense\n4:memory\n::\n", "1 2 3\n- - -\n"), IsEmpty());
  EXPECT_THAT(folders("4:memory:/a\n", "30 25 0:26 / /x rw - cgroup cgroup rw,cpu\n"), IsEmpty());
}

// Files as the kernel has them (cgroup-v1/memory.txt, cgroup-v2.txt).
TEST(MemoryGroupTest, Room) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "memory_group_room";
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  const GroupParent second{.version = 2, .folder = folder};
  EXPECT_EQ(room_of(second), std::nullopt);
  write("memory.max", "max\n");
  EXPECT_EQ(room_of(second), std::nullopt);
  write("memory.max", "4294967296\n");
  write("memory.current", "3221225472\n");
  write("memory.stat", "anon 1073741824\ninactive_file 2147483648\nactive_file 0\n");
  EXPECT_EQ(room_of(second), Bytes::of(int64_t{3} << 30));
  write("memory.current", "9000000000\n");  // over its limit for a moment
  EXPECT_EQ(room_of(second), Bytes{});
  const GroupParent first{.version = 1, .folder = folder};
  write("memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(room_of(first), std::nullopt);
  write("memory.limit_in_bytes", "1000000\n");
  write("memory.usage_in_bytes", "300000\n");
  write("memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n");
  EXPECT_EQ(room_of(first), Bytes::of(800'000));
  std::filesystem::remove_all(folder);
}

TEST(MemoryGroupTest, AFolderThatIsNoControlGroupMakesNone) {
  EXPECT_FALSE(MemoryGroup::make_in({.version = 2, .folder = "/no/such/folder"}, Bytes::of(1 << 20))
                   .has_value());
}

TEST(MemoryGroupTest, IsGoneWhenItIsNoLongerNeeded) {
  std::filesystem::path folder;
  {
    const std::optional<MemoryGroup> group = MemoryGroup::make(Bytes::of(64 << 20));
    if (!group) GTEST_SKIP() << "no control group can be made here";
    folder = group->folder();
    EXPECT_TRUE(std::filesystem::exists(folder));
    EXPECT_THAT(group->describe(), ::testing::StartsWith("control group, version "));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace tidemark

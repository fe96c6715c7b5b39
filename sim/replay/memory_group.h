// A control group with a memory limit: what the processes in it hold is counted by the kernel, and
// when nothing can be taken back any more, one of them is killed.
//
// Counted are pages that a process of the group was the first to touch, so not those it shares with
// the parent it was forked from; page tables; and pages of files it reads, which can be taken back.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/bytes.h"

namespace tidemark {

// A folder in which a group can be tried.
struct GroupParent {
  int version = 2;  // of control groups
  std::filesystem::path folder{};
  bool operator==(const GroupParent&) const = default;
};

// The process's own group and those above it, nearest first, from the text of /proc/self/cgroup and
// /proc/self/mountinfo.
//   4:memory:/a/b   30 25 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
//   -> version 1, /sys/fs/cgroup/memory/a/b, .../a, ...
std::vector<GroupParent> group_parents(std::string_view groups, std::string_view mounts);

// What a group may still take: its limit less what it holds and the kernel cannot take back at once
// (pages of files that were not used lately). None without a limit.
//   limit 4 GiB, holds 3 GiB, 2 GiB of them such pages: 3 GiB.    Checked by MemoryGroupTest.Room.
std::optional<Bytes> room_of(const GroupParent& group);
// The least of the process's own group and those above it.
std::optional<Bytes> room_in_groups();

class MemoryGroup {
 public:
  // None where no group can be made, for want of rights mostly. Groups that runs which are no more
  // have left behind are removed on the way.
  static std::optional<MemoryGroup> make(Bytes limit);
  static std::optional<MemoryGroup> make_in(const GroupParent& parent, Bytes limit);

  ~MemoryGroup();
  MemoryGroup(MemoryGroup&& other) noexcept;
  MemoryGroup& operator=(MemoryGroup&&) = delete;
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::string describe() const;  // "control group, version 1"
  bool enter() const;            // the calling process; false when it may not
  std::optional<Bytes> highest() const;

 private:
  MemoryGroup(int version, std::filesystem::path folder)
      : version_(version), folder_(std::move(folder)) {}

  int version_ = 2;
  std::filesystem::path folder_{};  // empty = moved from
};

}  // namespace tidemark

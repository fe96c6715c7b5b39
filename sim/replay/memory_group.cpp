#include "sim/replay/memory_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "sim/replay/system_text.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tidemark-replay-";
constexpr int64_t kNoLimit = int64_t{1} << 62;  // the first version's is the largest whole page

std::vector<GroupParent> own_groups() {
  return group_parents(system_text("/proc/self/cgroup"), system_text("/proc/self/mountinfo"));
}

// A file of a control group takes one write, and says by an error what it thinks of it.
bool put(const fs::path& file, const std::string& value) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (opened < 0) return false;
  const bool written = ::write(opened, value.data(), value.size()) == std::ssize(value);
  ::close(opened);
  return written;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// "30 25 0:26 ROOT POINT options ... - TYPE SOURCE OPTIONS"
struct Mount {
  std::string root{};
  std::string point{};
  std::string type{};
  std::string options{};
};

std::vector<Mount> parse_mounts(std::string_view text) {
  std::vector<Mount> mounts;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Mount mount;
    std::string word;
    words >> word >> word >> word >> mount.root >> mount.point;
    while (words >> word && word != "-") {
    }
    if (words >> mount.type >> word >> mount.options) mounts.push_back(std::move(mount));
  }
  return mounts;
}

void add_parents(int version, const Mount& mount, fs::path group,
                 std::vector<GroupParent>& parents) {
  group = group.lexically_relative(mount.root);
  if (group.empty() || *group.begin() == "..") group = ".";
  for (fs::path folder = (fs::path(mount.point) / group).lexically_normal();;) {
    while (!folder.has_filename() && folder.has_relative_path()) folder = folder.parent_path();
    parents.push_back({.version = version, .folder = folder});
    if (folder == mount.point || !folder.has_relative_path()) return;
    folder = folder.parent_path();
  }
}

bool is_alive(std::string_view name) {
  int64_t process = 0;
  const std::string_view digits = name.substr(kPrefix.size());
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), process);
  if (error != std::errc{} || rest != digits.data() + digits.size())
    return true;  // not one of these
  return ::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM;
}

void remove_left_behind(const fs::path& parent) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && !is_alive(name)) ::rmdir(entry.path().c_str());
  }
}

bool set_limit(int version, const fs::path& folder, Bytes limit) {
  const std::string bytes = fmt::format("{}", limit.count());
  if (version == 1) {
    if (!put(folder / "memory.limit_in_bytes", bytes)) return false;
    put(folder / "memory.memsw.limit_in_bytes", bytes);  // without swap where it is counted,
    put(folder / "memory.swappiness", "0");              // and otherwise as little as can be
    return true;
  }
  if (!put(folder / "memory.max", bytes)) return false;
  put(folder / "memory.swap.max", "0");
  return true;
}

}  // namespace

std::vector<GroupParent> group_parents(std::string_view groups, std::string_view mounts) {
  std::vector<GroupParent> parents;
  const std::vector<Mount> mounted = parse_mounts(mounts);
  std::istringstream lines{std::string(groups)};
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const int version = controllers.empty() ? 2 : 1;
    if (version == 1 && !has_word(controllers, "memory")) continue;
    for (const Mount& mount : mounted) {
      const bool fits = version == 2 ? mount.type == "cgroup2"
                                     : mount.type == "cgroup" && has_word(mount.options, "memory");
      if (!fits) continue;
      add_parents(version, mount, line.substr(second + 1), parents);
      break;
    }
  }
  return parents;
}

std::optional<Bytes> room_of(const GroupParent& group) {
  const bool first = group.version == 1;
  const auto number = [&](const char* name) {
    return leading_number(system_text(group.folder / name));
  };
  const auto limit = number(first ? "memory.limit_in_bytes" : "memory.max");
  if (!limit || *limit >= kNoLimit) return std::nullopt;
  const int64_t held = number(first ? "memory.usage_in_bytes" : "memory.current").value_or(0);
  const std::string key = first ? "total_inactive_file " : "inactive_file ";
  const std::string stat = system_text(group.folder / "memory.stat");
  const int64_t idle = leading_number(line_after(stat, key)).value_or(0);
  return Bytes::of(std::clamp<int64_t>(*limit - std::max<int64_t>(held - idle, 0), 0, *limit));
}

std::optional<Bytes> room_in_groups() {
  std::optional<Bytes> least;
  for (const GroupParent& group : own_groups()) {
    const std::optional<Bytes> room = room_of(group);
    if (room && (!least || *room < *least)) least = room;
  }
  return least;
}

std::optional<MemoryGroup> MemoryGroup::make(Bytes limit) {
  for (const GroupParent& parent : own_groups()) {
    if (auto group = make_in(parent, limit)) return group;
  }
  return std::nullopt;
}

std::optional<MemoryGroup> MemoryGroup::make_in(const GroupParent& parent, Bytes limit) {
  remove_left_behind(parent.folder);
  const fs::path folder = parent.folder / fmt::format("{}{}", kPrefix, ::getpid());
  if (::mkdir(folder.c_str(), 0755) != 0) return std::nullopt;
  MemoryGroup group(parent.version, folder);
  if (set_limit(parent.version, folder, limit)) return group;
  // The controller may have to be passed on first.
  const bool passed_on =
      parent.version == 2 && put(parent.folder / "cgroup.subtree_control", "+memory");
  if (passed_on && set_limit(parent.version, folder, limit)) return group;
  return std::nullopt;
}

MemoryGroup::MemoryGroup(MemoryGroup&& other) noexcept
    : version_(other.version_), folder_(std::exchange(other.folder_, {})) {}

// A process that has just ended may still be in it for a moment.
MemoryGroup::~MemoryGroup() {
  for (int tries = 0; !folder_.empty() && tries < 200; ++tries) {
    if (::rmdir(folder_.c_str()) == 0 || errno != EBUSY) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

std::string MemoryGroup::describe() const {
  return fmt::format("control group, version {}", version_);
}

bool MemoryGroup::enter() const { return put(folder_ / "cgroup.procs", "0"); }

std::optional<Bytes> MemoryGroup::highest() const {
  const auto bytes = leading_number(
      system_text(folder_ / (version_ == 1 ? "memory.max_usage_in_bytes" : "memory.peak")));
  return bytes ? std::optional(Bytes::of(*bytes)) : std::nullopt;
}

}  // namespace tidemark

#include "sim/replay/child_run.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "planner/base/units.h"
#include "sim/replay/memory_group.h"
#include "sim/replay/system_text.h"

namespace tidemark {
namespace {

constexpr int64_t kThreadStacks = int64_t{16} << 20;

// What a record is about, for those of the keeper; the child's own begin with 0.
enum class From : int64_t { kChild = 0, kLimit = 1, kEnd = 2, kTrouble = 3 };

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_.data()) != 0) fail(errno, "cannot make a pipe");
  }
  ~Pipe() {
    close_reading();
    close_writing();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close_reading() { close_end(ends_[0]); }
  void close_writing() { close_end(ends_[1]); }

 private:
  static void close_end(int& end) {
    if (end >= 0) ::close(std::exchange(end, -1));
  }
  std::array<int, 2> ends_{-1, -1};
};

// Length, sender, content in one write.
bool send(int pipe, From from, const Record& record) {
  Record header;
  header.add(std::ssize(record.bytes())).add(static_cast<int64_t>(from));
  std::vector<std::byte> bytes(header.bytes().begin(), header.bytes().end());
  bytes.insert(bytes.end(), record.bytes().begin(), record.bytes().end());
  ssize_t written = -1;
  do {
    written = ::write(pipe, bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  return written == std::ssize(bytes);
}

// Of the writable memory that is the process's own, as the kernel counts it for the limit.
int64_t data_bytes() {
  return kib_after(system_text("/proc/self/status"), "VmData:").value_or(Bytes{}).count();
}

bool set_data_limit(Bytes limit) {
  const auto bytes = static_cast<rlim_t>(limit.count()) +
                     static_cast<rlim_t>(data_bytes() + kThreadStacks);  // no overflow: unsigned
  const struct rlimit wanted = {.rlim_cur = bytes, .rlim_max = bytes};
  return ::setrlimit(RLIMIT_DATA, &wanted) == 0;
}

[[noreturn]] void be_child(const ChildWork& work, const MemoryGroup* group, int records) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  const bool limited =
      !work.limit || (group != nullptr ? group->enter() : set_data_limit(work.limit->bytes));
  if (!limited) {
    send(records, From::kTrouble, Record().add(errno));
    ::_exit(1);
  }
  work.body([records](const Record& record) { return send(records, From::kChild, record); });
  ::_exit(0);
}

Record describe_limit(const MemoryGroup* group) {
  if (group != nullptr) {
    return std::move(Record()
                         .add(group->describe())
                         .add("the pages that the run touches, its page tables, and the pages of "
                              "files it reads, which "
                              "can be taken back"));
  }
  return std::move(Record()
                       .add("data limit of the process")
                       .add("address space that can be written, beyond " +
                            format_bytes(Bytes::of(kThreadStacks)) +
                            " for threads, touched or not; pages of files are not counted"));
}

// Waits for the child; kills it when nobody waits for the keeper any more.
int wait_for(pid_t child, int life) {
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (ended < 0 && errno != EINTR) return 0;
    struct pollfd watched = {.fd = life, .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, 10) > 0) {
      ::kill(child, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

// Everything the keeper does but end.
void keep(const ChildWork& work, int records, int life) {
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  const bool may_group = work.limit && work.limit->mechanism != LimitMechanism::kDataLimit;
  const std::optional<MemoryGroup> group =
      may_group ? MemoryGroup::make(work.limit->bytes) : std::nullopt;
  if (work.limit && work.limit->mechanism == LimitMechanism::kControlGroup && !group) {
    send(records, From::kTrouble, Record().add(EPERM));
    return;
  }
  if (work.limit) send(records, From::kLimit, describe_limit(group ? &*group : nullptr));
  const pid_t child = ::fork();
  if (child < 0) {
    send(records, From::kTrouble, Record().add(errno));
    return;
  }
  if (child == 0) be_child(work, group ? &*group : nullptr, records);
  const int signal = wait_for(child, life);
  const std::optional<Bytes> highest = group ? group->highest() : std::nullopt;
  send(records, From::kEnd, Record().add(signal).add(highest ? highest->count() : int64_t{-1}));
}

// What comes through the pipe, record by record.
class Listener {
 public:
  Listener(const ChildWork& work, int pipe) : work_(work), pipe_(pipe) {}

  // False at the end.
  bool listen() {
    std::array<std::byte, 1 << 14> piece{};
    const ssize_t got = ::read(pipe_, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    held_.insert(held_.end(), piece.begin(), piece.begin() + got);
    constexpr size_t kHeader = 2 * sizeof(int64_t);
    size_t at = 0;
    while (held_.size() - at >= kHeader) {
      const auto start = held_.begin() + static_cast<std::ptrdiff_t>(at);
      Record header(std::vector<std::byte>(start, start + kHeader));
      const auto length = static_cast<size_t>(header.number());
      const auto from = static_cast<From>(header.number());
      if (held_.size() - at - kHeader < length) break;
      const auto content = start + kHeader;
      const auto behind = content + static_cast<std::ptrdiff_t>(length);
      take(from, Record(std::vector<std::byte>(content, behind)));
      at += kHeader + length;
    }
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }

  ChildEnd end() && { return std::move(end_); }

 private:
  void take(From from, Record record) {
    switch (from) {
      case From::kChild:
        work_.on_record(std::move(record));
        return;
      case From::kLimit:
        end_.mechanism = record.text();
        end_.counts = record.text();
        return;
      case From::kEnd: {
        end_.signal = static_cast<int>(record.number());
        const int64_t highest = record.number();
        if (highest >= 0) end_.highest = Bytes::of(highest);
        return;
      }
      case From::kTrouble:
        fail(static_cast<int>(record.number()), "cannot put a memory limit on the run");
    }
  }

  const ChildWork& work_;
  int pipe_;
  std::vector<std::byte> held_{};
  ChildEnd end_{};
};

// Ends the keeper with it, and waits for that.
class Keeper {
 public:
  explicit Keeper(const ChildWork& work) {
    process_ = ::fork();
    if (process_ < 0) fail(errno, "cannot make a process");
    if (process_ > 0) {
      records_.close_writing();
      life_.close_reading();
      return;
    }
    records_.close_reading();
    life_.close_writing();
    keep(work, records_.writing(), life_.reading());
    ::_exit(0);
  }
  ~Keeper() {
    stop();
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  int records() const { return records_.reading(); }
  void stop() { life_.close_writing(); }

 private:
  Pipe records_{};
  Pipe life_{};
  pid_t process_ = -1;
};

}  // namespace

Record& Record::add(int64_t number) {
  const size_t at = bytes_.size();
  bytes_.resize(at + sizeof number);
  std::memcpy(&bytes_[at], &number, sizeof number);
  return *this;
}

Record& Record::add(std::string_view text) {
  text = text.substr(0, kMostText);
  add(std::ssize(text));
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  bytes_.insert(bytes_.end(), first, first + text.size());
  return *this;
}

int64_t Record::number() {
  int64_t value = 0;
  if (bytes_.size() - read_ < sizeof value) return 0;
  std::memcpy(&value, &bytes_[read_], sizeof value);
  read_ += sizeof value;
  return value;
}

std::string Record::text() {
  const auto length = static_cast<size_t>(std::max<int64_t>(number(), 0));
  const size_t size = std::min(length, bytes_.size() - read_);
  std::string text(reinterpret_cast<const char*>(bytes_.data()) + read_, size);
  read_ += size;
  return text;
}

ChildEnd run_in_child(const ChildWork& work) {
  Keeper keeper(work);
  Listener listener(work, keeper.records());
  bool stopped = false;
  while (true) {
    struct pollfd watched = {.fd = keeper.records(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&watched, 1, 50);
    if (!stopped && work.stop != nullptr && work.stop->load()) {
      stopped = true;
      keeper.stop();
    }
    if (ready > 0 && !listener.listen()) break;
  }
  ChildEnd end = std::move(listener).end();
  end.stopped = stopped;
  return end;
}

}  // namespace tidemark

// Work in a process of its own, under a memory limit that the system enforces. It tells what it has
// to tell in records through a pipe, so that what was said before it was killed is known.
//
//   this process  --fork--> keeper: makes the control group, waits, removes it
//                             --fork--> child: enters it, does the work
//
// The keeper lives in a session of its own and notices when this process is no more, so no child
// and no group is left behind whatever ends the program, Ctrl-C and kill -9 included.
//
// Nothing but this thread exists in the child: the process must have no others that it would miss.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/bytes.h"

namespace tidemark {

// Numbers and short texts one after the other. A record is written in one piece or not at all, so
// it is at most kMostRecord long: longer texts are cut.
class Record {
 public:
  static constexpr size_t kMostRecord =
      4000;  // a pipe takes 4096 in one piece (POSIX: 512 at least)
  static constexpr size_t kMostText = 1200;

  Record() = default;
  explicit Record(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  Record& add(int64_t number);
  Record& add(std::string_view text);
  // In the order in which they were added; 0 and "" past the end.
  int64_t number();
  std::string text();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_{};
  size_t read_ = 0;
};

// False when nobody listens any more.
using Tell = std::function<bool(const Record&)>;

enum class LimitMechanism {
  kAny,           // a control group where one can be made, else the limit below
  kControlGroup,  // or none
  kDataLimit,     // RLIMIT_DATA: memory that can be written and is the process's own
};

struct ChildLimit {
  Bytes bytes{};
  LimitMechanism mechanism = LimitMechanism::kAny;
};

struct ChildEnd {
  bool stopped = false;     // because that was asked for
  int signal = 0;           // that ended it; 0 = it came to its end
  std::string mechanism{};  // of the limit; empty = none
  std::string counts{};     // what it counts, in words
  std::optional<Bytes> highest{};
};

struct ChildWork {
  std::optional<ChildLimit> limit{};
  std::function<void(const Tell& tell)> body{};  // in the child
  std::function<void(Record record)> on_record{};
  const std::atomic<bool>* stop = nullptr;  // null = never
};

// Throws std::system_error when no process can be made, or no control group where that is asked
// for.
ChildEnd run_in_child(const ChildWork& work);

}  // namespace tidemark

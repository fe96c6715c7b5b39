#include "sim/calibrate/memory.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "planner/report/layout.h"
#include "sim/replay/mapped_weights.h"
#include "sim/replay/mapping.h"
#include "sim/replay/resident.h"

namespace tidemark {
namespace {

// A mapping of its own, so that its pages go when it does.
class Pages {
 public:
  // Anonymous, or of a file from `offset` on.
  explicit Pages(Bytes size, int file = -1, int64_t offset = 0)
      : size_(static_cast<size_t>(size.count())) {
    const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    const int access = file < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    start_ = ::mmap(nullptr, size_, access, flags, file, offset);
    if (start_ == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(), "cannot map memory to measure it");
    }
  }
  ~Pages() { ::munmap(start_, size_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  void advise(int advice) const { ::madvise(start_, size_, advice); }
  void read_each(size_t page) const {
    const auto* bytes = static_cast<const volatile unsigned char*>(start_);
    for (size_t at = 0; at < size_; at += page) static_cast<void>(bytes[at]);
  }
  void write_each(size_t page) const {
    auto* bytes = static_cast<volatile unsigned char*>(start_);
    for (size_t at = 0; at < size_; at += page) bytes[at] = 1;
  }

 private:
  void* start_ = nullptr;
  size_t size_ = 0;
};

// A cache line at a time, so that adding does not hold up reading.
uint64_t sum_of(const uint64_t* words, size_t count) {
  using Line [[gnu::vector_size(64), gnu::aligned(8), gnu::may_alias]] = uint64_t;
  Line sums[4] = {};
  const auto* lines = reinterpret_cast<const Line*>(words);
  for (size_t i = 0; i + 4 <= count / 8; i += 4) {
    for (size_t lane = 0; lane < 4; ++lane) sums[lane] += lines[i + lane];
  }
  const Line sum = sums[0] + sums[1] + sums[2] + sums[3];
  uint64_t total = 0;
  for (size_t lane = 0; lane < 8; ++lane) total += sum[lane];
  return total;
}

size_t page() { return static_cast<size_t>(page_size().count()); }

double ns_a_byte(Bytes size, double ns) { return ns / static_cast<double>(size.count()); }

double ns_a_page(Bytes size, double ns) {
  return ns * static_cast<double>(page()) / static_cast<double>(size.count());
}

class FreshMemory {
 public:
  FreshMemory(const Rounds& rounds, Bytes size) : rounds_(rounds), size_(size), small_(size) {
    small_.advise(MADV_NOHUGEPAGE);
    small_.write_each(page());
  }

  double fresh() const {
    Mapping pages(size_, Fault::kNow);
    pages = Mapping();
    pages = Mapping(size_, Fault::kOnTouch);
    return ns_a_byte(size_, rounds_.ns_of([&] { pages.populate(); }));
  }

  double fault() const {
    small_.advise(MADV_DONTNEED);
    return ns_a_page(size_, rounds_.ns_of([&] { small_.write_each(page()); }));
  }

 private:
  const Rounds& rounds_;
  Bytes size_;
  Pages small_;
};

constexpr int kPassEvery = 3;  // rounds: it takes seconds

// A mapped file read as a replay reads its weights: unit after unit is asked for and touched, into
// memory that was just given back, and stays. A piece of the file alone takes up to a quarter
// longer a byte than all of it.
class MappedPass {
 public:
  MappedPass(const Rounds& rounds, const ScratchFile& file, Bytes unit)
      : rounds_(rounds), file_(file), unit_(unit) {}

  // Nanoseconds of a byte. Ends after a unit when stopped.
  double read() const {
    const Bytes whole = Bytes::of(file_.size());
    const Bytes end = std::min(whole, std::max(unit_, available_memory().value_or(whole) / 2));
    take_and_give_back(end + end / 2, rounds_.options().stop);
    const MappedWeights mapped(file_, false);
    Bytes done;
    const double ns = rounds_.ns_of([&] {
      while (done < end && !rounds_.stopped()) {
        const Interval<Bytes> unit{done, std::min(end, done + unit_)};
        mapped.ask_for(unit);
        mapped.touch(unit);
        done = unit.upper;
      }
    });
    return ns_a_byte(std::max(done, Bytes::of(1)), ns);
  }

 private:
  const Rounds& rounds_;
  const ScratchFile& file_;
  Bytes unit_;
};

// Pieces that are measured one after the other lie so many apart: all over the file.
constexpr int64_t kStride = 7;

// A piece of the file at a time in the page cache: it comes, is used there in two ways, and goes
// when the next one comes.
class FilePieces {
 public:
  FilePieces(const Rounds& rounds, const ScratchFile& file, Bytes size)
      : rounds_(rounds), file_(file), size_(size), buffer_(size_t{1} << 20) {}

  double mapped_fault() {
    file_.forget(at_, size_.count());
    at_ = next_ % (file_.size() / size_.count()) * size_.count();
    next_ += kStride;
    read();  // into the page cache
    const Pages pages(size_, file_.descriptor(), at_);
    pages.advise(MADV_RANDOM);
    return ns_a_page(size_, rounds_.ns_of([&] { pages.read_each(page()); }));
  }

  double cached_read() {
    return ns_a_byte(size_, rounds_.ns_of([&] { read(); }));
  }

 private:
  void read() {
    for (int64_t done = 0; done < size_.count(); done += std::ssize(buffer_)) {
      const int64_t left = std::min<int64_t>(std::ssize(buffer_), size_.count() - done);
      file_.read(at_ + done, std::span(buffer_).first(static_cast<size_t>(left)));
    }
  }

  const Rounds& rounds_;
  const ScratchFile& file_;
  Bytes size_;
  int64_t at_ = 0;
  int64_t next_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace

MemoryProbes add_memory_probes(Rounds& rounds, const ScratchFile& file, Bytes piece) {
  const auto memory = std::make_shared<FreshMemory>(rounds, piece);
  const auto pass = std::make_shared<MappedPass>(rounds, file, piece);
  const auto pieces = std::make_shared<FilePieces>(rounds, file, piece);
  MemoryProbes probes;
  probes.fresh_memory = &rounds.add("fresh memory", [memory] { return memory->fresh(); });
  probes.anonymous_fault = &rounds.add("page faults", [memory] { return memory->fault(); });
  if (can_begin_cold(file)) {
    probes.mapped_read = &rounds.add(
        "mapped file", [pass] { return pass->read(); }, kPassEvery);
  }
  probes.mapped_fault =
      &rounds.add("faults of a mapped file", [pieces] { return pieces->mapped_fault(); });
  probes.cached_read = &rounds.add("page cache", [pieces] { return pieces->cached_read(); });
  return probes;
}

Spread unused_memory(const Rounds& rounds, Bytes piece, int64_t pieces) {
  std::vector<Mapping> held;
  std::vector<double> values;
  while (std::ssize(held) < pieces && !(rounds.stopped() && !held.empty())) {
    held.emplace_back(piece, Fault::kOnTouch);
    values.push_back(ns_a_byte(piece, rounds.ns_of([&] { held.back().populate(); })));
  }
  return spread_of(std::move(values));
}

const Probe& add_bandwidth_probe(Rounds& rounds, std::span<const std::byte> buffer, int threads) {
  const size_t part = buffer.size() / sizeof(uint64_t) / static_cast<size_t>(threads);
  const auto* words = reinterpret_cast<const uint64_t*>(buffer.data());
  const auto read_all = [words, part,
                         sums = std::vector<uint64_t>(static_cast<size_t>(threads))]() mutable {
    std::vector<std::jthread> running;
    for (size_t i = 1; i < sums.size(); ++i) {
      running.emplace_back([&sums, words, part, i] { sums[i] = sum_of(words + i * part, part); });
    }
    const volatile uint64_t first = sum_of(words, part);
    sums[0] = first;
  };
  const auto read = static_cast<int64_t>(part * sizeof(uint64_t)) * threads;
  return rounds.add("memory, " + counted(threads, "thread"), [&rounds, read, read_all] {
    return ns_a_byte(Bytes::of(read), rounds.ns_of(read_all));
  });
}

}  // namespace tidemark

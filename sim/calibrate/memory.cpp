#include "sim/calibrate/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "sim/replay/mapped_weights.h"
#include "sim/replay/mapping.h"

namespace tidemark {
namespace {

// A mapping of its own, so that its pages go when it does.
class Pages {
 public:
  Pages(int64_t size, int file) : size_(static_cast<size_t>(size)) {
    const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    const int access = file < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    start_ = ::mmap(nullptr, size_, access, flags, file, 0);
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

void read_all(const ScratchFile& file, Bytes size, std::span<std::byte> buffer) {
  for (int64_t at = 0; at < size.count(); at += std::ssize(buffer)) {
    const int64_t left = std::min<int64_t>(std::ssize(buffer), size.count() - at);
    file.read(at, buffer.first(static_cast<size_t>(left)));
  }
}

}  // namespace

Spread memory_bandwidth(const Bench& bench, Bytes size, int threads) {
  const size_t part =
      static_cast<size_t>(size.count()) / sizeof(uint64_t) / static_cast<size_t>(threads);
  const Mapping pages(size, Fault::kNow);
  const std::span words(reinterpret_cast<const uint64_t*>(pages.bytes().data()),
                        part * static_cast<size_t>(threads));
  std::vector<uint64_t> sums(static_cast<size_t>(threads));
  const Spread spread = bench.time([&] {
    std::vector<std::jthread> running;
    for (size_t i = 1; i < sums.size(); ++i) {
      running.emplace_back([&, i] { sums[i] = sum_of(&words[i * part], part); });
    }
    const volatile uint64_t first = sum_of(words.data(), part);
    sums[0] = first;
  });
  return inverse(spread, static_cast<double>(words.size() * sizeof(uint64_t)) * 1e9);
}

Spread fresh_memory(const Bench& bench, Bytes size) {
  Mapping pages;
  const Spread spread =
      bench.time_each([&] { pages = Mapping(); }, [&] { pages = Mapping(size, Fault::kNow); });
  return inverse(spread, static_cast<double>(size.count()) * 1e9);
}

Spread anonymous_fault(const Bench& bench, Bytes size) {
  std::optional<Pages> pages;
  const Spread spread = bench.time_each(
      [&] {
        pages.emplace(size.count(), -1);
        pages->advise(MADV_NOHUGEPAGE);
      },
      [&] { pages->write_each(page()); });
  return scaled(spread, static_cast<double>(page()) / static_cast<double>(size.count()));
}

Spread mapped_fault(const Bench& bench, const ScratchFile& file, Bytes size) {
  std::vector<std::byte> buffer(size_t{1} << 20);
  read_all(file, size, buffer);
  std::optional<Pages> pages;
  const Spread spread = bench.time_each(
      [&] {
        pages.emplace(size.count(), file.descriptor());
        pages->advise(MADV_RANDOM);
      },
      [&] { pages->read_each(page()); });
  return scaled(spread, static_cast<double>(page()) / static_cast<double>(size.count()));
}

Spread cached_read(const Bench& bench, const ScratchFile& file, Bytes size) {
  std::vector<std::byte> buffer(size_t{1} << 20);
  read_all(file, size, buffer);
  const Spread spread = bench.time([&] { read_all(file, size, buffer); });
  return inverse(spread, static_cast<double>(size.count()) * 1e9);
}

std::optional<Spread> mapped_read(const Bench& bench, const ScratchFile& file, Bytes size) {
  try {
    std::optional<MappedWeights> mapped;
    const Interval<Bytes> range{Bytes{}, size};
    const Spread spread = bench.time_each(
        [&] {
          mapped.reset();
          mapped.emplace(file, false);
        },
        [&] {
          mapped->ask_for(range);
          mapped->touch(range);
        });
    return inverse(spread, static_cast<double>(size.count()) * 1e9);
  } catch (const std::system_error& failed) {
    if (failed.code() == std::errc::not_supported) return std::nullopt;
    throw;
  }
}

}  // namespace tidemark

#include "sim/replay/mapped_weights.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <numeric>
#include <system_error>
#include <thread>

#include "sim/replay/mapping.h"

namespace tidemark {
namespace {

// One call of MADV_WILLNEED reads as much as the disk takes in one request and drops the rest.
constexpr size_t kAskedAtOnce = size_t{128} << 10;

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

// madvise takes the address of a mapping that nobody writes through as one that could be written.
void advise(std::span<const std::byte> pages, int advice) {
  ::madvise(const_cast<std::byte*>(pages.data()), pages.size(), advice);
}

}  // namespace

bool can_begin_cold(const ScratchFile& file) {
  try {
    const MappedWeights mapped(file, false);
    return true;
  } catch (const std::system_error& failed) {
    if (failed.code() == std::errc::not_supported) return false;
    throw;
  }
}

MappedWeights::MappedWeights(const ScratchFile& file, bool is_cached) : file_(file) {
  file.settle();
  if (is_cached) file.read_through();
  const auto size = static_cast<size_t>(file.size());
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (start == MAP_FAILED) fail(errno, "cannot map the scratch file");
  bytes_ = {static_cast<const std::byte*>(start), size};
  advise(bytes_, MADV_RANDOM);
  answer_.resize(size / static_cast<size_t>(page_size().count()) + 1);
  if (is_cached || resident() == Bytes{}) return;
  ::munmap(start, size);
  fail(ENOTSUP,
       "a mapped file cannot begin cold in the scratch folder, whose file system keeps files in "
       "memory");
}

MappedWeights::~MappedWeights() {
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  file_.forget(0, file_.size());
}

// The whole pages about a range.
std::span<const std::byte> MappedWeights::pages(Interval<Bytes> range) const {
  const Bytes page = page_size();
  const Bytes lower = page * (range.lower / page);
  const Bytes upper = std::min(whole_pages(range.upper), whole_pages(end()));
  if (lower >= upper) return {};
  return {bytes_.data() + lower.count(), static_cast<size_t>((upper - lower).count())};
}

void MappedWeights::ask_for(Interval<Bytes> range) const {
  for (auto rest = pages(range); !rest.empty();) {
    const size_t size = std::min(rest.size(), kAskedAtOnce);
    advise(rest.first(size), MADV_WILLNEED);
    rest = rest.subspan(size);
  }
}

void MappedWeights::touch(Interval<Bytes> range) const {
  const auto step = static_cast<size_t>(page_size().count());
  const std::span<const std::byte> touched = pages(range);
  for (size_t at = 0; at < touched.size(); at += step) {
    const volatile std::byte* first = &touched[at];
    static_cast<void>(*first);
  }
}

void MappedWeights::drop(Interval<Bytes> range) const {
  const std::span<const std::byte> dropped = pages(range);
  if (dropped.empty()) return;
  advise(dropped, MADV_DONTNEED);
  file_.forget(dropped.data() - bytes_.data(), std::ssize(dropped));
}

Bytes MappedWeights::resident(Interval<Bytes> range) const {
  const std::span<const std::byte> asked = pages(range);
  if (asked.empty()) return {};
  const size_t count = asked.size() / static_cast<size_t>(page_size().count());
  if (::mincore(const_cast<std::byte*>(asked.data()), asked.size(), answer_.data()) != 0) {
    fail(errno, "cannot ask which pages of the scratch file are resident");
  }
  const auto there =
      std::accumulate(answer_.begin(), answer_.begin() + static_cast<std::ptrdiff_t>(count),
                      int64_t{0}, [](int64_t sum, unsigned char page) { return sum + (page & 1); });
  return page_size() * there;
}

void MappedWeights::wait_for(Interval<Bytes> range) const {
  using Clock = std::chrono::steady_clock;
  const Bytes wanted = Bytes::of(std::ssize(pages(range)));
  const Clock::time_point last = Clock::now() + std::chrono::seconds(1);
  while (resident(range) < wanted && Clock::now() < last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace tidemark

#include "sim/replay/resident.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <numeric>
#include <system_error>

#include "sim/replay/memory_group.h"
#include "sim/replay/system_text.h"

namespace tidemark {
namespace {

constexpr size_t kFirstBuffer = size_t{1} << 18;
constexpr std::string_view kRss = "Rss:";

std::optional<AddressRange> parse_range(std::string_view line) {
  AddressRange range;
  const char* end = line.data() + line.size();
  const auto lower = std::from_chars(line.data(), end, range.lower, 16);
  if (lower.ec != std::errc{} || lower.ptr == end || *lower.ptr != '-') return std::nullopt;
  const auto upper = std::from_chars(lower.ptr + 1, end, range.upper, 16);
  if (upper.ec != std::errc{}) return std::nullopt;
  return range;
}

bool lies_in_one_of(const AddressRange& inner, std::span<const AddressRange> ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const AddressRange& outer) {
    return outer.lower <= inner.lower && inner.upper <= outer.upper;
  });
}

}  // namespace

Bytes resident_in_smaps(std::string_view smaps, std::span<const AddressRange> ranges) {
  Bytes sum;
  bool counts = false;
  while (!smaps.empty()) {
    const size_t end = std::min(smaps.find('\n'), smaps.size());
    const std::string_view line = smaps.substr(0, end);
    smaps.remove_prefix(std::min(end + 1, smaps.size()));
    // A mapping's first line begins with its address in lower case, the names of its fields in
    // upper case.
    const bool is_field = !line.empty() && line.front() >= 'A' && line.front() <= 'Z';
    if (!is_field) {
      const std::optional<AddressRange> range = parse_range(line);
      counts = range && lies_in_one_of(*range, ranges);
    } else if (counts && line.starts_with(kRss)) {
      sum += kib_in(line.substr(kRss.size())).value_or(Bytes{});
    }
  }
  return sum;
}

ResidentReader::ResidentReader() : file_(::open("/proc/self/smaps", O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot open /proc/self/smaps");
  }
  text_.resize(kFirstBuffer);
}

ResidentReader::~ResidentReader() { ::close(file_); }

std::optional<Bytes> resident_by_mincore(std::span<const AddressRange> ranges,
                                         std::vector<unsigned char>& answer) {
  const auto page = static_cast<uintptr_t>(page_size().count());
  int64_t pages = 0;
  for (const AddressRange& range : ranges) {
    const uintptr_t size = range.upper - range.lower;
    if (size == 0) continue;
    answer.resize(std::max<size_t>(answer.size(), size / page + 1));
    if (::mincore(reinterpret_cast<void*>(range.lower), size, answer.data()) != 0) {
      return std::nullopt;
    }
    const auto end = answer.begin() + static_cast<std::ptrdiff_t>(size / page);
    pages += std::accumulate(answer.begin(), end, int64_t{0},
                             [](int64_t sum, unsigned char byte) { return sum + (byte & 1); });
  }
  return page_size() * pages;
}

Bytes ResidentReader::resident(std::span<const AddressRange> ranges) {
  if (std::equal(ranges.begin(), ranges.end(), last_.begin(), last_.end())) {
    if (const auto bytes = resident_by_mincore(ranges, answer_)) return *bytes;
  }
  last_.assign(ranges.begin(), ranges.end());
  return rss(ranges);
}

Bytes ResidentReader::rss(std::span<const AddressRange> ranges) {
  size_t length = 0;
  while (true) {
    if (length == text_.size()) text_.resize(2 * text_.size());
    const ssize_t got =
        ::pread(file_, text_.data() + length, text_.size() - length, static_cast<off_t>(length));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category(), "cannot read smaps");
    if (got == 0) break;
    length += static_cast<size_t>(got);
  }
  return resident_in_smaps(std::string_view(text_).substr(0, length), ranges);
}

bool reset_process_peak() {
  const int file = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = ::write(file, "5", 1) == 1;
  ::close(file);
  return written;
}

std::optional<Bytes> process_peak() {
  return kib_after(system_text("/proc/self/status"), "VmHWM:");
}

std::optional<Bytes> available_memory() {
  const auto of_machine = kib_after(system_text("/proc/meminfo"), "MemAvailable:");
  const auto of_groups = room_in_groups();
  if (!of_machine || !of_groups) return of_machine ? of_machine : of_groups;
  return std::min(*of_machine, *of_groups);
}

void take_and_give_back(Bytes size, const std::atomic<bool>* stop) {
  using literals::operator""_MiB;
  Bytes left = std::min(size, available_memory().value_or(size) / 4 * 3);
  std::vector<Mapping> taken;  // all at once, or the second would be the first
  while (left > Bytes{} && !(stop != nullptr && stop->load())) {
    const Bytes piece = std::min(left, 256_MiB);
    taken.emplace_back(piece, Fault::kNow);
    left -= piece;
  }
}

}  // namespace tidemark
